"""Adam's moments, carried from a version to the one that continues it.

Adam's first steps move every weight by the whole rate, however noisy its gradient. A loop of short trainings that each began so would
mostly walk at random; with the moments of the round before, a weight moves as far as its gradients agree.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clawctl.adapters.versions import AdapterRef
from clawctl.training.trainer import Trainer

FILE = "optimizer.pt"


def save(trainer: Trainer, folder: Path) -> None:
    """Put the moments beside the adapter."""
    import torch

    torch.save({"algorithm": trainer.recipe.algorithm, "optimiser": trainer.optimiser.state_dict()}, folder / FILE)


def restore(trainer: Trainer, start: AdapterRef) -> bool:
    """Go on with the moments of `start`; False where it has none of the same algorithm, whose gradients are of another size."""
    import torch

    path = start.path / FILE
    if not path.is_file():
        return False
    kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    if kept["algorithm"] != trainer.recipe.algorithm:
        return False
    trainer.optimiser.load_state_dict(kept["optimiser"])
    for group in trainer.optimiser.param_groups:  # the numbers of this recipe, not those of the parent's
        group["weight_decay"] = trainer.recipe.weight_decay
    return True
