"""GRPO with outcome rewards (DeepSeekMath, 2402.03300, 4.1.1, 4.1.2, 4.1.4).

    A_i  = (r_i - mean_g) / (std_g + eps)                           over the scored answers of one prompt
    loss = 1/G sum_i 1/|o_i| sum_t [ -min(rho A, clip(rho, 1 - low, 1 + high) A) + beta k3_t ]

The KL term stands in the loss, not in the reward, so it also holds answers of a group without signal (all rewards equal, A = 0). The
paper gives beta 0.04 and neither ddof nor eps nor the clip; sample std and 1e-4 are what its implementations use.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clawctl.algorithms import clipping, kl
from clawctl.algorithms.aggregation import Aggregation
from clawctl.algorithms.loss import TokenLoss
from clawctl.algorithms.statistics import Scale, Std, group_advantages

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


@dataclass(frozen=True)
class Settings:
    """GRPO's constants; the defaults are the paper's where it gives one."""

    clip_low: float = 0.2
    clip_high: float = 0.2
    kl_coef: float = 0.04
    std: Std = "sample"
    scale: Scale = "group"
    adv_eps: float = 1e-4
    aggregation: Aggregation = "seq-mean-token-mean"


def advantages(rewards: Sequence[float | None], groups: Sequence[Hashable], settings: Settings) -> np.ndarray:
    """One advantage a row, the same for all its tokens; 0 where the group says nothing (statistics.group_advantages)."""
    ddof = 1 if settings.std == "sample" else 0
    return group_advantages(rewards, groups, ddof=ddof, eps=settings.adv_eps, scale=settings.scale)


def token_loss(lp: Tensor, old: Tensor, ref: Tensor | None, advantage: Tensor, settings: Settings) -> TokenLoss:
    """The bracket above for every token. `ref` may be None where kl_coef is 0."""
    rho = clipping.ratio(lp, old)
    clipped = clipping.clipped_loss(rho, advantage, settings.clip_low, settings.clip_high)
    loss = clipped.loss
    metrics = {"ratio": rho.detach(), "clip_low": clipped.low, "clip_high": clipped.high}
    if ref is not None:
        divergence = kl.estimate(lp, ref, "k3", log_ratio_clamp=clipping.MAX_LOG_RATIO)
        metrics["kl"] = divergence.detach()
        if settings.kl_coef:
            loss = loss + settings.kl_coef * divergence
    return TokenLoss(loss, metrics)


def formula(settings: Settings) -> str:
    """What is minimised, in words."""
    spread = {"group": f" / (std + {settings.adv_eps:g})", "batch": f" / (batch std + {settings.adv_eps:g})", "none": ""}[settings.scale]
    kind = f", {settings.std} std" if settings.scale != "none" else ""
    penalty = f" + {settings.kl_coef:g} k3" if settings.kl_coef else ""
    clip = f"clip(rho, {1 - settings.clip_low:g}, {1 + settings.clip_high:g})"
    return f"A = (r - group mean){spread}{kind}; loss = {settings.aggregation} of -min(rho A, {clip} A){penalty}"
