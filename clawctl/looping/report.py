"""What a loop came to, from its log: held-out figures after every round, and where the time went."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clawctl.evaluation.report import rate
from clawctl.looping.state import STAGES, WARMUP

BASE = "base"  # the stage of the log that measures the bare model before anything is trained
Entry = dict[str, Any]


def progress_rows(entries: Iterable[Entry]) -> list[Entry]:
    """One row for the base model and for every round: name, version, pass_rate, format_rate, decision, seconds.

    A stage that was run again after an interruption counts with its last figures; a round without a candidate has no rates.
    """
    rounds: dict[int, Entry] = {}
    for entry in entries:
        row = rounds.setdefault(entry["round"], {"round": entry["round"], "version": None, "decision": None, "seconds": {}})
        row["seconds"][entry["stage"]] = entry["seconds"]
        if entry["stage"] in (BASE, "promote"):
            row |= {"version": entry.get("candidate"), "decision": entry.get("decision")}
            row |= {key: entry.get(key) for key in ("pass_rate", "ci95", "format_rate")}
    return [rounds[number] for number in sorted(rounds)]


def seconds_by_stage(rows: Iterable[Entry]) -> dict[str, float]:
    """Seconds of every stage over all rounds, in the order of the stages."""
    total: dict[str, float] = {}
    for row in rows:
        for stage, seconds in row["seconds"].items():
            total[stage] = round(total.get(stage, 0.0) + seconds, 1)
    return {stage: total[stage] for stage in (BASE, *STAGES) if stage in total}


def table_lines(rows: list[Entry]) -> list[str]:
    """The rows for people, then a line on the time."""
    lines = [f"{'':<12} {'adapter':<8} {'pass':>6} {'format':>7}  {'gate':<18} {'seconds':>7}"]
    for row in rows:
        seconds = sum(row["seconds"].values())
        lines.append(
            f"{_name(row['round']):<12} {row['version'] or '-':<8} {rate(row.get('pass_rate')):>6} {rate(row.get('format_rate')):>7}  "
            f"{row['decision'] or '-':<18} {seconds:>7.0f}"
        )
    spent = seconds_by_stage(rows)
    parts = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in spent.items() if seconds >= 0.5)
    return [*lines, f"time: {parts}; {sum(spent.values()) / 60:.1f} minutes in all"]


def _name(round_: int) -> str:
    return "base model" if round_ < WARMUP else "warm-up" if round_ == WARMUP else f"round {round_}"
