"""The pending rows of a workspace, one transaction a chunk: a row is in whole or not at all, and in only once.

A row is kept as the line it came in, so keys that clawctl does not know survive. Ids stay for ever, without their line once it
has left. What the ledger says was taken counts as in, even with a new file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from clawctl.buffering import batches
from clawctl.buffering.arrivals import Arrival, Group
from clawctl.buffering.database import Database
from clawctl.buffering.lineage import Policy
from clawctl.workspace.ledger import Ledger
from clawctl.workspace.paths import Workspace

GONE = "select g from groups where closed = ?"  # by a batch


class Store(Database):
    """Rows come in here; verdicts.py says which groups can go, taking.py lets them."""

    def add(self, arrivals: Iterable[Arrival], refused: Counter[str]) -> Counter[str]:
        """Let rows in; how many were "kept", and how many not, by reason. `refused` by the rules before is put on record with them.

        "duplicate": the id was here before, waiting or taken. "late": its group has left. "mixed": its group is another policy's.
        """
        counts = Counter(refused)
        touched: dict[str, Group] = {}
        policies: dict[Policy, int] = {}
        with self.transaction():
            for row in arrivals:
                if row.policy not in policies:
                    policies[row.policy] = self.policy(row.policy)
                counts[self._admit(row, policies[row.policy], touched)] += 1
            self._write(touched.values())
            self.count({reason: n for reason, n in counts.items() if reason != "kept"})
        return counts

    def count(self, rows: dict[str, int], groups: dict[str, int] | None = None) -> None:
        """Add to what was dropped, by reason. Inside a transaction."""
        sql = """insert into dropped values (?, ?, ?) on conflict (reason)
                 do update set rows = rows + excluded.rows, groups = groups + excluded.groups"""
        self.db.executemany(sql, [(reason, n, (groups or {}).get(reason, 0)) for reason, n in rows.items()])

    def forget(self, groups: str, argument: str) -> None:
        """Let go of the lines of the groups that the query `groups` of one argument names; the ids stay. Inside a transaction."""
        self.db.execute(f"update rows set line = null where g in ({groups})", (argument,))
        self.db.execute(f"delete from spreads where g in ({groups})", (argument,))

    def _admit(self, row: Arrival, policy: int, touched: dict[str, Group]) -> str:
        group = touched.get(row.group) or self._group(row.group)
        fits = group is not None and group.closed is None and group.policy == policy
        if not fits and self.db.execute("select 1 from rows where id = ?", (row.id,)).fetchone():
            return "duplicate"
        if group is None:
            sql = "insert into groups (name, policy, oldest) values (?, ?, ?)"
            group = Group(self.db.execute(sql, (row.group, policy, row.sampled_at)).lastrowid or 0, policy, None)
        touched[row.group] = group
        if group.closed is not None:
            return "late"
        if group.policy != policy:
            return "mixed"
        sql = "insert or ignore into rows (id, g, sample, line) values (?, ?, ?, ?)"
        if not self.db.execute(sql, (row.id, group.g, row.sample, row.line)).rowcount:
            return "duplicate"
        group.admit(row)
        return "kept"

    def _group(self, name: str) -> Group | None:
        found = self.db.execute("select g, policy, closed from groups where name = ?", (name,)).fetchone()
        return Group(*found) if found else None

    def policy(self, key: Policy) -> int:
        """The number of a policy. Inside a transaction."""
        text = msgspec.json.encode(key).decode()
        self.db.execute("insert or ignore into policies (key, base) values (?, ?)", (text, key[0]))
        return int(self.db.execute("select policy from policies where key = ?", (text,)).fetchone()[0])

    def _write(self, groups: Iterable[Group]) -> None:
        changed = [group for group in groups if group.members]
        sql = "update groups set members = members + ?, oldest = min(oldest, ?) where g = ?"
        self.db.executemany(sql, [(group.members, group.oldest, group.g) for group in changed])
        sql = """insert into spreads values (?, ?, ?, ?) on conflict (g, metric)
                 do update set low = min(low, excluded.low), high = max(high, excluded.high)"""
        self.db.executemany(sql, [(group.g, metric, *spread) for group in changed for metric, spread in group.spreads.items()])


def open_store(ws: Workspace, *, dry_run: bool = False) -> Store:
    """The workspace's store, which knows all that its ledger says was taken.

    dry_run: a throw-away one that knows as much, but not the lines: to see what adding and taking would do.
    """
    if dry_run:
        store = Store(None)
        if file_of(ws).exists():
            _copy(file_of(ws), store)
    else:
        ws.buffer.mkdir(parents=True, exist_ok=True)
        store = Store(file_of(ws))
    _learn(store, batches.ledger(ws))
    return store


def open_to_read(ws: Workspace) -> Store:
    """As `open_store`, but nothing is made where there is no buffer yet."""
    return open_store(ws, dry_run=not file_of(ws).exists())


def file_of(ws: Workspace) -> Path:
    """Where the pending rows are."""
    return ws.buffer / "pending.sqlite"


def _copy(path: Path, store: Store) -> None:
    """Bring over everything but the lines."""
    store.db.execute("attach ? as real", (str(path),))
    for table in ("policies", "groups", "spreads", "dropped", "batches", "facts"):
        store.db.execute(f"insert into main.{table} select * from real.{table}")
    store.db.execute("insert into main.rows select n, id, g, sample, null from real.rows")
    store.db.execute("detach real")


def _learn(store: Store, ledger: Ledger) -> None:
    """Take over what the ledger knows and the store does not: the store was removed, or put back from an older copy."""
    size = ledger.path.stat().st_size if ledger.path.exists() else 0
    if store.db.execute("select value from facts where key = 'ledger'").fetchone() == (size,):
        return
    known = {batch for (batch,) in store.db.execute("select batch from batches")}
    with store.transaction():
        for entry in ledger:
            if entry.get("kind") == batches.TAKEN and entry["batch"] not in known:
                _close(store, entry)
        store.db.execute("insert or replace into facts values ('ledger', ?)", (size,))


def _close(store: Store, entry: dict[str, Any]) -> None:
    """Mark the ids and groups of a taken batch as gone."""
    batch = entry["batch"]
    policy = store.policy((None, None, None))
    store.db.execute("insert into batches values (?, ?, 1)", (batch, entry["created"]))
    closed = [(name, policy, batch) for name in entry["groups"]]
    sql = "insert into groups (name, policy, oldest, closed) values (?, ?, 0, ?) on conflict (name) do update set closed = excluded.closed"
    store.db.executemany(sql, closed)
    store.db.executemany("insert or ignore into rows (id, g) values (?, 0)", ((row_id,) for row_id in entry["ids"]))
    store.forget(GONE, batch)
