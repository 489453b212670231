"""No batch is trained on twice: what the cards and the ledger say, and the ledger mended by the cards."""

from __future__ import annotations

from clawctl.adapters import versions
from clawctl.adapters.versions import AdapterRef
from clawctl.buffering import batches as shelf
from clawctl.errors import Usage
from clawctl.workspace.paths import Workspace


def already(ws: Workspace, batches: list[str]) -> AdapterRef | None:
    """The version that was trained on these batches of the workspace; the ledger is mended where it does not say so."""
    if not batches:
        return None
    for ref in versions.listing(ws):
        named = set(ref.card.get("batches") or [])
        if named.issuperset(batches):
            mark(ws, batches, ref.name)
            return ref
        if both := named.intersection(batches):
            raise Usage(f"{min(both)} was trained on for {ref.name} already", "name only batches that are new")
    done = {entry["batch"]: entry["version"] for entry in shelf.ledger(ws) if entry.get("kind") == shelf.TRAINED}
    if gone := [batch for batch in batches if batch in done]:
        raise Usage(f"{gone[0]} was trained on for {done[gone[0]]}, which is gone", "copy the batch to another name to train on it again")
    return None


def mark(ws: Workspace, batches: list[str], version: str) -> None:
    """Put the batches on record as trained, once."""
    known = {entry["batch"] for entry in shelf.ledger(ws) if entry.get("kind") == shelf.TRAINED}
    for batch in batches:
        if batch not in known:
            shelf.mark_trained(ws, batch, version)
