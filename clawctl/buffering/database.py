"""The file data/buffer/pending.sqlite: its tables, its transactions, its errors in plain words.

WAL mode with synchronous=FULL: what is committed survives a SIGKILL and a power cut, writers take turns, readers never wait.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from clawctl.errors import Busy, ClawctlError
from clawctl.workspace.locks import lock

VERSION = 1
WAIT = 120.0  # seconds for another writer's transaction
CACHE = 32  # MiB
SCHEMA = f"""
create table policies (policy integer primary key, key text not null unique, base text);
create table groups (g integer primary key, name text not null unique, policy integer not null, members integer not null default 0,
    oldest real not null, closed text);          -- closed: the batch that took it, or the reason that dropped it
create index open_groups on groups (g) where closed is null;
create index closed_groups on groups (closed) where closed is not null;
create table rows (n integer primary key, id text not null unique, g integer not null, sample integer, line blob);
create index members on rows (g);
create table spreads (g integer not null, metric text not null, low real not null, high real not null, primary key (g, metric))
    without rowid;
create table dropped (reason text primary key, rows integer not null, groups integer not null);
create table batches (batch text primary key, created text not null, settled integer not null);
create table facts (key text primary key, value);
pragma user_version = {VERSION};
"""


class Database:
    """A connection, closed at the end of its `with` block. `path` None is a throw-away database that is nowhere but here."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        try:
            # No transactions but ours: the commits are what makes rows durable.
            self.db = sqlite3.connect(path or "", timeout=WAIT, isolation_level=None)
            self.db.execute(f"pragma cache_size = -{CACHE * 1024}")
            self.db.execute("pragma synchronous = full")
            self._prepare()
        except sqlite3.Error as error:
            raise _plain(error, path) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self.db.close()
        if isinstance(error, sqlite3.Error):
            raise _plain(error, self.path) from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing, and durable at the end."""
        self.db.execute("begin immediate")
        try:
            yield
            self.db.execute("commit")
        except BaseException:
            self.db.execute("rollback")
            raise

    def _prepare(self) -> None:
        """Make the tables of a new file; refuse a file of another version."""
        if self.path is None:
            self.db.executescript(SCHEMA)
            return
        with lock(self.path.with_name(".pending.lock")):
            found = self.db.execute("pragma user_version").fetchone()[0]
            if found == 0:
                self.db.execute("pragma journal_mode = wal")
                self.db.executescript(f"begin immediate; {SCHEMA} commit;")
            elif found != VERSION:
                raise ClawctlError(f"{self.path} is of version {found}, not {VERSION}", "take what it holds with the clawctl that made it")


def _plain(error: sqlite3.Error, path: Path | None) -> ClawctlError:
    """SQLite's complaint in plain words."""
    if "locked" in str(error):
        return Busy(f"{path} is busy: another process writes it", "try later")
    if isinstance(error, sqlite3.OperationalError):
        return ClawctlError(f"{path}: {error}")
    return ClawctlError(f"{path}: {error}", "move it away and add the rollout files again; the ledger keeps what was taken")
