"""What a run of generate amounts to, for the line at its end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

TRUNCATED = 0.2  # more than this share of answers cut off by --max-tokens deserves a warning


@dataclass
class Tally:
    """Counts rows as they pass."""

    rows: int = 0
    tokens: int = 0
    truncated: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    groups: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)

    def count(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The same rows."""
        for row in rows:
            self.rows += 1
            self.groups.add(row["group_id"])
            self.tokens += row["usage"]["completion_tokens"]
            self.truncated += row["finish_reason"] == "length"
            if row["error"]:
                self.errors[row["error"]["kind"]] += 1
            yield row

    def line(self, overhead: float | None) -> str:
        """One line for people. overhead: the engine's share of time outside the model."""
        seconds = time.monotonic() - self.started
        parts = [f"{len(self.groups)} tasks, {self.rows} rows, {self.tokens} tokens in {seconds:.1f} s"]
        if self.tokens:
            parts.append(f"{self.tokens / max(seconds, 1e-9):.0f} a second")
        if overhead is not None:
            parts.append(f"{overhead:.0%} of the time outside the model")
        answered = self.rows - sum(self.errors.values())
        if answered:
            parts.append(f"{self.truncated / answered:.0%} cut off by --max-tokens")
        parts += [f"{count} rows failed ({kind})" for kind, count in sorted(self.errors.items())]
        return "; ".join(parts)

    @property
    def often_truncated(self) -> bool:
        """Whether too many answers were cut off for a reward to mean much."""
        answered = self.rows - sum(self.errors.values())
        return answered > 0 and self.truncated / answered > TRUNCATED
