"""The optimiser loop: samples in, one dict of figures out for every optimiser step. It knows nothing of the algorithm but its two functions.

Four log-probabilities of a token must not be confused: `lp` is of the policy as it trains; `start` of the policy when the batch came to it,
computed here, not taken from the sampler; `rollout` the sampler's; `base` the bare base's. The ratio is lp against start (against rollout for
rows of another policy), the KL term holds lp to start or to base.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from clawctl.algorithms import load
from clawctl.algorithms.aggregation import row_weights
from clawctl.algorithms.statistics import by_group
from clawctl.errors import ClawctlError
from clawctl.training.packing import Pack, pack
from clawctl.training.policy import Policy
from clawctl.training.recipe import Recipe
from clawctl.training.rows import Sample

Known = dict[int, torch.Tensor]  # row index -> log-probabilities of its trainable tokens


class Trainer:
    """Runs a recipe over samples whose advantages are set. `done` steps are behind, `steps` are planned.

    fresh: the adapter starts as nothing, so that base and start are the same. sampled_old: rows of another policy; their ratio is taken
    against the sampler's log-probabilities where it told them.
    """

    def __init__(self, policy: Policy, samples: Sequence[Sample], recipe: Recipe, *, fresh: bool, sampled_old: bool = False) -> None:
        self.policy, self.samples, self.recipe = policy, list(samples), recipe
        self.algorithm = load(recipe.algorithm)
        self.steps = plan(self.samples, recipe)
        self.done = 0
        self.start: Known = {}
        self.base: Known = {}
        self.kl = bool(recipe.settings.kl_coef)
        self.ref_is_base = recipe.reference == "base" and not fresh
        self.sampled_old = sampled_old
        self.optimiser = torch.optim.AdamW(policy.parameters, lr=recipe.lr, weight_decay=recipe.weight_decay)
        if not policy.trainable:
            raise ClawctlError("nothing would train: the adapter has no parameters")

    def run(self, go_on: Callable[[], bool] = lambda: True) -> Iterator[dict[str, Any]]:
        """Take the steps that are left, as long as `go_on` says so after each."""
        while self.done < len(self.steps):
            yield self.step(self.steps[self.done])
            if not go_on():
                return

    def step(self, samples: Sequence[Sample]) -> dict[str, Any]:
        """One optimiser step over these samples; its figures."""
        start = time.perf_counter()
        active = self.active(samples)
        self._recompute(active)
        tally = _Tally()
        self.optimiser.zero_grad(set_to_none=True)
        tokens = self._backward(samples, active, tally)
        norm = float(torch.nn.utils.clip_grad_norm_(self.policy.parameters, self.recipe.max_grad_norm)) if active else 0.0
        if not math.isfinite(norm):
            raise ClawctlError(f"step {self.done + 1}: the gradient is not a finite number", "a lower --lr, or --dtype float32")
        rate = self.recipe.rate(self.done, len(self.steps), self.adam_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        if active:
            self.optimiser.step()
        self.done += 1
        seconds = time.perf_counter() - start
        return {
            "step": self.done,
            "steps": len(self.steps),
            "loss": tally.loss,
            "grad_norm": norm,
            "lr": rate,
            **self._rewards(samples),
            "rows": len(samples),
            "rows_active": len(active),
            "groups": len({s.group for s in samples}),
            "groups_with_signal": len({s.group for s in samples if s.advantage}),
            "completion_tokens": sum(s.length for s in samples),
            "tokens_evaluated": tokens,
            **tally.means(),
            "seconds": round(seconds, 3),
            "tokens_per_second": round(tokens / seconds, 1),
        }

    @property
    def adam_steps(self) -> int:
        """Steps that the optimiser's moments have seen, those of the versions before included."""
        return next((int(state["step"]) for state in self.optimiser.state.values()), 0)

    def active(self, samples: Sequence[Sample]) -> list[Sample]:
        """The samples that have a gradient in this step. Without an advantage only the KL term moves a row, and at the very start not
        even that where the reference is the starting adapter; they count in the denominators all the same."""
        if self.kl and (self.done or self.ref_is_base):
            return list(samples)
        return [s for s in samples if s.advantage]

    def gradient(self, samples: Sequence[Sample]) -> float:
        """The loss of these samples as one step, its gradient added to the adapter's; no step is taken."""
        tally = _Tally()
        self._backward(samples, self.active(samples), tally)
        return tally.loss

    def evaluate(self, samples: Sequence[Sample]) -> Known:
        """log-probabilities under the policy as it is, without gradient."""
        found: Known = {}
        with torch.no_grad():
            for made in pack([s.row for s in samples], self.recipe.pack):
                hidden = self.policy.hidden(made)
                temperature = self._temperatures(made)
                for at, first, last in self._chunks(made):
                    lp = self.policy.logprobs(hidden[first:last], made.targets[first:last], temperature[first:last])
                    for i in at:
                        begin, end = made.spans[i]
                        found[made.members[i].index] = lp[begin - first : end - first].cpu()
        return found

    def _recompute(self, active: Sequence[Sample]) -> None:
        """Before the first update: what later steps compare with. The first step's own rows give theirs in passing."""
        if self.done == 0 and len(self.steps) > 1:
            own = {s.row.index for s in active}
            later = {s.row.index: s for step in self.steps for s in step if self._needs_start(s)}
            self.start |= self.evaluate([s for i, s in later.items() if i not in own])
        if self.kl and self.ref_is_base and (missing := [s for s in active if s.row.index not in self.base]):
            with self.policy.without_adapter():
                self.base |= self.evaluate(missing)

    def _needs_start(self, sample: Sample) -> bool:
        """Whether the policy before the first update is asked about this row: by the KL term, or by a ratio that the sampler cannot give."""
        return self.kl or (bool(sample.advantage) and not (self.sampled_old and sample.rollout_logprobs is not None))

    def _backward(self, samples: Sequence[Sample], active: Sequence[Sample], tally: _Tally) -> int:
        """Add the step's gradient to the adapter; the number of tokens evaluated."""
        weights = row_weights([s.length for s in samples], self.recipe.settings.aggregation, self.recipe.length)
        weight = {s.row.index: w for s, w in zip(samples, weights.tolist(), strict=True)}
        tokens = 0
        for made in pack([s.row for s in active], self.recipe.pack):
            hidden = self.policy.hidden(made)
            leaf = hidden.detach().requires_grad_()
            temperature = self._temperatures(made)
            for at, first, last in self._chunks(made):
                lp = self.policy.logprobs(leaf[first:last], made.targets[first:last], temperature[first:last])
                self._loss(made, at, lp, weight, tally).backward()
            hidden.backward(leaf.grad)
            tokens += len(made)
        return tokens

    def _loss(self, made: Pack, at: Sequence[int], lp: torch.Tensor, weight: dict[int, float], tally: _Tally) -> torch.Tensor:
        """The share of these rows in the step's loss."""
        members = [(self.samples[made.members[i].index], made.spans[i][1] - made.spans[i][0]) for i in at]
        now = lp.detach()
        if self.done == 0 and len(self.steps) > 1:
            self.start |= {s.row.index: part.cpu() for (s, _), part in zip(members, now.split([n for _, n in members]), strict=True)}
        start = self._known(self.start, members, now)
        old = self._sampled(members, start) if self.sampled_old else start
        ref = (self._known(self.base, members, now) if self.ref_is_base else start) if self.kl else None
        advantage = lp.new_tensor([s.advantage for s, n in members for _ in range(n)])
        weights = lp.new_tensor([weight[s.row.index] for s, n in members for _ in range(n)])
        given = self.algorithm.token_loss(lp, old, ref, advantage, self.recipe.settings)
        loss = (given.loss * weights).sum()
        tally.add(loss, {"entropy": -now, **given.metrics})
        if self.done == 0:
            tally.sampler(now, members)
        return loss

    def _known(self, values: Known, members: Sequence[tuple[Sample, int]], otherwise: torch.Tensor) -> torch.Tensor:
        """The rows' `values`, or `otherwise` for a row that was not asked about (`_needs_start`)."""
        parts = otherwise.split([n for _, n in members])
        return torch.cat([values.get(s.row.index, part).to(part) for (s, _), part in zip(members, parts, strict=True)])

    def _sampled(self, members: Sequence[tuple[Sample, int]], otherwise: torch.Tensor) -> torch.Tensor:
        parts = otherwise.split([n for _, n in members])
        told = [s.rollout_logprobs for s, _ in members]
        return torch.cat([part if lp is None else part.new_tensor(lp) for lp, part in zip(told, parts, strict=True)])

    def _temperatures(self, made: Pack) -> torch.Tensor:
        spread = [self.samples[row.index].temperature for row, (a, b) in zip(made.members, made.spans, strict=True) for _ in range(b - a)]
        return torch.tensor(spread, device=self.policy.placement.device)

    def _chunks(self, made: Pack) -> Iterator[tuple[list[int], int, int]]:
        """Whole rows at a time, so that a loss may speak of a row: (members, first, last target)."""
        at: list[int] = []
        for i, (begin, end) in enumerate(made.spans):
            if at and end - made.spans[at[0]][0] > self.policy.chunk:
                yield at, made.spans[at[0]][0], begin
                at = []
            at.append(i)
        if at:
            yield at, made.spans[at[0]][0], made.spans[at[-1]][1]

    def _rewards(self, samples: Sequence[Sample]) -> dict[str, float]:
        rewards = [s.reward for s in samples if s.reward is not None]
        if not rewards:
            return {}
        mean = sum(rewards) / len(rewards)
        return {"reward_mean": mean, "reward_std": (sum((r - mean) ** 2 for r in rewards) / len(rewards)) ** 0.5}


