"""Step rewards to one reward (Let's Verify Step by Step, 2305.20050, section 2.6: the product of step probabilities, or their minimum)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

TINY = sys.float_info.min  # in place of a probability of 0, whose logarithm no JSON number can hold


def _sum_log(p: Sequence[float]) -> float:
    """Σ log p_j."""
    return math.fsum(math.log(max(x, TINY)) for x in p)


def _product(p: Sequence[float]) -> float:
    """Π p_j, as exp Σ log p_j. It falls with the number of steps: three steps of 0.9 give 0.73, ten give 0.35."""
    return math.exp(_sum_log(p))


def _geo_mean(p: Sequence[float]) -> float:
    """(Π p_j)^(1/n): the product without its bias against length."""
    return math.exp(_sum_log(p) / len(p))


REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "product": _product,
    "min": min,
    "mean": lambda p: math.fsum(p) / len(p),
    "last": lambda p: p[-1],
    "geo-mean": _geo_mean,
    "sum-log": _sum_log,
}
PROBABILITIES = {"product", "geo-mean", "sum-log"}  # these have no meaning outside 0..1


def reduce_steps(step_rewards: Sequence[float | None], how: str = "product") -> float | None:
    """One number for the steps of an answer by `how`, a key of REDUCTIONS.

    None where there is nothing to reduce: no step at all (the empty product is not 1 here), or a step that could not be scored.
    ValueError for a step reward that is not finite, or is no probability where one is needed.
    """
    scored = [float(r) for r in step_rewards if r is not None]
    if not scored or len(scored) < len(step_rewards):
        return None
    for reward in scored:
        if not math.isfinite(reward) or (how in PROBABILITIES and not 0.0 <= reward <= 1.0):
            raise ValueError(f"step reward {reward:g} cannot be reduced by {how}")
    return REDUCTIONS[how](scored)
