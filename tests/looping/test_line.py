"""Which adapter the next round starts from."""

from __future__ import annotations

import pytest

from clawctl.adapters import promotion, serving
from clawctl.adapters.promotion import Gate
from clawctl.looping import line

BASE = "b" * 64


def exam(**passed: int):
    return lambda ref: {f"t{i}": float(i < passed[ref.name if ref else "base"]) for i in range(60)}


@pytest.fixture
def head(ws):
    def name() -> str | None:
        ref = line.head(ws, BASE)
        return ref.name if ref else None

    return name


def test_it_starts_from_the_base_model(head):
    assert head() is None


def test_a_candidate_not_proven_better_is_gone_on_from(ws, make_version, head):
    promotion.stand(ws, make_version("v001"), exam(base=0, v001=30), Gate())
    assert head() == "v001"
    promotion.stand(ws, make_version("v002"), exam(v001=30, v002=31), Gate())
    assert head() == "v002"


def test_a_candidate_that_is_measurably_worse_is_left(ws, make_version, head):
    promotion.stand(ws, make_version("v001"), exam(base=0, v001=30), Gate())
    promotion.stand(ws, make_version("v002"), exam(v001=30, v002=5), Gate())
    assert head() == "v001"


def test_a_candidate_not_judged_yet_is_gone_on_from(ws, make_version, head):
    promotion.force(ws, make_version("v001"))
    make_version("v002")
    assert head() == "v002"


def test_a_rollback_ends_the_line(ws, make_version, head):
    promotion.force(ws, make_version("v001"))
    promotion.force(ws, make_version("v002"))
    serving.rollback(ws)
    assert head() == "v001"
    serving.rollback(ws)
    assert head() is None


def test_adapters_of_another_base_model_are_no_part_of_it(ws, make_version, head):
    promotion.force(ws, make_version("v001", base="c" * 64))
    assert head() is None
