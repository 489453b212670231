"""The stage: what it writes into rows, what it leaves alone, order, and judges that fail."""

from __future__ import annotations

import math
import threading
import time

import pytest

from clawctl.errors import ClawctlError, Missing
from clawctl.judges.ordered import in_order
from clawctl.judges.stage import judge
from clawctl.judges.verify.judge import Verify
from clawctl.records.check import check

NUMBER = {"kind": "number", "answer": "36"}


class Other:
    """A judge as a later one may be: scores of its own making, some of them broken."""

    name, weights = "other", {"other": 1.0}

    def __init__(self, give):
        self.give, self.calls = give, 0

    def score(self, row):
        self.calls += 1
        if isinstance(self.give, Exception):
            raise self.give
        return self.give

    def close(self):
        pass


def one(row, *judges, **options):
    (out,) = judge([row], list(judges) or [Verify()], **options)
    check(out, "rollout")
    return out


def test_a_right_answer_in_the_format(rollout):
    row = one(rollout(NUMBER))
    assert row["scores"] == {"verify": {"reward": 1.0, "parts": {"format": 1.0, "answer": 1.0}}}
    assert (row["reward"], row["reward_parts"], row["step_rewards"]) == (1.0, {"format": 1.0, "answer": 1.0}, None)


def test_format_and_answer_are_apart(rollout):
    assert one(rollout(NUMBER, "37"))["reward"] == 0.2
    loose = rollout(NUMBER) | {"completion": "It is <answer>36</answer>"}
    assert one(loose)["reward_parts"] == {"format": 0.0, "answer": 1.0}
    assert one(loose, weights={"answer": 1.0})["reward"] == 1.0


def test_no_answer_is_zero_and_not_null(rollout):
    row = rollout(NUMBER) | {"completion": "I think it is 36"}
    assert one(row)["reward"] == 0.0
    assert one(row | {"answer": None, "finish_reason": "length"})["reward"] == 0.0


def test_a_stored_answer_goes_before_the_parsed_one(rollout):
    assert one(rollout(NUMBER, "37") | {"answer": "36"})["reward_parts"]["answer"] == 1.0


def test_kinds_that_judge_any_text_take_the_answer_or_else_the_completion(rollout):
    spec = {"kind": "contains", "all": ["think"]}
    assert one(rollout(spec))["reward_parts"]["answer"] == 0.0
    assert one(rollout(spec) | {"completion": "I think so"})["reward_parts"]["answer"] == 1.0
    for tried in ("think <answer>yes</answer> <answer>no</answer>", "I think <answer>so"):
        assert one(rollout(spec) | {"completion": tried})["reward_parts"]["answer"] == 0.0


@pytest.mark.parametrize("verify", [None, {"kind": "number"}, {"kind": "regex", "pattern": "("}])
def test_what_cannot_be_scored_is_null_with_the_reason(rollout, verify):
    row = one(rollout(verify))
    assert row["reward"] is None
    assert row["reward_parts"] == {"format": 1.0, "answer": None}
    assert row["scores"]["verify"]["error"]["kind"] == "task"
    assert row.get("error") is None


def test_a_row_without_task_or_completion_is_null(rollout):
    assert one({k: v for k, v in rollout(NUMBER).items() if k != "task"})["scores"]["verify"]["error"]["kind"] == "task"
    assert one(rollout(NUMBER) | {"completion": None})["scores"]["verify"]["error"]["kind"] == "input"


def test_failed_and_aborted_rows_pass_through_without_a_reward(rollout):
    for mark in ({"error": {"stage": "generate", "kind": "context", "message": "too long"}}, {"finish_reason": "abort"}):
        row = rollout(NUMBER, **mark)
        assert one(row) == row | {"reward": None}


def test_unknown_keys_stay_and_the_given_row_is_not_changed(rollout):
    row = rollout(NUMBER, mine={"a": [1]}, scores={"someone": {"reward": 0.3}})
    before = dict(row)
    out = one(row)
    assert out["mine"] == {"a": [1]}
    assert out["scores"]["someone"] == {"reward": 0.3}
    assert row == before


