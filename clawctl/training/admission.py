"""Which batches are trained on: those that teach something, and whose answers are the starting adapter's own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from clawctl.algorithms import load
from clawctl.errors import No, Usage
from clawctl.training.recipe import Recipe
from clawctl.training.rows import Sampled
from clawctl.workspace.models import base_sha256

if TYPE_CHECKING:
    from clawctl.training.stage import Order

log = logging.getLogger(__name__)


def set_advantages(sampled: Sampled, recipe: Recipe) -> None:
    """The algorithm's advantages, from the rewards of the rows that can be trained on."""
    samples = sampled.samples
    found = load(recipe.algorithm).advantages([s.reward for s in samples], [s.group for s in samples], recipe.settings)
    for sample, advantage in zip(samples, found.tolist(), strict=True):
        sample.advantage = advantage


def refuse(sampled: Sampled, order: Order) -> None:
    """Raise where there is nothing to learn, or where learning would be from someone else's answers."""
    samples = sampled.samples
    why = ", ".join(f"{n} {reason}" for reason, n in sampled.dropped.items())
    if not samples:
        raise No(
            f"no row can be trained on{': ' + why if why else ''}", "clawctl judge scores rollouts; clawctl generate records token ids"
        )
    _check_policies(sampled, order)
    if order.recipe.algorithm == "sft":
        return
    if all(s.truncated for s in samples):
        raise No("every answer was cut off by its length limit; training would teach to ramble", "generate with a higher --max-tokens")
    if not any(s.advantage for s in samples):
        groups = len({s.group for s in samples})
        raise No(
            f"the batch has no signal: in each of its {groups} groups all rewards are equal",
            "more samples a task, or tasks of another difficulty",
        )
    if sampled.restricted:
        log.warning(
            "%d rows were sampled with top-p, top-k or min-p: their log-probabilities are not of the distribution they came from",
            sampled.restricted,
        )


def _check_policies(sampled: Sampled, order: Order) -> None:
    base = base_sha256(order.model.file)
    start = order.start.sha256 if order.start else None
    for (rows_base, rows_adapter), count in sampled.policies.items():
        if rows_base not in (None, base):
            raise Usage(
                f"{count} rows were sampled from another base model ({rows_base[:12]}), not {order.model.name} ({base[:12]})",
                "--model names it",
            )
        if order.recipe.algorithm != "sft" and not order.off_policy and rows_base and rows_adapter != start:
            theirs, ours = (f"adapter {h[:12]}" if h else "the bare base" for h in (rows_adapter, start))
            raise Usage(
                f"{count} rows were sampled from {theirs}, training starts from {ours}",
                "--from names the adapter they came from, or --off-policy",
            )
