"""`clawctl --help` against the help of a bare two-command Typer app, piped and on a terminal. Fails above 1.4 times its time.

Runs of the two alternate, so that what else the machine does falls on both; medians are compared. Both are started as console
scripts are: an import and a call. CPU time is the steadier figure on a busy machine, wall time is what a person waits.

    python bench/help.py [RUNS]
"""

from __future__ import annotations

import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

LIMIT = 1.4
BARE = """
import typer
app = typer.Typer()

@app.command()
def one(name: str, times: int = 1) -> None:
    "Say it."

@app.command()
def two(name: str, loud: bool = False) -> None:
    "Say it again."
"""
Cost = tuple[float, float]  # wall and CPU seconds
Start = Callable[[list[str]], None]


def main() -> None:
    """Print a line each for the pipe and the terminal; exit 1 when one is over the limit."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 41
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bare.py").write_text(BARE)
        peer = [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}); from bare import app; app()", "--help"]
        ours = [sys.executable, "-c", "from clawctl.cli import main; main()", "--help"]
        over = [where for where, start in (("pipe", piped), ("terminal", on_terminal)) if compare(where, start, ours, peer, runs) > LIMIT]
    if over:
        raise SystemExit(f"over {LIMIT} times the bare app: {', '.join(over)}")


def compare(where: str, start: Start, ours: list[str], peer: list[str], runs: int) -> float:
    """The ratio of the median wall times; both medians are printed."""
    start(ours), start(peer)
    costs = [(measured(start, ours), measured(start, peer)) for _ in range(runs)]
    (our_wall, our_cpu), (peer_wall, peer_cpu) = (
        [statistics.median(cost[which][kind] for cost in costs) for kind in (0, 1)] for which in (0, 1)
    )
    print(
        f"{where}: clawctl {our_wall * 1000:.0f} ms (CPU {our_cpu * 1000:.0f}), bare Typer {peer_wall * 1000:.0f} ms "
        f"(CPU {peer_cpu * 1000:.0f}), ratio {our_wall / peer_wall:.2f} (CPU {our_cpu / peer_cpu:.2f}), {runs} runs each"
    )
    return our_wall / peer_wall


def measured(start: Start, command: list[str]) -> Cost:
    """Wall and CPU seconds of one run."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    start(command)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def piped(command: list[str]) -> None:
    """Run with stdout in a pipe."""
    subprocess.run(command, stdout=subprocess.PIPE, check=True)


def on_terminal(command: list[str]) -> None:
    """Run with all three streams on a pseudo-terminal, read to the end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        while os.read(ours, 65536):
            pass
    except OSError:  # Linux says EIO when the other end closes
        pass
    os.close(ours)
    if process.wait() != 0:
        raise SystemExit(f"{command} failed on a terminal")


if __name__ == "__main__":
    main()
