"""Estimators of KL(policy || reference) from the sampled tokens alone (Schulman 2020, "Approximating KL divergence")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from torch import Tensor

Estimator = Literal["k1", "k2", "k3"]
ESTIMATORS = get_args(Estimator)


def estimate(
    lp: Tensor, ref: Tensor, kind: Estimator = "k3", *, log_ratio_clamp: float | None = None, value_clamp: float | None = None
) -> Tensor:
    """One value a token, with lp's gradient. d = lp - ref:

    k1 = d             unbiased, can be negative; as a loss its gradient is zero in expectation
    k2 = d^2 / 2       biased; as a loss the exact reverse-KL gradient
    k3 = e^-d + d - 1  unbiased, never negative; GRPO's loss term
    log_ratio_clamp bounds |d|, value_clamp the estimate (20 and 10 in verl); None leaves them.
    """
    d = lp - ref
    if log_ratio_clamp is not None:
        d = d.clamp(-log_ratio_clamp, log_ratio_clamp)
    if kind == "k1":
        value = d
    elif kind == "k2":
        value = d.square() / 2
    elif kind == "k3":
        value = (-d).exp() + d - 1
    else:
        raise ValueError(f"no KL estimator {kind!r}")
    return value if value_clamp is None else value.clamp(-value_clamp, value_clamp)
