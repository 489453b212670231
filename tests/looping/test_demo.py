"""The whole loop on the real model, small: killed on the way, finished by the same command, then gone on with as a shell pipeline."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from clawctl.adapters import history, versions
from clawctl.buffering import batches
from clawctl.looping.rounds import timings
from clawctl.looping.state import load
from clawctl.workspace.bundled import bundled
from clawctl.workspace.ledger import Ledger
from clawctl.workspace.paths import Workspace

pytestmark = pytest.mark.slow
KEPT = {"train": 12, "heldout": 12, "warmup": 24}
LOOP_SH = Path(__file__).parents[2] / "examples" / "loop.sh"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a few of the bundled tasks in it, which `demo` leaves as they are."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    (folder / "data" / "tasks").mkdir(parents=True)
    for name, count in KEPT.items():
        lines = (bundled("tasks") / f"{name}.jsonl").read_text().splitlines(keepends=True)
        (folder / "data" / "tasks" / f"{name}.jsonl").write_text("".join(random.Random(0).sample(lines, count)))
    return folder


def demo(place: Path) -> list[str]:
    return [sys.executable, "-m", "clawctl", "demo", str(place), "--rounds", "2", "--groups", "4", "--samples", "4"]


@pytest.fixture(scope="module")
def finished(place) -> subprocess.CompletedProcess[str]:
    """The demonstration, killed in the warm-up, before the gate, and in three stages of the rounds, then let go."""
    random_ = random.Random(3)
    ws = Workspace(place)
    for stages_done in (2, 3, 5, 8, 12):
        process = subprocess.Popen(demo(place), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list(timings(ws))) < stages_done:
            time.sleep(0.05)
        time.sleep(random_.uniform(0, 3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        name = versions.current_name(ws)
        assert name is None or (ws.adapters / name / "card.json").is_file()
    return subprocess.run(demo(place), capture_output=True, text=True)


def test_it_ends_with_a_table_and_what_to_type_next(place, finished):
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    for name in ("base model", "warm-up", "round 1", "round 2"):
        assert any(line.startswith(name) for line in lines), finished.stdout
    assert "clawctl loop --rounds 3" in finished.stdout
    assert len(finished.stderr.splitlines()) < 60


def test_every_stage_of_every_round_was_finished(place, finished):
    ws = Workspace(place)
    assert load(ws).round == 2
    assert load(ws).finished
    done = {(entry["round"], entry["stage"]) for entry in timings(ws)}
    assert {(0, "train"), (0, "promote")} < done
    assert {(r, stage) for r in (1, 2) for stage in ("plan", "generate", "judge", "buffer", "train", "promote")} < done


def test_nothing_is_lost_and_nothing_trained_twice(place, finished):
    ws = Workspace(place)
    for round_ in (1, 2):
        rows = [json.loads(line) for line in (ws.data / "rollouts" / f"round-{round_:03d}.scored.jsonl").open()]
        assert len(rows) == len({row["id"] for row in rows}) == 16
        assert len({(row["group_id"], row["sample"]) for row in rows}) == 16
    trained = Counter(batch for ref in versions.listing(ws) for batch in ref.card["batches"])
    assert all(count == 1 for count in trained.values())
    taken = [entry for entry in Ledger(ws.buffer / "ledger.jsonl") if entry["kind"] == "taken"]
    ids = Counter(row_id for entry in taken for row_id in entry["ids"])
    assert all(count == 1 for count in ids.values())
    assert batches.untrained(ws) == []
    assert versions.listing(ws)[0].card["algorithm"] == "sft"
    assert sum(ref.card["algorithm"] == "sft" for ref in versions.listing(ws)) == 1


def test_what_is_in_service_is_what_the_history_says(place, finished):
    ws = Workspace(place)
    assert history.served(history.ledger(ws))[-1] == versions.current_name(ws)
    judged = {entry["version"] for entry in history.ledger(ws)}
    assert {ref.name for ref in versions.listing(ws)} == judged


def test_a_round_as_a_shell_pipeline_goes_on_from_there(place, finished):
    ws = Workspace(place)
    before = versions.next_version(ws)
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(place), "PER_ROUND": "4", "SAMPLES": "4"}
    done = subprocess.run(["bash", str(LOOP_SH)], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert batches.untrained(ws) == []
    if "groups, " in done.stderr and "not ready" not in done.stderr:
        assert versions.resolve(ws, before).card["parent"] is not None