def plan(samples: Sequence[Sample], recipe: Recipe) -> list[list[Sample]]:
    """The samples of every optimiser step: whole groups, in an order drawn from the seed for each epoch, `minibatch` groups a step."""
    groups = list(by_group([s.group for s in samples]).values())
    size = recipe.minibatch or len(groups)
    steps = []
    for epoch in range(recipe.epochs):
        order = groups[:]
        if size < len(groups):
            random.Random(f"{recipe.seed}/{epoch}").shuffle(order)
        for start in range(0, len(order), size):
            steps.append([samples[i] for members in order[start : start + size] for i in members])
    return steps


class _Tally:
    """Sums over a step's trainable tokens."""

    def __init__(self) -> None:
        self.loss = 0.0
        self.tokens = 0
        self.sums: dict[str, float] = defaultdict(float)
        self.compared = 0

    def add(self, loss: torch.Tensor, metrics: dict[str, torch.Tensor]) -> None:
        self.loss += float(loss.detach())
        self.tokens += next(iter(metrics.values())).numel()
        for name, values in metrics.items():
            self.sums[name] += float(values.double().sum())

    def sampler(self, lp: torch.Tensor, members: Sequence[tuple[Sample, int]]) -> None:
        """How far the sampler's log-probabilities are from ours, before anything has moved: |difference|, and k3 of KL(sampler || trainer)."""
        for (sample, _), ours in zip(members, lp.split([n for _, n in members]), strict=True):
            if sample.rollout_logprobs is not None:
                d = (ours.double().cpu() - torch.tensor(sample.rollout_logprobs, dtype=torch.float64)).clamp(-20, 20)
                self.compared += len(d)
                self.sums["sampler_gap"] += float(d.abs().sum())
                self.sums["sampler_kl"] += float((d.exp() - d - 1).sum())

    def means(self) -> dict[str, float]:
        return {name: total / (self.compared if name.startswith("sampler") else self.tokens) for name, total in self.sums.items()}
