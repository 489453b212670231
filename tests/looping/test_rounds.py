"""The order of the stages, and that a loop goes on where it was stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clawctl.errors import Busy
from clawctl.evaluation.exam import Exam
from clawctl.looping.recipe import Recipe
from clawctl.looping.rounds import forecast, run, timings
from clawctl.looping.state import STAGES, load
from clawctl.workspace.locks import lock
from clawctl.workspace.models import Model


@pytest.fixture
def recipe(tmp_path) -> Recipe:
    base = tmp_path / "base.gguf"
    base.write_bytes(b"weights")
    model = Model("base", "llama", base)
    return Recipe(model, [], Exam(model, []), warmup=tmp_path / "warmup.jsonl", groups=16, samples=8)


class Stopped(Exception):
    """What a kill does, as far as the next run can tell."""


def table(calls: list[str], stop_at: str | None = None):
    """Stages that write down that they ran; the one called "ROUND STAGE" stops the loop."""

    def stage(name: str):
        def work(_ws, _recipe, state):
            if f"{state.round} {name}" == stop_at:
                raise Stopped
            calls.append(f"{state.round} {name}")
            return {"said": name}

        return work

    return {name: stage(name) for name in STAGES}


ROUND = ["plan", "generate", "judge", "buffer", "train", "promote"]
WHOLE = [f"0 {s}" for s in ("plan", "train", "promote")] + [f"{r} {s}" for r in (1, 2) for s in ROUND]


def test_the_warm_up_comes_first_and_is_not_counted(ws, recipe):
    calls: list[str] = []
    done = list(run(ws, recipe, table(calls), rounds=2))
    assert calls == WHOLE
    assert [figures["round"] for figures in done] == [0, 1, 2]
    assert [(e["round"], e["stage"]) for e in timings(ws)] == [(int(c.split()[0]), c.split()[1]) for c in WHOLE]
    list(run(ws, recipe, table(calls), rounds=1))
    assert calls[len(WHOLE) :] == [f"3 {s}" for s in ROUND]


@pytest.mark.parametrize("stop_at", WHOLE)
def test_it_goes_on_at_the_stage_where_it_stopped(ws, recipe, stop_at):
    calls: list[str] = []
    with pytest.raises(Stopped):
        list(run(ws, recipe, table(calls, stop_at), rounds=2))
    list(run(ws, recipe, table(calls), until=2))
    assert calls == WHOLE


def test_an_interrupted_round_is_one_of_those_asked_for(ws, recipe):
    calls: list[str] = []
    with pytest.raises(Stopped):
        list(run(ws, recipe, table(calls, "2 judge"), rounds=5))
    list(run(ws, recipe, table(calls), rounds=1))
    assert calls == WHOLE
    with pytest.raises(Stopped):
        list(run(ws, recipe, table(calls, "3 train"), rounds=1))
    list(run(ws, recipe, table(calls), rounds=2))
    assert calls[len(WHOLE) :] == [f"{r} {s}" for r in (3, 4) for s in ROUND]


def test_a_forecast_says_what_would_be_done(ws, recipe):
    assert forecast(ws, recipe, rounds=2) == "warm up, then run round 1 to 2: 16 tasks x 8 answers each"
    with pytest.raises(Stopped):
        list(run(ws, recipe, table([], "1 train"), rounds=2))
    assert forecast(ws, recipe, rounds=1) == "finish round 1 from train"
    assert forecast(ws, recipe, until=3) == "finish round 1 from train, then run round 2 to 3: 16 tasks x 8 answers each"
    list(run(ws, recipe, table([]), until=1))
    assert forecast(ws, recipe, until=1) == "nothing"


def test_until_a_round_that_is_done_does_nothing(ws, recipe):
    calls: list[str] = []
    list(run(ws, recipe, table(calls), until=2))
    assert list(run(ws, recipe, table(calls), until=2)) == []
    assert calls == WHOLE


def test_no_warm_up_where_an_adapter_stands_or_none_is_wanted(ws, recipe, make_version):
    from dataclasses import replace

    calls: list[str] = []
    list(run(ws, replace(recipe, warmup=None), table(calls), rounds=1))
    assert calls == [f"1 {s}" for s in ROUND]


def test_a_lost_state_does_not_overwrite_rounds_that_are_kept(ws, recipe):
    (ws.data / "rollouts").mkdir(parents=True)
    (ws.data / "rollouts" / "round-007.jsonl").touch()
    (ws.data / "rollouts" / "round-007.scored.jsonl").touch()
    calls: list[str] = []
    list(run(ws, recipe, table(calls), rounds=1))
    assert calls == [f"8 {s}" for s in ROUND]


def test_a_second_loop_is_told_that_one_runs(ws, recipe):
    with lock(ws.lock_file("loop")), pytest.raises(Busy, match="loop is busy"):
        list(run(ws, recipe, table([]), rounds=1))
    assert load(ws).round == -1


def test_two_loops_at_once_one_works_the_other_exits_75(ws):
    ws.tasks.mkdir(parents=True)
    for name in ("train", "heldout"):
        (ws.tasks / f"{name}.jsonl").write_text('{"id": "t", "prompt": "p"}\n')
    base = ws.root / "base.gguf"
    base.write_bytes(b"weights")
    with lock(ws.lock_file("loop")):
        command = [sys.executable, "-m", "clawctl", "loop", "--workspace", str(ws.root), "--model", str(base)]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 75, done.stderr
    assert "loop is busy" in done.stderr
    assert not Path(ws.data / "loop" / "state.json").exists()
