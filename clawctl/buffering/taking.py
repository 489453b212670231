"""Take a batch: the oldest usable groups leave the buffer for good.

What is taken is first written down in the store, in one transaction; the batch file (complete or absent) and the ledger's entry follow
from that. A take that was killed on the way is finished by the next, which then gives that batch: nothing is lost, nothing goes
out twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from clawctl.buffering import batches
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.rules import Rules
from clawctl.buffering.store import GONE, Store
from clawctl.buffering.verdicts import DROPPED, SQL, choose, tallies, terms
from clawctl.records.ids import now
from clawctl.workspace.atomic import publish, sweep, temporary_name
from clawctl.workspace.events import emit
from clawctl.workspace.locks import lock
from clawctl.workspace.paths import Workspace


class Batch(NamedTuple):
    """A batch that was taken."""

    name: str
    path: Path
    groups: int
    rows: int

    def row(self) -> dict[str, Any]:
        """For --json."""
        return {**self._asdict(), "path": str(self.path)}


def take(ws: Workspace, store: Store, rules: Rules, *, partial: bool = False, dry_run: bool = False) -> Batch | None:
    """The next batch of whole groups, or None when there are not enough; then nothing has changed.

    partial: fewer than `batch_size` groups will do, if there is one. dry_run: with a throw-away store, what would be taken.
    """
    if dry_run:
        return _written_down(ws, store) if _decide(ws, store, rules, partial) else None
    with lock(ws.buffer / ".take.lock"):
        finished = finish(ws, store)
        if finished is None and _decide(ws, store, rules, partial):
            finished = finish(ws, store)
        return finished


def finish(ws: Workspace, store: Store) -> Batch | None:
    """Carry out the take that is written down in the store and not settled, if there is one."""
    batch = _written_down(ws, store)
    if batch is None:
        return None
    if not batch.path.exists():
        _write(store, batch)
    ledger = batches.ledger(ws)
    if not any(entry.get("kind") == batches.TAKEN and entry["batch"] == batch.name for entry in ledger):
        ledger.append(_entry(store, batch.name))
        emit(ws, "training.rollouts", {"batch": batch.name, "groups": batch.groups, "rows": batch.rows})
    with store.transaction():
        store.forget(GONE, batch.name)
        store.db.execute("update batches set settled = 1 where batch = ?", (batch.name,))
    return batch


def _written_down(ws: Workspace, store: Store) -> Batch | None:
    found = store.db.execute("select batch from batches where not settled").fetchone()
    if found is None:
        return None
    groups, rows = store.db.execute("select count(*), sum(members) from groups where closed = ?", found).fetchone()
    return Batch(found[0], batches.path_of(ws, found[0]), groups, rows)


def _entry(store: Store, name: str) -> dict[str, Any]:
    """The ledger's entry of a batch."""
    created = store.db.execute("select created from batches where batch = ?", (name,)).fetchone()[0]
    groups = [group for (group,) in store.db.execute("select name from groups where closed = ? order by g", (name,))]
    ids = "select id from rows join groups using (g) where closed = ? order by g, sample, n"
    listed = [row_id for (row_id,) in store.db.execute(ids, (name,))]
    return {"kind": batches.TAKEN, "batch": name, "groups": groups, "ids": listed, "created": created}


def _decide(ws: Workspace, store: Store, rules: Rules, partial: bool) -> bool:
    """Write down which groups make the batch and which are dropped; False, and nothing is changed, if there are not enough."""
    asked = terms(store, rules, Lineage(ws))
    with store.transaction():
        chosen = choose(tallies(store, asked), rules, partial)
        if chosen is None:
            return False
        name = batches.next_name(ws, [batch for (batch,) in store.db.execute("select batch from batches")])
        store.db.execute(f"create temp table verdicts as {SQL}", asked)
        going = "select g from verdicts where verdict = 'usable' and base is ? order by g limit ?"
        store.db.execute(f"update groups set closed = ? where g in ({going})", (name, chosen.base, rules.batch_size))
        store.db.execute("insert into batches values (?, ?, 0)", (name, now()))
        for reason in DROPPED:
            _drop(store, reason)
        store.db.execute("drop table verdicts")
    return True


def _drop(store: Store, reason: str) -> None:
    groups, rows = store.db.execute("select count(*), sum(members) from verdicts where verdict = ?", (reason,)).fetchone()
    if groups:
        named = "select g from verdicts where verdict = ?"
        store.db.execute(f"update groups set closed = ? where g in ({named})", (reason, reason))
        store.forget(named, reason)
        store.count({reason: rows}, {reason: groups})


def _write(store: Store, batch: Batch) -> None:
    """The rows of whole groups, in group order, sample by sample."""
    batch.path.parent.mkdir(parents=True, exist_ok=True)
    sweep(batch.path.parent)
    temporary = temporary_name(batch.path)
    groups = [g for (g,) in store.db.execute("select g from groups where closed = ? order by g", (batch.name,))]
    with open(temporary, "wb") as file:
        for g in groups:
            for (line,) in store.db.execute("select line from rows where g = ? order by sample, n", (g,)):
                file.write(line + b"\n")
    publish(temporary, batch.path)
