"""An evaluation for people: the figures of all tasks, then a line a type."""

from __future__ import annotations

from typing import Any

COLUMNS = ("pass_rate", "format_rate", "answer_rate", "mean_reward", "truncated")
HEADS = ("pass", "format", "answer", "reward", "truncated")


def report_lines(figures: dict[str, Any]) -> list[str]:
    """`figures` as evaluation.figures.summary makes them."""
    width = max([len("all"), *(len(name) for name in figures["types"])])
    lines = [f"{'':<{width}} {'tasks':>6} " + " ".join(f"{head:>9}" for head in HEADS)]
    for name, row in [("all", figures), *figures["types"].items()]:
        lines.append(f"{name:<{width}} {row['tasks']:>6} " + " ".join(f"{rate(row[column]):>9}" for column in COLUMNS))
    if figures["ci95"]:
        low, high = figures["ci95"]
        lines.append(f"pass rate {figures['pass_rate']:.3f}, 95% between {low:.3f} and {high:.3f}")
    if figures["unscored"]:
        lines.append(f"{figures['unscored']} of {figures['rows']} answers could not be scored and are in no rate")
    return lines


def rate(value: float | None) -> str:
    """Three digits, or a dash for what is not known."""
    return "-" if value is None else f"{value:.3f}"
