"""What went through the stage, counted on the way: the summary that a person reads at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from clawctl.judges.verdict import passed

Row = dict[str, Any]


class Tally:
    """Counts of rows, rewards and passes, and why rows have no reward."""

    def __init__(self) -> None:
        self.rows = self.rewarded = self.decided = self.passes = 0
        self.total = 0.0
        self.unscorable: Counter[str] = Counter()

    def count(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows as they are, counted."""
        for row in rows:
            self.add(row)
            yield row

    def add(self, row: Row) -> None:
        """Count one judged row."""
        self.rows += 1
        reward, verdict = row.get("reward"), passed(row)
        if reward is None:
            self.unscorable[_why(row)] += 1
            return
        self.rewarded += 1
        self.total += reward
        if verdict is not None:
            self.decided += 1
            self.passes += verdict

    def line(self, bad: int) -> str:
        """One line: rows, mean reward, pass rate, what could not be scored and why, and `bad` input lines."""
        said = [f"{self.rows} rows"]
        if self.rewarded:
            said.append(f"mean reward {self.total / self.rewarded:.3f}")
        if self.decided:
            said.append(f"{self.passes} of {self.decided} pass ({self.passes / self.decided:.1%})")
        if self.unscorable:
            reasons = ", ".join(f"{kind} {count}" for kind, count in self.unscorable.most_common())
            said.append(f"{self.unscorable.total()} without a reward ({reasons})")
        if bad:
            said.append(f"{bad} bad lines")
        return ", ".join(said)


def _why(row: Row) -> str:
    """The kind of the failure that left the row without a reward."""
    if row.get("error"):
        return f"{row['error']['stage']} failed"
    if row.get("finish_reason") == "abort":
        return "aborted"
    for score in (row.get("scores") or {}).values():
        if error := score.get("error"):
            return error["kind"] if isinstance(error, dict) else "failed"
    return "not judged"
