"""The gate's decisions, as functions of the pass rates."""

from __future__ import annotations

import numpy as np
import pytest

from clawctl.adapters.gate import compare, decide


def rates(*blocks: tuple[int, float | None]) -> dict[str, float | None]:
    values = [value for count, value in blocks for _ in range(count)]
    return {f"t{i}": value for i, value in enumerate(values)}


def test_clearly_better_is_promoted():
    decision = decide(compare(rates((80, 1.0), (40, 0.0)), rates((50, 1.0), (70, 0.0))))
    assert decision.promote
    assert decision.comparison.gain == pytest.approx(0.25)
    assert (decision.comparison.won, decision.comparison.lost) == (30, 0)
    assert decision.comparison.p_better > 0.999


def test_clearly_worse_is_refused_and_said_to_be_worse():
    decision = decide(compare(rates((50, 1.0), (70, 0.0)), rates((80, 1.0), (40, 0.0))))
    assert decision.verdict == "worse"
    assert not decision.promote


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3])
def test_identical_answers_are_never_better(value):
    decision = decide(compare(rates((120, value)), rates((120, value))), confidence=0.01)
    assert decision.verdict == "unproven"
    assert decision.comparison.p_better == decision.comparison.p_worse == 0.0


def test_thirds_that_cancel_count_as_no_gain():
    new = rates((20, 1 / 3), (20, 2 / 3), (20, 1.0))
    old = rates((20, 2 / 3), (20, 1 / 3), (20, 1.0))
    assert compare(new, old).gain == 0.0


def test_one_more_right_answer_proves_nothing():
    decision = decide(compare(rates((61, 1.0), (59, 0.0)), rates((60, 1.0), (60, 0.0))))
    assert decision.verdict == "unproven"
    assert "below 0.9" in decision.reason


def test_a_sure_but_small_gain_stays_below_min_gain():
    comparison = compare(rates((66, 1.0), (54, 0.0)), rates((60, 1.0), (60, 0.0)))
    assert decide(comparison, min_gain=0.05).promote
    assert decide(comparison, min_gain=0.06).verdict == "unproven"


def test_too_few_tasks_decide_nothing():
    assert decide(compare(rates((9, 1.0)), rates((9, 0.0)))).verdict == "too few tasks"
    assert decide(compare({}, {})).verdict == "too few tasks"
    assert decide(compare(rates((10, 1.0)), rates((10, 0.0)))).promote


def test_a_task_that_one_side_could_not_score_counts_for_neither():
    comparison = compare(rates((20, 1.0), (10, None)), rates((10, 0.0), (10, None), (10, 1.0)))
    assert (comparison.tasks, comparison.excluded) == (10, 20)
    assert comparison.gain == 1.0


def test_the_same_seed_gives_the_same_figures_whatever_the_chunks(monkeypatch):
    new, old = rates((30, 1.0), (30, 0.0)), rates((25, 1.0), (35, 0.5))
    first = compare(new, old, seed=5)
    assert compare(new, old, seed=5) == first
    assert compare(new, old, seed=6).low is not None
    monkeypatch.setattr("clawctl.adapters.gate.AT_ONCE", 6_000)
    assert compare(new, old, seed=5) == first


def test_confidence_means_what_it_says():
    """Of gates between two equal systems, about one in ten passes at confidence 0.9."""
    random = np.random.default_rng(0)
    passed = 0
    for seed in range(150):
        new, old = ({f"t{i}": float(v) for i, v in enumerate(random.integers(0, 2, 120))} for _ in range(2))
        passed += decide(compare(new, old, seed=seed)).promote
    assert 0.05 <= passed / 150 <= 0.15
