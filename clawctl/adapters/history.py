"""data/adapters/history.jsonl: every promotion, refusal and rollback, with the figures it was decided on.

Kinds: promotion, refusal, rollback, and found (the link stood elsewhere than the history says: a promotion was cut short between
its entry and the link, or someone moved the link by hand). The link is the truth; `found` brings the history back to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clawctl.records.ids import now
from clawctl.workspace.ledger import Ledger
from clawctl.workspace.paths import Workspace

Entry = dict[str, Any]
PROMOTION, REFUSAL, ROLLBACK, FOUND = "promotion", "refusal", "rollback", "found"
SERVING = {PROMOTION, ROLLBACK, FOUND}  # kinds whose `version` is in service afterwards; null is the base model


def ledger(ws: Workspace) -> Ledger:
    """The history's file."""
    return Ledger(ws.adapters / "history.jsonl")


def record(ws: Workspace, kind: str, version: str | None, **figures: Any) -> Entry:
    """Append one entry and give it back."""
    ws.adapters.mkdir(parents=True, exist_ok=True)
    entry = {"kind": kind, "version": version, **figures, "created": now()}
    ledger(ws).append(entry)
    return entry


def served(entries: Iterable[Entry]) -> list[str | None]:
    """The versions that stand behind one another, the one in service last; starts with None, the base model.

    A promotion puts its version on top. A rollback takes off what is above its version, so that a second rollback goes
    further back instead of forth again.
    """
    stack: list[str | None] = [None]
    for entry in entries:
        version = entry["version"]
        if entry["kind"] not in SERVING:
            continue
        if entry["kind"] != PROMOTION and version in stack:
            while stack[-1] != version:
                stack.pop()
        elif stack[-1] != version:
            stack.append(version)
    return stack


def last_word(entries: Iterable[Entry], version: str, sha256: str) -> Entry | None:
    """The newest entry that judged this very adapter: its promotion, its refusal, or the rollback away from it."""
    found = None
    for entry in entries:
        subject = entry.get("previous") if entry["kind"] == ROLLBACK else entry["version"]
        digest = entry.get("previous_sha256") if entry["kind"] == ROLLBACK else entry.get("adapter_sha256")
        if subject == version and digest == sha256:
            found = entry
    return found
