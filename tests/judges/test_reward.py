"""Parts, weights and the reward that is made of them."""

from __future__ import annotations

import pytest

from clawctl.errors import Usage
from clawctl.judges import open_judges
from clawctl.judges.reward import default_weights, parse_weights, weigh
from clawctl.judges.verdict import passed

VERIFY = open_judges(["verify"])


def test_the_weighted_sum():
    assert weigh({"format": 1.0, "answer": 0.5}, {"format": 0.2, "answer": 0.8}) == 0.6
    assert weigh({"format": 1.0, "answer": 1.0}, {"format": 0.1, "answer": 0.7, "style": 0}) == 0.8


def test_a_part_that_weighs_and_is_null_or_missing_makes_the_reward_null():
    assert weigh({"format": 1.0, "answer": None}, {"format": 0.2, "answer": 0.8}) is None
    assert weigh({"format": 1.0}, {"format": 0.2, "answer": 0.8}) is None
    assert weigh({"format": 1.0, "answer": None}, {"format": 1.0}) == 1.0


def test_weights_are_read():
    assert parse_weights("format=0.1, answer=0.9", VERIFY) == {"format": 0.1, "answer": 0.9}
    assert parse_weights("answer=1", VERIFY) == {"answer": 1.0}
    assert default_weights(VERIFY) == {"format": 0.2, "answer": 0.8}


@pytest.mark.parametrize("text", ["style=1", "answer", "answer=much", "answer=nan", "answer=inf", "answer=0", ","])
def test_bad_weights_are_usage(text):
    with pytest.raises(Usage):
        parse_weights(text, VERIFY)


@pytest.mark.parametrize("spec", ["vibes", "verify:speed=3", "verify:timeout", "verify:timeout=0", "verify:timeout=x", "verify:memory=inf"])
def test_bad_judges_are_usage(spec):
    with pytest.raises(Usage):
        open_judges([spec])


def test_a_judge_is_named_once():
    with pytest.raises(Usage):
        open_judges(["verify", "verify:timeout=3"])
    assert open_judges(["verify:timeout=3,memory=64"])[0].name == "verify"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({"format": 1.0, "answer": 1.0}, True),
        ({"format": 1.0, "answer": 0.99}, False),
        ({"format": 0.0, "answer": 1.0}, False),
        ({"format": 1.0, "answer": None}, None),
        ({"format": 1.0}, None),
        ({}, None),
        (None, None),
    ],
)
def test_verdict(parts, verdict):
    assert passed({"reward_parts": parts}) is verdict
