"""The demonstration ends in the time it was given, whatever the machine."""

from __future__ import annotations

import pytest

from clawctl.evaluation.exam import Exam
from clawctl.looping import demo
from clawctl.looping.recipe import Recipe
from clawctl.looping.report import BASE
from clawctl.looping.rounds import timings
from clawctl.looping.state import STAGES, load
from clawctl.workspace.models import Model

SECONDS = 20.0  # of each stage; a round has six, the warm-up three


@pytest.fixture
def recipe(tmp_path) -> Recipe:
    base = tmp_path / "base.gguf"
    base.write_bytes(b"weights")
    model = Model("base", "llama", base)
    return Recipe(model, [], Exam(model, []), warmup=tmp_path / "warmup.jsonl")


@pytest.fixture
def clock(ws, monkeypatch):
    """Stages that only let time pass."""
    now = [0.0]

    def stage(_ws, _recipe, _state):
        now[0] += SECONDS
        return {}

    monkeypatch.setattr(demo, "TABLE", dict.fromkeys(STAGES, stage))
    monkeypatch.setattr("clawctl.looping.rounds.time.monotonic", lambda: now[0])
    timings(ws).append({"round": -1, "stage": BASE, "seconds": 30.0})


@pytest.mark.parametrize(("minutes", "rounds"), [(0, 1), (3.4, 1), (5.4, 1), (5.5, 2), (60, 4)])
def test_no_round_is_begun_that_would_end_too_late(ws, recipe, clock, minutes, rounds):
    for _ in range(2):  # the same command again begins no more than it did
        demo.demonstrate(ws, recipe, rounds=4, minutes=minutes)
        assert load(ws).round == rounds
        assert load(ws).finished
