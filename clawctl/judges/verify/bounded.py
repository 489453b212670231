"""Kinds that may take for ever (a pattern, a schema, algebra), run in a child that is killed in time and started anew."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.mark import Mark, Spec

LOADING = 120.0  # seconds for the libraries of a kind to load, on a busy machine
START = "from clawctl.judges.verify.worker import main; main()"


class Workers:
    """One child for each thread that judges, started when first needed."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._all: set[_Worker] = set()
        self._lock = threading.Lock()

    def mark(self, kind: str, spec: Spec, text: str, timeout: float) -> Mark:
        """What `kind` says, in `timeout` seconds at most. Unscorable when it says nothing by then."""
        worker: _Worker | None = getattr(self._mine, "worker", None)
        if worker is None or not worker.alive():
            worker = self._mine.worker = _Worker()
            with self._lock:
                self._all.add(worker)
        try:
            return worker.ask(kind, spec, text, timeout)
        except Unscorable:
            if not worker.alive():
                with self._lock:
                    self._all.discard(worker)
            raise

    def close(self) -> None:
        """End every child."""
        with self._lock:
            for worker in self._all:
                worker.kill()
            self._all.clear()


class _Worker:
    def __init__(self) -> None:
        # Wherever this package was found, the child finds it too.
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, start_new_session=True
        )

    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def ask(self, kind: str, spec: Spec, text: str, timeout: float) -> Mark:
        request = {"kind": kind, "spec": dict(spec), "text": text, "seconds": timeout}
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._line(LOADING)
            if line == b"\n":
                line = self._line(timeout)
            said = json.loads(line)
        except TimeoutError:
            self.kill()
            raise Unscorable("timeout", f"kind {kind}: no end after {timeout:g} s") from None
        except (OSError, ValueError):
            self.kill()
            raise Unscorable("failed", f"kind {kind}: the worker ended") from None
        except BaseException:
            self.kill()  # or its late reply would be taken for that to the next question
            raise
        if "error" in said:
            raise Unscorable(*said["error"])
        return Mark(said["value"], said["note"])

    def _line(self, timeout: float) -> bytes:
        """The next line from the child; TimeoutError when it does not come in time."""
        assert self._process.stdout
        descriptor = self._process.stdout.fileno()
        deadline = time.monotonic() + timeout
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            # Byte by byte: a read must not take the line after this one with it, and lines are short.
            byte = os.read(descriptor, 1)
            if not byte:
                raise OSError("end of file")
            line += byte
        return line
