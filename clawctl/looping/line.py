"""The line: which adapter the next round samples from and trains on.

One round's gain is often too small to prove, so a candidate that the gate refused as unproven is still the one to go on from; the
gate serves its descendant once the gain is measurable. A candidate that is measurably worse, or that someone rolled back, ends its
line: the next round starts again from what is in service.
"""

from __future__ import annotations

from clawctl.adapters import history, versions
from clawctl.adapters.versions import AdapterRef
from clawctl.workspace.paths import Workspace


def head(ws: Workspace, base_sha256: str) -> AdapterRef | None:
    """The adapter to go on from, among those of this base model; None is the bare base model."""
    ours = [ref for ref in versions.listing(ws) if ref.base_sha256 == base_sha256]
    current = versions.resolve(ws, versions.CURRENT)
    if current and current.base_sha256 != base_sha256:
        current = None
    if not ours:
        return current
    newest = ours[-1]
    return current if ended(history.last_word(history.ledger(ws), newest.name, newest.sha256)) else newest


def ended(word: history.Entry | None) -> bool:
    """Whether the newest entry about a version says not to go on from it."""
    if word is None:
        return False
    return word["kind"] == history.ROLLBACK or (word["kind"] == history.REFUSAL and word.get("verdict") == "worse")
