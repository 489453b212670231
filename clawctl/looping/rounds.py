"""Rounds of stages under one lock, each stage noted when it is finished, so that a killed loop goes on where it stopped."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clawctl.looping import line
from clawctl.looping.recipe import Recipe
from clawctl.looping.state import STAGES, WARMUP, State, load, save
from clawctl.records.ids import now
from clawctl.workspace.ledger import Ledger
from clawctl.workspace.locks import lock
from clawctl.workspace.models import base_sha256
from clawctl.workspace.paths import Workspace

log = logging.getLogger(__name__)
Stage = Callable[[Workspace, Recipe, State], dict[str, Any]]  # does the work, notes in the state what it decided, gives figures
SKIPPED_IN_WARMUP = {"generate", "judge", "buffer"}


def run(
    ws: Workspace, recipe: Recipe, stages: Mapping[str, Stage], *, rounds: int | None = None, until: int | None = None
) -> Iterator[dict[str, Any]]:
    """Run `rounds` rounds, or as many as it takes until round `until` is done; yields each round's figures when it ends.

    An interrupted round is finished first and is one of them. The warm-up comes before the first round and is none of them.
    Raises Busy while another loop runs in this workspace.
    """
    with lock(ws.lock_file("loop"), wait=0):
        state = load(ws)
        until = _last(state, rounds, until)
        while True:
            if state.finished:
                state = _next(ws, recipe, state)
                if state.round > until:
                    return
                save(ws, state)
            yield _round(ws, recipe, state, stages)


def forecast(ws: Workspace, recipe: Recipe, *, rounds: int | None = None, until: int | None = None) -> str:
    """What `run` would do now, in a sentence."""
    state = load(ws)
    last, said = _last(state, rounds, until), []
    if not state.finished:
        said.append(f"finish {title(state.round)} from {next(name for name in STAGES if name not in state.done)}")
        state = State(round=state.round, done=list(STAGES))
    upcoming = _next(ws, recipe, state).round
    if upcoming == WARMUP:
        said.append("warm up")
        upcoming = 1
    if upcoming <= last:
        said.append(f"run round {upcoming} to {last}: {recipe.groups} tasks x {recipe.samples} answers each")
    return ", then ".join(said) or "nothing"


def timings(ws: Workspace) -> Ledger:
    """data/loop/log.jsonl: one entry a finished stage, with its seconds and figures."""
    return Ledger(ws.data / "loop" / "log.jsonl")


def title(round_: int) -> str:
    """What a round is called in front of people."""
    return "warm-up" if round_ == WARMUP else f"round {round_}"


def _last(state: State, rounds: int | None, until: int | None) -> int:
    """The round after which to stop. An interrupted round is one of `rounds`, the warm-up is not."""
    if rounds is None:
        return until or 0
    return max(state.round, 0) + rounds - (not state.finished and state.round != WARMUP)


def _next(ws: Workspace, recipe: Recipe, state: State) -> State:
    """The round after a finished one; a loop that has no adapter to start from begins with the warm-up."""
    fresh = state.round < 0 and line.head(ws, base_sha256(recipe.model.file, ws.models)) is None
    return State(round=WARMUP if fresh and recipe.warmup else max(state.round, 0) + 1)


def _round(ws: Workspace, recipe: Recipe, state: State, stages: Mapping[str, Stage]) -> dict[str, Any]:
    figures: dict[str, Any] = {"round": state.round}
    started = time.monotonic()
    for name in STAGES:
        if name in state.done:
            continue
        if state.round != WARMUP or name not in SKIPPED_IN_WARMUP:
            figures[name] = _stage(ws, recipe, state, name, stages[name])
        state.done.append(name)
        save(ws, state)
    return {**figures, "adapter": state.adapter, "candidate": state.candidate, "seconds": round(time.monotonic() - started, 1)}


def _stage(ws: Workspace, recipe: Recipe, state: State, name: str, stage: Stage) -> dict[str, Any]:
    started = time.monotonic()
    figures = stage(ws, recipe, state)
    seconds = round(time.monotonic() - started, 1)
    timings(ws).append({"round": state.round, "stage": name, "seconds": seconds, **figures, "created": now()})
    if said := figures.get("said"):
        log.info("%s: %s (%s s)", title(state.round), said, f"{seconds:.0f}")
    return {**figures, "seconds": seconds}
