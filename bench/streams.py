"""Read and write a million rollouts of about 1 KB: clawctl's streams against jq and against the JSON loader of `datasets`.

clawctl checks every row against the record's type on the way; the other two only parse. Peak memory is that of the process.

    python bench/streams.py [ROWS]
"""

from __future__ import annotations

import filecmp
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from measuring.cost import cost
from measuring.rollouts import make

OURS = """
import sys
from clawctl.records.streams import Reader, Writer
with Writer(sys.argv[2]) as out:
    out.write_all(Reader([sys.argv[1]], "rollout"))
"""
DATASETS = """
import sys
from datasets import load_dataset
load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=sys.argv[3]).to_json(sys.argv[2])
"""


def main() -> None:
    """Print a line a contender, and the ratios."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given, made = folder / "in.jsonl", folder / "out.jsonl"
        print(f"{rows} rollouts of {make(given, rows):.0f} bytes")
        ours = cost([sys.executable, "-c", OURS, str(given), str(made)])
        if not filecmp.cmp(given, made, shallow=False):
            raise SystemExit("what was read is not what was written")
        print(f"clawctl   {ours}")
        peers = {}
        if shutil.which("jq"):
            peers["jq"] = cost(["jq", "-c", ".", str(given)], made)
        if importlib.util.find_spec("datasets"):
            peers["datasets"] = cost([sys.executable, "-c", DATASETS, str(given), str(made), str(folder / "cache")])
        for peer, spent in peers.items():
            print(f"{peer:9} {spent}    clawctl to {peer}: {ours.against(spent)}")


if __name__ == "__main__":
    main()
