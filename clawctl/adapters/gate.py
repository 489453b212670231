"""The gate: is the candidate measurably better than what is in service? Pure functions of two sets of pass rates.

Both sides answered the same tasks with the same seeds, so the comparison is paired: what counts is the difference on each task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

RESAMPLES = 10_000
AT_ONCE = 2_000_000  # drawn indices held in memory at a time
MIN_TASKS = 10  # with fewer, a bootstrap over tasks says more than it can know: one task would give certainty

Verdict = Literal["better", "worse", "unproven", "too few tasks"]


@dataclass(frozen=True)
class Comparison:
    """Candidate against current, over the tasks that could be scored on both sides. Rates and gain are in -1..1."""

    tasks: int
    excluded: int  # tasks that one side or both could not score
    candidate_rate: float | None
    current_rate: float | None
    gain: float | None
    p_better: float  # share of resamples whose gain is above 0; a gain of exactly 0 is not above it
    p_worse: float
    low: float | None  # the middle 90% of the resampled gains
    high: float | None
    won: int
    lost: int

    def figures(self) -> dict[str, Any]:
        """As written into the history, rounded to what the resampling can resolve."""
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Decision:
    """What the gate says, and one sentence why."""

    verdict: Verdict
    reason: str
    comparison: Comparison

    @property
    def promote(self) -> bool:
        return self.verdict == "better"


def compare(candidate: Mapping[str, float | None], current: Mapping[str, float | None], *, seed: int = 0) -> Comparison:
    """Paired bootstrap over tasks (Efron and Tibshirani 1993, ch. 13): resample tasks, look at the mean difference.

    candidate, current: task id -> share of its samples that passed, None where it could not be scored.
    """
    both = [key for key in candidate if candidate[key] is not None and current.get(key) is not None]
    excluded = len(candidate.keys() | current.keys()) - len(both)
    if not both:
        return Comparison(0, excluded, None, None, None, 0.0, 0.0, None, None, 0, 0)
    new = np.array([candidate[key] for key in both], dtype=np.float64)
    old = np.array([current[key] for key in both], dtype=np.float64)
    gains = resampled_means(new - old, seed)
    low, high = np.quantile(gains, [0.05, 0.95])
    return Comparison(
        tasks=len(both),
        excluded=excluded,
        candidate_rate=float(new.mean()),
        current_rate=float(old.mean()),
        gain=float(_clean((new - old).mean())),
        p_better=float((gains > 0).mean()),
        p_worse=float((gains < 0).mean()),
        low=float(low),
        high=float(high),
        won=int((new > old).sum()),
        lost=int((new < old).sum()),
    )


def decide(comparison: Comparison, *, min_gain: float = 0.0, confidence: float = 0.9, min_tasks: int = MIN_TASKS) -> Decision:
    """Promote when the gain is at least `min_gain` and P(gain > 0) at least `confidence`.

    "worse" asks the same certainty of the opposite; whatever is neither is "unproven".
    """
    c = comparison
    if c.gain is None or c.tasks < min_tasks:
        return Decision("too few tasks", f"only {c.tasks} tasks could be compared on both sides, {min_tasks} are needed", c)
    said = f"gain {c.gain:+.3f} over {c.tasks} tasks ({c.won} won, {c.lost} lost)"
    if c.p_worse >= confidence:
        return Decision("worse", f"{said}, P(gain < 0) {c.p_worse:.3f}", c)
    if c.p_better < confidence:
        return Decision("unproven", f"{said}, P(gain > 0) {c.p_better:.3f} below {confidence:g}", c)
    if c.gain < min_gain:
        return Decision("unproven", f"{said}, below the least gain {min_gain:g}", c)
    return Decision("better", f"{said}, P(gain > 0) {c.p_better:.3f}", c)


def resampled_means(values: np.ndarray, seed: int, resamples: int = RESAMPLES) -> np.ndarray:
    """Means of `resamples` draws with replacement from `values` (shape [tasks]); the same seed gives the same means."""
    random = np.random.default_rng(seed)
    size, rows = len(values), max(1, AT_ONCE // len(values))
    parts = [values[random.integers(0, size, (min(rows, resamples - at), size))].mean(axis=1) for at in range(0, resamples, rows)]
    return _clean(np.concatenate(parts))


def _clean(means: np.ndarray) -> np.ndarray:
    """Thirds that should cancel leave 1e-17 behind, which is neither better nor worse."""
    return np.where(np.abs(means) < 1e-12, 0.0, means)
