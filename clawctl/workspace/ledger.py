"""An append-only JSONL file that survives a crash in mid-write: the torn tail is cut off before the next append."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

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
                _cut_torn_tail(descriptor)
                written = os.write(descriptor, data)
                while written < len(data):
                    written += os.write(descriptor, data[written:])
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            for line in file:
                if line.endswith(b"\n") and line.strip():
                    yield msgspec.json.decode(line)


def _cut_torn_tail(descriptor: int) -> None:
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
