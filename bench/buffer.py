"""A million pending rollouts of about 1 KB: what it costs to add them, to look, and to take a batch. Fails above 300 MiB peak.

Peers: sqlite-utils, which also loads JSON lines into SQLite by a key, for adding; jq, sort and uniq over the file, as one would
count complete groups without a buffer, for looking.

    python bench/buffer.py [ROWS]
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from measuring.cost import Cost, cost
from measuring.rollouts import make

LIMIT = 300  # MiB
BUFFER = [sys.executable, "-m", "clawctl", "buffer"]
COMPLETE = "jq -r .group_id \"$0\" | sort | uniq -c | awk '$1 >= 8' | wc -l"


def main() -> None:
    """Print a line a step, and the ratios where there is a peer."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "clawctl.toml").touch()
        given = folder / "in.jsonl"
        print(f"{rows} rollouts of {make(given, rows):.0f} bytes")
        ours = {step: step_cost(step, arguments, folder) for step, arguments in steps(given).items()}
        if importlib.util.find_spec("sqlite_utils"):
            load = ["insert", str(folder / "peer.db"), "rollouts", str(given), "--nl", "--pk", "id"]
            told("sqlite-utils insert", cost([sys.executable, "-m", "sqlite_utils", *load]), ours["add"])
        if shutil.which("jq"):
            told("jq | sort | uniq -c", cost(["bash", "-c", COMPLETE, str(given)]), ours["look"])
    peak = max(spent.peak for spent in ours.values())
    if peak > LIMIT:
        raise SystemExit(f"{peak:.0f} MiB, over {LIMIT}")


def steps(given: Path) -> dict[str, list[str]]:
    """The life of a buffer."""
    return {
        "add": [str(given)],
        "look": ["--status"],
        "look, filtered": ["--status", "--filter", "dynamic"],
        "take": ["--take"],
        "take, filtered": ["--take", "--filter", "dynamic"],
        "add the same again": [str(given)],
        "take all the rest": ["--take", "--partial", "--batch-size", "1000000"],
    }


def step_cost(step: str, arguments: list[str], folder: Path) -> Cost:
    """One call of the command, told."""
    spent = cost([*BUFFER, *arguments], cwd=folder)
    print(f"{step:20} {spent}", flush=True)
    return spent


def told(peer: str, spent: Cost, ours: Cost) -> None:
    """A peer's line."""
    print(f"{peer:20} {spent}    clawctl to it: {ours.against(spent)}", flush=True)


if __name__ == "__main__":
    main()
