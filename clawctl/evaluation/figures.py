"""What judged rows amount to: pass rate with its interval, format, answers, truncation, by type.

The unit is the task: its samples are averaged first, so that a task with more samples weighs no more. What could not be scored
is counted apart, and is in no rate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from clawctl.adapters.gate import resampled_means
from clawctl.judges.verdict import passed

Row = dict[str, Any]


def summary(rows: Sequence[Row], *, seed: int = 0) -> dict[str, Any]:
    """The figures of all rows, and `types`: the same for each task type.

    `ci95` is the percentile bootstrap interval of the pass rate over tasks (Efron and Tibshirani 1993); a rate is null where no
    row could be scored.
    """
    by_type: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_type[(row.get("task") or {}).get("type") or "free"].append(row)
    return {**_figures(rows, seed), "types": {name: _figures(by_type[name], seed) for name in sorted(by_type)}}


def pass_rates(rows: Iterable[Row]) -> dict[str, float | None]:
    """Task id -> share of its scored samples that passed; None where none could be scored."""
    verdicts: dict[str, list[bool | None]] = defaultdict(list)
    for row in rows:
        verdicts[row["task_id"]].append(passed(row))
    return {task: _mean([float(v) for v in found if v is not None]) for task, found in verdicts.items()}


def _figures(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    rates = [rate for rate in pass_rates(rows).values() if rate is not None]
    answered = [row for row in rows if not row.get("error")]
    scored = [row for row in answered if passed(row) is not None]
    return {
        "tasks": len({row["task_id"] for row in rows}),
        "rows": len(rows),
        "unscored": len(rows) - len(scored),
        "pass_rate": _mean(rates),
        "ci95": _interval(rates, seed),
        "mean_reward": _by_task(scored, lambda row: row.get("reward")),
        "format_rate": _by_task(scored, lambda row: _part(row, "format")),
        "answer_rate": _by_task(scored, lambda row: _part(row, "answer")),
        "truncated": _by_task(answered, lambda row: float(row.get("finish_reason") == "length")),
        "completion_tokens": _by_task(answered, lambda row: float(len(row.get("completion_token_ids") or []))),
    }


def _by_task(rows: Iterable[Row], value: Any) -> float | None:
    """The mean over tasks of the mean over samples; rows where `value` is None are left out."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if (got := value(row)) is not None:
            found[row["task_id"]].append(float(got))
    return _mean([sum(values) / len(values) for values in found.values()])


def _part(row: Row, name: str) -> float | None:
    """1 where this part of the reward is full, 0 where it is not."""
    part = (row.get("reward_parts") or {}).get(name)
    return None if part is None else float(part >= 1.0)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _interval(rates: Sequence[float], seed: int) -> list[float] | None:
    if not rates:
        return None
    low, high = np.quantile(resampled_means(np.array(rates, dtype=np.float64), seed), [0.025, 0.975])
    return [float(low), float(high)]
