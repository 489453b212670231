"""What a command costs: wall time, CPU time and peak memory of one child process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds and MiB."""

    wall: float
    cpu: float
    peak: float

    def against(self, peer: Cost) -> str:
        """The ratios to a peer: below 1 is quicker, smaller."""
        return f"wall {self.wall / peer.wall:.2f}, CPU {self.cpu / peer.cpu:.2f}, peak {self.peak / peer.peak:.2f}"

    def __str__(self) -> str:
        return f"{self.wall:7.1f} s wall {self.cpu:7.1f} s CPU {self.peak:7.0f} MiB peak"


def cost(command: list[str], output: Path | None = None, cwd: Path | None = None) -> Cost:
    """Run it to its end, stdout to `output` or away; stops the bench when it fails."""
    start = time.perf_counter()
    with open(output or os.devnull, "wb") as stdout:
        process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, cwd=cwd)
        said = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{command[:4]} failed:\n{said.decode(errors='replace')[-2000:]}")
    unit = 1024 if sys.platform == "linux" else 1024**2
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)
