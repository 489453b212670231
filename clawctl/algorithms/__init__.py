"""The algorithms, one file each: from rewards to advantages, from log-probabilities to a loss for every token. Pure functions: no files, no model.

An algorithm is a module with
    Settings                                          a frozen dataclass: its constants, with its own defaults
    advantages(rewards, groups, settings)             float64, one a row; None stands for a reward that could not be given
    token_loss(lp, old, ref, advantage, settings)     TokenLoss; all tensors are [tokens]
    formula(settings)                                 what is minimised, in words, for --dry-run and the card
The trainer weighs the token losses (aggregation.py) and knows nothing else of them. A new algorithm is one file and one line here.
"""

from __future__ import annotations

import importlib
from typing import Any

from clawctl.errors import Usage

ALGORITHMS: dict[str, str] = {
    "grpo": "clawctl.algorithms.grpo",
    "sft": "clawctl.algorithms.sft",
}


def load(name: str) -> Any:
    """The algorithm's module; Usage for one that does not exist."""
    if name not in ALGORITHMS:
        raise Usage(f"no algorithm {name!r}", f"known algorithms: {', '.join(ALGORITHMS)}")
    return importlib.import_module(ALGORITHMS[name])