def test_judged_rows_are_not_judged_again_unless_asked(rollout):
    other = Other({"reward": 0.5})
    row = one(rollout(NUMBER), other)
    assert (row["reward"], row["reward_parts"]) == (0.5, {"other": 0.5})
    one(row, other)
    assert other.calls == 1
    one(row, other, again=True)
    assert other.calls == 2


def test_a_failed_score_is_tried_again(rollout):
    row = one(rollout(NUMBER), Other(ValueError("down")))
    assert one(row, Other({"reward": 0.5}))["reward"] == 0.5


def test_reweigh_judges_nothing(rollout):
    row = one(rollout(NUMBER, "37"))
    assert one(row, Verify(), reweigh=True, weights={"format": 0.5, "answer": 0.5})["reward"] == 0.5
    other = Other({"reward": 0.5})
    assert one(row, other, reweigh=True)["reward"] is None
    assert other.calls == 0


def test_several_judges_count_alike(rollout):
    row = one(rollout(NUMBER, "37"), Verify(), Other({"reward": 1.0}))
    assert row["reward"] == 0.6
    assert row["reward_parts"] == {"format": 1.0, "answer": 0.0, "other": 1.0}
    assert set(row["scores"]) == {"verify", "other"}


def test_steps_are_reduced_and_kept(rollout):
    row = one(rollout(NUMBER), Other({"reward": None, "step_rewards": [0.9, 0.5]}), reduce="min")
    assert (row["reward"], row["step_rewards"]) == (0.5, [0.9, 0.5])
    assert one(row, Other({}), reweigh=True, reduce="mean")["reward"] == pytest.approx(0.7)
    assert one(rollout(NUMBER), Other({"reward": None, "step_rewards": []}))["reward"] is None
    bad = one(rollout(NUMBER), Other({"reward": None, "step_rewards": [-1.0]}), reduce="product")
    assert (bad["reward"], bad["scores"]["other"]["error"]["kind"]) == (None, "reduce")


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (RuntimeError("boom"), "internal"),
        (ClawctlError("no"), "failed"),
        (Missing("math-verify", "math"), "missing"),
        ({"reward": math.nan}, "value"),
        ({"reward": 1.0, "step_rewards": [math.inf]}, "value"),
    ],
)
def test_a_judge_that_fails_leaves_a_null_and_the_stream_goes_on(rollout, failure, kind):
    given = failure if isinstance(failure, Exception) else dict(failure)
    rows = list(judge([rollout(NUMBER, at=1), rollout(NUMBER, at=2)], [Other(given)]))
    for row in rows:
        assert row["reward"] is None
        assert row["scores"]["other"]["error"]["kind"] == kind
        check(row, "rollout")


def test_missing_says_what_to_install(rollout):
    row = one(rollout(NUMBER), Other(Missing("math-verify", "math")))
    assert "clawctl-rl[math]" in row["scores"]["other"]["error"]["message"]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_order_is_kept_and_errors_come_in_their_place(jobs):
    def work(n):
        time.sleep(0.01 * (n % 3))
        if n == 25:
            raise KeyError(n)
        return n

    seen = []
    with pytest.raises(KeyError):
        seen.extend(in_order(work, iter(range(40)), jobs))
    assert seen == list(range(25))


def test_a_source_that_fails_is_heard_after_what_came_before():
    def source():
        yield 1
        raise OSError("gone")

    got = in_order(lambda n: n, source(), 3)
    assert next(got) == 1
    with pytest.raises(OSError, match="gone"):
        next(got)


def test_a_result_is_not_held_back_by_a_slow_source():
    go_on = threading.Event()

    def source():
        yield 1
        go_on.wait(10)
        yield 2

    got = in_order(lambda n: n, source(), 2)
    start = time.monotonic()
    assert next(got) == 1
    assert time.monotonic() - start < 5
    go_on.set()
    assert list(got) == [2]


def test_reading_ahead_is_bounded():
    taken = []

    def source():
        for n in range(10_000):
            taken.append(n)
            yield n

    got = in_order(lambda n: n, source(), 2)
    next(got)
    time.sleep(0.2)
    assert len(taken) < 30
    got.close()
