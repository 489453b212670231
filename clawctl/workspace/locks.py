"""One at a time: `flock` on an open file. The kernel releases it when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from clawctl.errors import Busy
from clawctl.workspace.atomic import alive


@contextlib.contextmanager
def lock(path: Path, *, wait: float | None = None) -> Iterator[None]:
    """Hold an exclusive lock on `path` (made when absent) for the block.

    wait: seconds to wait for it; None waits for ever (short critical sections). Raises Busy, naming the holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+") as file:
        _acquire(file.fileno(), path, wait)
        # The holder's name is for the message only; the lock itself is the kernel's.
        file.truncate(0)
        file.write(f"{os.getpid()} {' '.join(sys.argv)[:200]}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def holder(path: Path) -> str | None:
    """Who holds the lock, as "PID command", or None. Only looks: taking the lock to find out would turn away who comes then."""
    try:
        said = path.read_text().strip()
    except FileNotFoundError:
        return None
    pid = said.partition(" ")[0]
    return said if pid.isdigit() and alive(int(pid)) else None


def _acquire(descriptor: int, path: Path, wait: float | None) -> None:
    if wait is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = path.read_text().strip() or "another process"
                raise Busy(f"{path.name.removesuffix('.lock')} is busy: {holder}", "try later, or --wait SECONDS") from None
            time.sleep(0.05)
