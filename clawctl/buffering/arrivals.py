"""From a row to what the index keeps of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clawctl.buffering.lineage import Policy, policy_key
from clawctl.buffering.rules import sampled_at


class Arrival(NamedTuple):
    """A row that may come in. `metrics` are the numbers that a filter may look at; `line` is the row as it was written."""

    id: str
    group: str
    policy: Policy
    sample: int | None
    sampled_at: float
    metrics: dict[str, float]
    line: bytes


@dataclass
class Group:
    """A group while a chunk of rows is added to it; the counts are the chunk's."""

    g: int
    policy: int
    closed: str | None
    members: int = 0
    oldest: float = float("inf")
    spreads: dict[str, tuple[float, float]] = field(default_factory=dict)

    def admit(self, row: Arrival) -> None:
        """Count one more member."""
        self.members += 1
        self.oldest = min(self.oldest, row.sampled_at)
        for metric, value in row.metrics.items():
            low, high = self.spreads.get(metric, (value, value))
            self.spreads[metric] = min(low, value), max(high, value)


def arrival(row: dict[str, Any], line: bytes) -> Arrival:
    """What the index keeps of a scored row."""
    metrics = {name: float(value) for name, value in (row.get("reward_parts") or {}).items() if value is not None}
    metrics["reward"] = float(row["reward"])
    policy = policy_key(row.get("policy") or {})
    return Arrival(row["id"], row["group_id"], policy, row.get("sample"), sampled_at(row), metrics, line)
