"""What a loop does in every round; the same recipe and the same start give the same adapters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clawctl.adapters.promotion import Gate
from clawctl.engines import SamplingParams
from clawctl.evaluation.exam import Exam, greedy_or, questions
from clawctl.looping.defaults import (
    GROUPS,
    KL_COEF,
    LR,
    LR_WARMUP,
    MAX_TOKENS,
    MINIBATCH,
    OLD,
    SAMPLES,
    SCHEDULE,
    TEMPERATURE,
    WARMUP_EPOCHS,
    WARMUP_LR,
)
from clawctl.workspace import models
from clawctl.workspace.models import Model
from clawctl.workspace.paths import Workspace


@dataclass(frozen=True)
class Recipe:
    """The settings of a loop.

    tasks: what is sampled, `groups` tasks a round, each `sampling`'d `samples` times. exam: what the gate asks.
    warmup: worked answers for the supervised start, None for no such start. settings: of the algorithm. training, warming: learning rate,
    epochs and the like (training.recipe) of the sampled rounds and of the warm-up; what is None is the algorithm's default. rank: of
    the first adapter.
    """

    model: Model
    tasks: Sequence[Path]
    exam: Exam
    warmup: Path | None = None
    groups: int = GROUPS
    samples: int = SAMPLES
    sampling: SamplingParams = field(default_factory=SamplingParams)
    algorithm: str = "grpo"
    settings: dict[str, Any] = field(default_factory=lambda: {"kl_coef": KL_COEF})
    training: dict[str, Any] = field(
        default_factory=lambda: {"lr": LR, "minibatch": MINIBATCH, "warmup": LR_WARMUP, "schedule": SCHEDULE, "old": OLD}
    )
    warming: dict[str, Any] = field(default_factory=lambda: {"lr": WARMUP_LR, "epochs": WARMUP_EPOCHS})
    rank: int | None = None
    gate: Gate = field(default_factory=Gate)
    seed: int = 0


def recipe_in(
    ws: Workspace,
    *,
    model: str,
    tasks: Sequence[Path],
    held_out: Sequence[Path],
    warmup: Path | None,
    temperature: float = TEMPERATURE,
    max_tokens: int = MAX_TOKENS,
    seed: int = 0,
    **more: Any,
) -> Recipe:
    """A recipe by the names and files of the command line; `warmup` may be absent. The held-out tasks are read."""
    named = models.resolve(model, ws)
    return Recipe(
        model=named,
        tasks=tasks,
        exam=Exam(named, questions(held_out), greedy_or(1.0, 1, max_tokens), seed=seed),
        warmup=warmup if warmup and warmup.is_file() else None,
        sampling=SamplingParams(temperature=temperature, max_tokens=max_tokens),
        seed=seed,
        **more,
    )
