"""From what the judges said to what training uses: parts, weighted. Pure functions, so that rewards can be made anew from stored parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from clawctl.errors import Usage
from clawctl.judges.protocol import Judge
from clawctl.judges.reduce import reduce_steps

Parts = dict[str, float | None]


def weigh(parts: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """Σ weight x part. None when a part that weighs anything is missing or null: it could not be scored, which is not 0."""
    total = 0.0
    for name, weight in weights.items():
        if weight == 0:
            continue
        part = parts.get(name)
        if part is None:
            return None
        total += weight * part
    # Ten digits: 0.2 + 0.8 is to be 1, and equal parts are to give equal rewards, whatever their order.
    return round(total, 10) if math.isfinite(total) else None


def rewarded(row: Mapping[str, Any], judges: Sequence[Judge], weights: Mapping[str, float], reduce: str) -> dict[str, Any]:
    """`row` with `reward`, `reward_parts` and `step_rewards` made of the scores that `judges` have left in it."""
    parts: Parts = {}
    steps = None
    scores = dict(row.get("scores") or {})
    for judge in judges:
        score = scores.get(judge.name) or {}
        try:
            parts |= parts_of(judge.name, score, reduce)
        except ValueError as error:
            parts[judge.name] = None
            scores[judge.name] = {**score, "error": {"stage": "judge", "kind": "reduce", "message": str(error)}}
        steps = score.get("step_rewards") or steps
    return {**row, "scores": scores, "reward": weigh(parts, weights), "reward_parts": parts, "step_rewards": steps}


def parts_of(name: str, score: Mapping[str, Any], reduce: str) -> Parts:
    """A score as parts: its own, or one called as the judge, reduced from its steps where it gives no reward itself.

    ValueError when the steps cannot be reduced that way.
    """
    if score.get("parts"):
        return dict(score["parts"])
    reward = score.get("reward")
    return {name: reduce_steps(score.get("step_rewards") or [], reduce) if reward is None else reward}


def default_weights(judges: Sequence[Judge]) -> dict[str, float]:
    """Each judge by its own weights; several judges count alike, and the reward stays between 0 and 1."""
    return {part: weight / len(judges) for judge in judges for part, weight in judge.weights.items()}


def parse_weights(text: str, judges: Sequence[Judge]) -> dict[str, float]:
    """`format=0.2,answer=0.8` as a dict. A part that is not named weighs nothing. Usage for an unknown part or no number."""
    known = [part for judge in judges for part in judge.weights]
    weights: dict[str, float] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        part, _, value = (side.strip() for side in item.partition("="))
        if part not in known:
            raise Usage(f"--weights: no part {part!r}", f"parts of {', '.join(j.name for j in judges)}: {', '.join(known)}")
        try:
            weights[part] = float(value)
        except ValueError:
            raise Usage(f"--weights: {part}={value!r} is no number", "e.g. format=0.2,answer=0.8") from None
        if not math.isfinite(weights[part]):
            raise Usage(f"--weights: {part}={value} is not finite")
    if not any(weights.values()):
        raise Usage("--weights: no part weighs anything", f"parts: {', '.join(known)}")
    return weights
