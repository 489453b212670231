"""A program run to its end or its deadline, with bytes in, bounded bytes out, and its whole process group ended afterwards."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

LOOK = 0.05  # seconds between two looks at whether it has ended
CHUNK = 65536


@dataclass(frozen=True)
class Finished:
    """How it ended: what it wrote to stdout, its exit code (minus the signal that ended it), and whether a bound ended it."""

    stdout: bytes
    returncode: int
    timed_out: bool = False
    too_much: bool = False


class Group:
    """The running programs of one judge; `close` ends them, so that nothing outlives an interrupted command."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def run(
        self,
        argv: Sequence[str],
        stdin: bytes,
        *,
        timeout: float,
        env: Mapping[str, str],
        cwd: str | Path | None = None,
        limit: int = 1 << 20,
    ) -> Finished:
        """Run `argv` in a session of its own. timeout: seconds; limit: bytes of stdout. OSError when it cannot be started."""
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
        with self._lock:
            self._running.add(process)
        try:
            stdout, timed_out = _talk(process, stdin, time.monotonic() + timeout, limit)
        finally:
            with self._lock:
                self._running.discard(process)
            _end(process)
        return Finished(stdout[:limit], process.returncode, timed_out, len(stdout) > limit)

    def close(self) -> None:
        """Kill what still runs; whoever waits for it sees it end."""
        with self._lock:
            for process in self._running:
                _kill(process)


def _talk(process: subprocess.Popen[bytes], data: bytes, deadline: float, limit: int) -> tuple[bytes, bool]:
    """Feed stdin and gather stdout until the program ends, the deadline passes or there is too much; whether the deadline passed."""
    assert process.stdin
    assert process.stdout
    got = bytearray()
    rest = memoryview(data)
    with selectors.DefaultSelector() as selector:
        for stream, event in ((process.stdin, selectors.EVENT_WRITE), (process.stdout, selectors.EVENT_READ)):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, event)
        while len(got) <= limit:
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(got), True
            ended = _has_ended(process)
            ready = selector.select(0 if ended else min(LOOK, left))
            for key, _ in ready:
                if key.fileobj is process.stdout:
                    if not _read(process.stdout, got):
                        selector.unregister(process.stdout)
                else:
                    rest = _write(process.stdin, rest)
                    if not rest:
                        selector.unregister(process.stdin)
                        with contextlib.suppress(OSError):
                            process.stdin.close()
            # What a program left in the pipe is read after its end; what its own children may write later is not waited for.
            if ended and not any(key.fileobj is process.stdout for key, _ in ready):
                break
    return bytes(got), False


def _read(stream: IO[bytes], into: bytearray) -> bool:
    """Take what is there; False at the end."""
    try:
        chunk = os.read(stream.fileno(), CHUNK)
    except BlockingIOError:
        return True
    into += chunk
    return bool(chunk)


def _write(stream: IO[bytes], rest: memoryview) -> memoryview:
    """Write what fits; what is left. Nothing is left for a program that does not read."""
    try:
        return rest[os.write(stream.fileno(), rest[:CHUNK]) :]
    except BlockingIOError:
        return rest
    except OSError:
        return rest[:0]


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended, without reaping it: until then its group's number cannot be anybody else's."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill(process)
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()
