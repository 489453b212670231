"""A line that counts, for someone who waits at a terminal; nothing in a log or a pipe."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
log = logging.getLogger("clawctl")
EVERY = 0.25  # seconds between two updates


def counted(rows: Iterable[T], total: int | None, what: str) -> Iterator[T]:
    """The rows as they are; meanwhile stderr says `what 12/128, 3.1 s`, if it is a terminal and -q was not asked for."""
    if sys.stderr is None or not sys.stderr.isatty() or not log.isEnabledFor(logging.INFO):
        yield from rows
        return
    started = shown = time.monotonic()
    of = "" if total is None else f"/{total}"
    try:
        for done, row in enumerate(rows, 1):
            if time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                print(f"\r\x1b[K{what} {done}{of}, {shown - started:.0f} s", end="", file=sys.stderr, flush=True)
            yield row
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
