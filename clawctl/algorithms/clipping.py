"""The clipped surrogate of PPO (1707.06347), with separate bounds below and above (DAPO's clip-higher, 2503.14476 eq. 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

MAX_LOG_RATIO = 20.0  # exp of more overflows into meaningless gradients


class Clipped(NamedTuple):
    """All [tokens]. `low` and `high` mark the tokens whose gradient the clip has cut."""

    loss: Tensor
    low: Tensor
    high: Tensor


def ratio(lp: Tensor, old: Tensor) -> Tensor:
    """pi / pi_old of each token; the log ratio is kept within +-20."""
    return (lp - old).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def clipped_loss(rho: Tensor, advantage: Tensor, low: float, high: float) -> Clipped:
    """-min(rho A, clip(rho, 1 - low, 1 + high) A). The clip is active below only where A < 0, above only where A > 0."""
    import torch

    loss = -torch.minimum(rho * advantage, rho.clamp(1 - low, 1 + high) * advantage)
    return Clipped(loss, (rho < 1 - low) & (advantage < 0), (rho > 1 + high) & (advantage > 0))
