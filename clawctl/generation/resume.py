"""OUT.part: rows are kept as they come, so that a run that was killed goes on where it was.

A row is in the file once it is followed by a newline and synced; what a kill left torn behind the last newline is cut off and owed
again. At the end the file becomes OUT. Rows of another policy, another sampling or another seed are refused: a group must be
comparable.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from clawctl.engines.protocol import SamplingParams
from clawctl.errors import Busy, Usage
from clawctl.generation.prompts import messages_for
from clawctl.generation.stage import sampling_of
from clawctl.records.ids import derive_seed
from clawctl.records.rollout import Policy
from clawctl.records.streams import Reader, Writer, encode_row
from clawctl.workspace.atomic import publish
from clawctl.workspace.ledger import cut_torn_tail

log = logging.getLogger(__name__)
Row = dict[str, Any]


@dataclass
class Settings:
    """What rows that belong together have in common."""

    policy: Policy
    params: SamplingParams
    seed: int
    round_: int
    system: str | None

    def differences(self, row: Row) -> list[str]:
        """The keys in which a row was made otherwise."""
        found = [f"policy.{key}" for key, value in self.policy.items() if (row.get("policy") or {}).get(key) != value]
        sampling = row.get("sampling") or {}
        seed = derive_seed(self.seed, row["task_id"], self.round_, row.get("sample", 0))
        found += [
            f"sampling.{key}" for key, value in sampling_of(self.params, seed).items() if sampling.get(key) != value and key != "seed"
        ]
        if sampling.get("seed") != seed:
            found.append("seed or round")
        if row.get("task") and messages_for(row["task"], self.system) != row.get("messages"):
            found.append("system")
        return found


@dataclass
class Part:
    """The file OUT.part of one output, locked while it is open. `owed` says what it does not hold yet."""

    output: Path
    settings: Settings
    kept: dict[str, set[int]] = field(default_factory=dict)  # group id -> samples
    rows: int = 0

    @property
    def path(self) -> Path:
        return self.output.with_name(self.output.name + ".part")

    def __enter__(self) -> Self:
        self.file = _locked(self.path)
        try:
            cut_torn_tail(self.file.fileno())
            self._keep([self.path])
            if self.output.exists():
                self.file.write(b"".join(map(encode_row, self._keep([self.output]))))
                os.fsync(self.file.fileno())
        except BaseException:
            self._leave()
            raise
        if self.rows:
            log.info("%d rows are there already", self.rows)
        return self

    def owed(self, group: str, samples: int) -> list[int]:
        """The samples of a group that are not in the file."""
        return [sample for sample in range(samples) if sample not in self.kept.get(group, ())]

    def write(self, row: Row) -> None:
        """Keep one row."""
        self.file.write(encode_row(row))
        os.fsync(self.file.fileno())

    def write_all(self, rows: Iterable[Row]) -> None:
        """Keep every row of the stream."""
        for row in rows:
            self.write(row)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                publish(self.path, self.output)
        finally:
            self._leave()

    def _leave(self) -> None:
        if self.path.exists() and not self.path.stat().st_size:
            self.path.unlink()
        elif self.path.exists():
            log.warning("what is done is kept in %s; --resume goes on from there", self.path)
        self.file.close()

    def _keep(self, paths: list[Path]) -> list[Row]:
        """Count in the rows of a file; those that were not there yet."""
        new = []
        reader = Reader(paths, "rollout", on_error="stop")
        for row in reader:
            if different := self.settings.differences(row):
                raise Usage(
                    f"{reader.source}: made with another {', '.join(different)}", "give the options of that run, or write to another file"
                )
            samples = self.kept.setdefault(row["group_id"], set())
            if row.get("sample", 0) not in samples:
                samples.add(row.get("sample", 0))
                self.rows += 1
                new.append(row)
        return new


def sink(output: str | None, resumable: Settings | None) -> Part | Writer:
    """Where rows go: stdout, a file that appears whole, or with `resumable` a Part."""
    if resumable is None:
        return Writer(output)
    if output in (None, "-"):
        raise Usage("--resume needs a file to go on with", "-o FILE --resume")
    if str(output).endswith((".gz", ".zst")):
        raise Usage(f"--resume cannot go on with a packed file: {output}", "write plain JSONL, and pack it when it is whole")
    return Part(Path(str(output)), resumable)


def _locked(path: Path) -> IO[bytes]:
    """The file, made when absent, opened to append, held by us alone."""
    while True:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 (held until the run ends)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise Busy(f"{path} is being written by another process", "wait for it, or write to another file") from None
        # Between open and lock another process may have finished and renamed it.
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()
