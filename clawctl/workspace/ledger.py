"""An append-only JSONL file that survives a crash in mid-write: the torn tail is cut off before the next append."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from clawctl.errors import ClawctlError
from clawctl.workspace.atomic import sync
from clawctl.workspace.locks import lock


class Ledger:
    """Entries are appended whole, under a lock, and fsynced; reading skips a torn last line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *entries: dict[str, Any]) -> None:
        """Add entries in one write."""
        data = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        with lock(self.path.with_name(f".{self.path.name}.lock")):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                cut_torn_tail(descriptor)
                written = os.write(descriptor, data)
                while written < len(data):
                    written += os.write(descriptor, data[written:])
                os.fsync(descriptor)
                if os.fstat(descriptor).st_size == len(data):
                    sync(self.path.parent)  # the file is new: its name must last too
            finally:
                os.close(descriptor)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The entries, oldest first; ClawctlError for a whole line that is none, since to pass over it would be to forget."""
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n") and line.strip():
                    yield self._entry(line, number)

    def _entry(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise ClawctlError(f"{self.path}:{number}: {error}", "mend or remove that line") from None
        if not isinstance(entry, dict):
            raise ClawctlError(f"{self.path}:{number}: not a JSON object", "mend or remove that line")
        return entry


def cut_torn_tail(descriptor: int) -> None:
    """Truncate after the last newline: what follows it was never acknowledged."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - 65536)
        block = os.pread(descriptor, end - start, start)
        at = block.rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
