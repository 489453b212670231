"""Group statistics: how much better an answer is than its siblings. float64, two passes; groups are tiny and noise is not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

Std = Literal["sample", "population"]
Scale = Literal["group", "batch", "none"]
EQUAL = 1e-9  # rewards closer than this, relative to their size, are equal


def group_advantages(
    rewards: Sequence[float | None],
    groups: Sequence[Hashable],
    *,
    ddof: int = 1,
    eps: float = 1e-4,
    scale: Scale = "group",
) -> np.ndarray:
    """(r - mean of the group) / (std + eps), one for each row; float64.

    Groups go by id, never by position. A row without a reward is out of the statistics and gets 0, as do a group of one and a group of
    equals: those are told by comparison, since the std of equal rewards can be 1e-17, which eps would not hide.
    scale: "group" divides by the group's std, "batch" by that of all rewards (Lite PPO, 2508.08221), "none" only centres.
    """
    values = np.array([np.nan if r is None else r for r in rewards], dtype=np.float64)
    found = np.zeros(len(values))
    known = ~np.isnan(values)
    spread = std(values[known], ddof) if scale == "batch" else 0.0
    for members in by_group(groups).values():
        at = np.array([i for i in members if known[i]], dtype=int)
        if len(at) < 2 or constant(values[at]):
            continue
        centred = values[at] - values[at].mean()
        if scale == "group":
            centred /= std(values[at], ddof) + eps
        elif scale == "batch":
            centred /= spread + eps
        found[at] = centred
    return found


def by_group(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    """Group id -> the positions of its members, in order of first appearance."""
    found: dict[Hashable, list[int]] = {}
    for i, group in enumerate(groups):
        found.setdefault(group, []).append(i)
    return found


def constant(values: np.ndarray) -> bool:
    """Whether all are equal, up to float noise."""
    return bool(np.ptp(values) <= EQUAL * max(1.0, float(np.abs(values).max())))


def std(values: np.ndarray, ddof: int) -> float:
    """Standard deviation, divisor n - ddof; 0 where that is not positive."""
    return float(values.std(ddof=ddof)) if len(values) > ddof else 0.0
