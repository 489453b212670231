"""How to train: the numbers that decide what comes out, as they go into the card."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from clawctl.algorithms import load
from clawctl.algorithms.aggregation import Aggregation
from clawctl.algorithms.statistics import Scale, Std
from clawctl.errors import Usage
from clawctl.training.lora_config import LoRAConfig

Reference = Literal["start", "base"]
Old = Literal["trainer", "sampler"]
Schedule = Literal["constant", "linear"]


@dataclass(frozen=True)
class Recipe:
    """minibatch: groups an optimiser step, 0 for all. reference: whom the KL term holds to, a frozen copy of the starting adapter or the bare
    base. old: whose log-probabilities the ratio is taken against, the trainer's own before its first step or those that the sampler told,
    which saves their computation. length: L of dr-grpo. warmup: steps in which the rate rises to lr, counted over all the
    versions that Adam's moments come from. pack: tokens evaluated at once."""

    algorithm: str
    settings: Any
    lr: float
    epochs: int
    minibatch: int
    seed: int = 0
    reference: Reference = "start"
    old: Old = "trainer"
    length: int | None = None
    warmup: int = 0
    schedule: Schedule = "constant"
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    pack: int = 2048
    lora: LoRAConfig = field(default_factory=LoRAConfig)

    def card(self) -> dict[str, Any]:
        """For the card: every number, and the formula in words."""
        return {**asdict(self), "formula": self.formula()}

    def formula(self) -> str:
        """What is minimised, in words."""
        return str(load(self.algorithm).formula(self.settings))

    def rate(self, step: int, steps: int, before: int) -> float:
        """The learning rate of step 0, 1, ... of `steps`; Adam has taken `before` steps."""
        rising = min(1.0, (before + 1) / (self.warmup + 1))
        falling = (steps - step) / steps if self.schedule == "linear" else 1.0
        return self.lr * rising * falling


# What differs between the kinds of training where nothing is asked for.
DEFAULTS: dict[str, dict[str, Any]] = {
    "sft": {"lr": 5e-4, "epochs": 2, "minibatch": 8},
    "grpo": {"lr": 1e-4, "epochs": 1, "minibatch": 0},
}


def make(algorithm: str, settings: dict[str, Any], **options: Any) -> Recipe:
    """A recipe; options that are None take the algorithm's default. Usage for values that cannot be."""
    module = load(algorithm)
    known = module.Settings.__dataclass_fields__
    odd = [name for name, value in settings.items() if value is not None and name not in known]
    if odd:
        raise Usage(f"--algorithm {algorithm} has no {', '.join('--' + n.replace('_', '-') for n in odd)}")
    for option, (value, allowed) in _choices(settings, options).items():
        if value is not None and value not in allowed:
            raise Usage(f"--{option} {value}: {', '.join(allowed[:-1])} or {allowed[-1]}")
    chosen = module.Settings(**{name: value for name, value in settings.items() if value is not None})
    given = {name: value for name, value in options.items() if value is not None}
    recipe = Recipe(algorithm, chosen, **{**DEFAULTS[algorithm], **given})
    if chosen.aggregation == "dr-grpo" and recipe.length is None:
        raise Usage("dr-grpo divides by a constant length", "--loss-length N, the most tokens an answer may have")
    return recipe


def _choices(settings: dict[str, Any], options: dict[str, Any]) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Option -> what was asked, and what there is."""
    return {
        "loss-agg": (settings.get("aggregation"), get_args(Aggregation)),
        "std": (settings.get("std"), get_args(Std)),
        "scale": (settings.get("scale"), get_args(Scale)),
        "ref": (options.get("reference"), get_args(Reference)),
        "old": (options.get("old"), get_args(Old)),
        "schedule": (options.get("schedule"), get_args(Schedule)),
    }
