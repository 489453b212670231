"""The demonstration: a fresh workspace, the bare model measured, the warm-up, some rounds, and what came of it."""

from __future__ import annotations

import logging
import math
import time
from typing import Any

from clawctl.adapters import versions
from clawctl.evaluation.exam import answers
from clawctl.evaluation.figures import summary
from clawctl.evaluation.report import rate
from clawctl.looping.recipe import Recipe
from clawctl.looping.report import BASE, progress_rows, table_lines
from clawctl.looping.rounds import run, timings
from clawctl.looping.stages import GATED, TABLE
from clawctl.looping.state import WARMUP, load
from clawctl.records.ids import now
from clawctl.workspace.paths import Workspace

log = logging.getLogger(__name__)


def demonstrate(ws: Workspace, recipe: Recipe, rounds: int, minutes: float = math.inf) -> list[dict[str, Any]]:
    """Measure the bare model, warm up, run `rounds` rounds; the rows of the table. Stopped, the next call goes on.

    minutes: no round is begun that would end later, if it took as long as the longest so far.
    """
    if not any(entry["stage"] == BASE for entry in timings(ws)):
        measure_base(ws, recipe)
    for last in range(rounds + 1):
        if load(ws).finished and _overtime(progress_rows(timings(ws)), minutes):
            log.info("no time for round %d in %g minutes", last, minutes)
            break
        for _ in run(ws, recipe, TABLE, until=last):
            pass
    return progress_rows(timings(ws))


def _overtime(rows: list[dict[str, Any]], minutes: float) -> bool:
    """Whether another sampled round would end after that."""
    took = [sum(row["seconds"].values()) for row in rows]
    sampled = [seconds for row, seconds in zip(rows, took, strict=True) if row["round"] > WARMUP]
    return bool(sampled) and sum(took) + max(sampled) > minutes * 60


def measure_base(ws: Workspace, recipe: Recipe) -> None:
    """The bare model on the held-out tasks, into the loop's log; the gate finds the answers later."""
    started = time.monotonic()
    figures = summary(answers(recipe.exam, None, ws), seed=recipe.gate.seed)
    seconds = round(time.monotonic() - started, 1)
    timings(ws).append({"round": -1, "stage": BASE, "seconds": seconds, **{key: figures[key] for key in GATED}, "created": now()})
    log.info("base model: held-out pass rate %s, format %s (%.0f s)", rate(figures["pass_rate"]), rate(figures["format_rate"]), seconds)


def story(ws: Workspace, rows: list[dict[str, Any]], place: str) -> list[str]:
    """The end of the demonstration for people. place: the workspace as they named it."""
    name = versions.current_name(ws)
    served = f"{place}/data/adapters/current -> {name}" if name else "none: no adapter was measurably better than the base model"
    return [
        "",
        *table_lines(rows),
        f"in service: {served}",
        "",
        "next:",
        f"  cd {place}",
        "  clawctl loop --rounds 3                     # go on",
        "  clawctl eval data/tasks/heldout.jsonl       # what is in service, by type of task",
        "  clawctl generate data/tasks/heldout.jsonl -n 1 | head -1      # one of its answers",
        "  clawctl promote --list                      # every version, and why it was served or not",
    ]
