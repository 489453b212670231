"""Step rewards to one number, against the reference vectors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from clawctl.judges.reduce import REDUCTIONS, reduce_steps

VECTORS = {v["name"]: v for v in json.loads((Path(__file__).parents[1] / "data" / "algorithms.json").read_text())["vectors"]}
AGGREGATES = sorted(name for name in VECTORS if name.startswith("prm_aggregate_"))


@pytest.mark.parametrize("name", [*AGGREGATES, "prm_empty_solution"])
def test_reference_vectors(name):
    vector = VECTORS[name]
    expected = vector["expected"]["score"]
    got = reduce_steps(vector["inputs"]["step_probs"], vector["inputs"]["reduce"].replace("_", "-"))
    assert got == (expected if expected is None else pytest.approx(expected, abs=vector["tolerance"]))


def test_the_product_falls_with_length_and_the_geometric_mean_does_not():
    vector = VECTORS["prm_product_length_bias"]
    for side in "ab":
        steps = vector["inputs"][side]
        assert reduce_steps(steps, "product") == pytest.approx(vector["expected"][f"product_{side}"], abs=1e-9)
        assert reduce_steps(steps, "geo-mean") == pytest.approx(vector["expected"][f"geometric_mean_{side}"], abs=1e-9)


@pytest.mark.parametrize("how", REDUCTIONS)
def test_nothing_to_reduce_is_null(how):
    assert reduce_steps([], how) is None
    assert reduce_steps([0.9, None], how) is None


@pytest.mark.parametrize("how", REDUCTIONS)
def test_a_zero_probability_stays_finite(how):
    value = reduce_steps([0.0, 0.9], how)
    assert math.isfinite(value)
    assert value < 1e-100 or how in ("mean", "last")


def test_long_products_do_not_underflow_to_an_error():
    assert reduce_steps([1e-3] * 1000, "product") == 0.0
    assert reduce_steps([1e-3] * 1000, "geo-mean") == pytest.approx(1e-3)


@pytest.mark.parametrize("how", ["product", "geo-mean", "sum-log"])
@pytest.mark.parametrize("bad", [-0.5, 1.5])
def test_what_is_no_probability_is_refused_where_one_is_needed(how, bad):
    with pytest.raises(ValueError, match="cannot be reduced"):
        reduce_steps([0.5, bad], how)


def test_signed_steps_have_a_mean_and_a_minimum():
    assert reduce_steps([-1.0, 1.0], "mean") == 0.0
    assert reduce_steps([-1.0, 1.0], "min") == -1.0


def test_not_finite_is_refused():
    with pytest.raises(ValueError, match="cannot be reduced"):
        reduce_steps([math.nan], "mean")
