"""What an algorithm gives the trainer for every token."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class TokenLoss:
    """`loss` [tokens] with gradient; `metrics` name -> detached [tokens], averaged over the step's trainable tokens."""

    loss: Tensor
    metrics: dict[str, Tensor] = field(default_factory=dict)
