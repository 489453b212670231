"""From a batch's rollouts to rows that can be trained on, and a count of those that cannot, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clawctl.training.packing import Row


@dataclass
class Sample:
    """One answer with what the trainer needs of it. `rollout_logprobs`: of the masked tokens, None where the sampler told none."""

    row: Row
    group: str
    reward: float | None
    temperature: float
    rollout_logprobs: list[float] | None
    truncated: bool
    advantage: float = 0.0

    @property
    def length(self) -> int:
        """Trainable tokens."""
        return sum(self.row.mask)


@dataclass(frozen=True)
class Sampled:
    """Rows of a batch. `dropped` counts the others by reason; `policies` who sampled: (base hash, adapter hash) -> rows."""

    samples: list[Sample]
    dropped: Counter[str]
    policies: Counter[tuple[str | None, str | None]]
    restricted: int  # rows sampled with top-p, top-k or min-p: their log-probabilities are of another distribution


def read(rollouts: Iterable[dict[str, Any]], vocabulary: int) -> Sampled:
    """Sort rollouts into samples and dropped ones. vocabulary: how many tokens the model knows."""
    samples: list[Sample] = []
    dropped: Counter[str] = Counter()
    policies: Counter[tuple[str | None, str | None]] = Counter()
    seen: set[str] = set()
    restricted = 0
    for rollout in rollouts:
        reason = "duplicate" if rollout["id"] in seen else _unusable(rollout, vocabulary)
        seen.add(rollout["id"])
        if reason:
            dropped[reason] += 1
            continue
        sampling = rollout.get("sampling") or {}
        restricted += bool(sampling.get("top_p", 1) < 1 or sampling.get("top_k", 0) > 0 or sampling.get("min_p", 0) > 0)
        policy = rollout.get("policy") or {}
        policies[policy.get("base_sha256"), policy.get("adapter_sha256")] += 1
        samples.append(_sample(rollout, len(samples)))
    return Sampled(samples, dropped, policies, restricted)


def _unusable(rollout: dict[str, Any], vocabulary: int) -> str | None:
    if rollout.get("error"):
        return "error"
    if rollout.get("excluded"):
        return "excluded"
    if rollout.get("reward") is None:
        return "no reward"
    if not rollout.get("prompt_token_ids") or not rollout.get("completion_token_ids"):
        return "no token ids"
    if max(rollout["prompt_token_ids"]) >= vocabulary or max(rollout["completion_token_ids"]) >= vocabulary:
        return "token ids of another vocabulary"
    mask = rollout.get("loss_mask")
    if mask is not None and not any(mask):
        return "nothing to train (loss_mask is zero)"
    return None


def _sample(rollout: dict[str, Any], index: int) -> Sample:
    completion = rollout["completion_token_ids"]
    mask = rollout.get("loss_mask") or [1] * len(completion)
    told = rollout.get("rollout_logprobs")
    logprobs = None if told is None else [lp for lp, m in zip(told, mask, strict=True) if m]
    if logprobs is not None and None in logprobs:
        logprobs = None
    # A greedy answer has its log-probabilities at temperature 1.
    temperature = (rollout.get("sampling") or {}).get("temperature") or 1.0
    row = Row(rollout["prompt_token_ids"], completion, mask, index)
    return Sample(row, rollout["group_id"], rollout.get("reward"), temperature, logprobs, rollout.get("finish_reason") == "length")
