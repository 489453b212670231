"""Batches: what was taken from the buffer, what was trained on it, and what is next, by the ledger data/buffer/ledger.jsonl.

Kinds of entry: {"kind": "taken", batch, groups, ids, created}, {"kind": "trained", batch, version, created}, and {"kind": "passed over",
batch, reason, created} for a batch that taught nothing.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from clawctl.adapters import versions
from clawctl.records.ids import now
from clawctl.workspace.ledger import Ledger
from clawctl.workspace.paths import Workspace

log = logging.getLogger(__name__)
TAKEN, TRAINED, PASSED_OVER = "taken", "trained", "passed over"


def ledger(ws: Workspace) -> Ledger:
    """The ledger of a workspace's buffer."""
    return Ledger(ws.buffer / "ledger.jsonl")


def batch_id(path: str | Path) -> str:
    """The batch that a file holds, by its name: "batch-000001"."""
    return Path(path).name.partition(".")[0]


def path_of(ws: Workspace, batch: str) -> Path:
    """Where a batch is."""
    return ws.batches / f"{batch}.jsonl"


def untrained(ws: Workspace) -> list[str]:
    """The batches that were taken and not yet trained on, oldest first.

    A card that names a batch counts as much as the ledger: training may have been killed between the two.
    """
    taken: dict[str, None] = {}
    trained = {batch for ref in versions.listing(ws) for batch in ref.card.get("batches") or []}
    for entry in ledger(ws):
        if entry.get("kind") == TAKEN:
            taken[entry["batch"]] = None
        elif entry.get("kind") in (TRAINED, PASSED_OVER):
            trained.add(entry["batch"])
    return sorted((batch for batch in taken if batch not in trained), key=_number)


def next_untrained(ws: Workspace) -> Path | None:
    """The oldest batch that nothing was trained on, or None."""
    for batch in untrained(ws):
        if (path := path_of(ws, batch)).is_file():
            return path
        log.warning("%s was taken, but its file is gone: %s", batch, path)
    return None


def mark_trained(ws: Workspace, batch: str, version: str) -> None:
    """Put on record that adapter `version` was trained on this batch."""
    ledger(ws).append({"kind": TRAINED, "batch": batch, "version": version, "created": now()})


def pass_over(ws: Workspace, batch: str, reason: str) -> None:
    """Put on record that nothing can be learnt from this batch, so that it is not the next one for ever."""
    ledger(ws).append({"kind": PASSED_OVER, "batch": batch, "reason": reason, "created": now()})


def next_name(ws: Workspace, known: list[str]) -> str:
    """A name that neither the batches `known` nor a file in data/batches has."""
    names = [*known, *(path.name for path in ws.batches.glob("batch-*"))]
    return f"batch-{max(map(_number, names), default=0) + 1:06d}"


def _number(batch: str) -> int:
    found = re.match(r"batch-(\d+)", batch)
    return int(found[1]) if found else 0
