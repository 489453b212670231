"""Supervised fine-tuning: cross-entropy on the answer's tokens, the token that ends the turn included. The prompt carries no loss."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clawctl.algorithms.aggregation import Aggregation
from clawctl.algorithms.loss import TokenLoss

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Settings:
    """Only how the tokens are averaged."""

    aggregation: Aggregation = "token-mean"
    kl_coef: float = 0.0


def advantages(rewards: Sequence[float | None], groups: Sequence[Hashable], settings: Settings) -> np.ndarray:
    """1 for every row: what is given is imitated."""
    return np.ones(len(rewards))


def token_loss(lp: Tensor, old: Tensor, ref: Tensor | None, advantage: Tensor, settings: Settings) -> TokenLoss:
    """-log pi of every token."""
    return TokenLoss(-lp * advantage)


def formula(settings: Settings) -> str:
    """What is minimised, in words."""
    return f"loss = {settings.aggregation} of -log pi(token)"
