"""Rates from judged rows: what counts, what does not."""

from __future__ import annotations

import pytest

from clawctl.evaluation.figures import pass_rates, summary
from clawctl.evaluation.report import report_lines


def row(task: str, sample: int = 0, form: float | None = 1.0, answer: float | None = 1.0, type_: str = "add", **more):
    reward = None if form is None or answer is None else 0.2 * form + 0.8 * answer
    parts = {"format": form, "answer": answer}
    return {
        "id": f"{task}-{sample}",
        "task_id": task,
        "group_id": task,
        "task": {"id": task, "type": type_},
        "reward": reward,
        "reward_parts": parts,
        "finish_reason": "stop",
        "completion_token_ids": [1, 2, 3],
        **more,
    }


def test_a_pass_needs_the_strict_format_and_the_right_answer():
    figures = summary([row("a"), row("b", form=0.0), row("c", answer=0.0), row("d", answer=0.5)])
    assert figures["pass_rate"] == 0.25
    assert figures["format_rate"] == 0.75
    assert figures["answer_rate"] == 0.5
    assert figures["mean_reward"] == pytest.approx((1 + 0.8 + 0.2 + 0.6) / 4)


def test_the_unit_is_the_task_not_the_sample():
    rows = [row("a"), *(row("b", n, answer=0.0) for n in range(3)), row("b", 3)]
    assert pass_rates(rows) == {"a": 1.0, "b": 0.25}
    assert summary(rows)["pass_rate"] == 0.625


def test_what_could_not_be_scored_is_in_no_rate():
    failed = {"id": "x", "task_id": "c", "group_id": "c", "error": {"stage": "generate", "kind": "context", "message": ""}, "reward": None}
    rows = [row("a"), row("b", form=None, answer=None), failed]
    figures = summary(rows)
    assert (figures["pass_rate"], figures["unscored"], figures["tasks"]) == (1.0, 2, 3)
    assert pass_rates(rows) == {"a": 1.0, "b": None, "c": None}
    assert "2 of 3 answers could not be scored" in report_lines(figures)[-1]


def test_nothing_scored_gives_nulls_not_zeros():
    figures = summary([row("a", form=None, answer=None)])
    assert figures["pass_rate"] is None
    assert figures["ci95"] is None
    assert report_lines(figures)


def test_the_interval_covers_the_rate_and_is_the_same_for_a_seed():
    rows = [row(f"t{i}", answer=float(i % 3 == 0)) for i in range(120)]
    low, high = summary(rows, seed=1)["ci95"]
    assert low < 1 / 3 < high
    assert 0.12 < high - low < 0.22
    assert summary(rows, seed=1)["ci95"] == [low, high]


def test_types_and_truncation_are_told_apart():
    figures = summary([row("a"), row("b", type_="count", finish_reason="length", answer=None, form=0.0), row("c", type_="count")])
    assert list(figures["types"]) == ["add", "count"]
    assert figures["types"]["count"]["tasks"] == 2
    assert figures["truncated"] == pytest.approx(1 / 3)
