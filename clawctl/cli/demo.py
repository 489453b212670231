"""`clawctl demo`: the loop from nothing to a better model, for someone to watch."""

from __future__ import annotations

import json
import logging
from typing import Annotated

import typer

from clawctl.cli.options import Json, ModelOption, Quiet, Seed
from clawctl.cli.run import quiet
from clawctl.looping.defaults import GROUPS, MINUTES, ROUNDS, SAMPLES

log = logging.getLogger("clawctl.demo")


def command(
    directory: Annotated[str, typer.Argument(help="The folder to do it in; made when it is not there.", metavar="[DIR]")] = "demo",
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Rounds after the warm-up.")] = ROUNDS,
    minutes: Annotated[float, typer.Option(min=0, help="Begin no round that would end later than this.")] = MINUTES,
    groups: Annotated[int, typer.Option(min=1, help="Tasks a round.")] = GROUPS,
    samples: Annotated[int, typer.Option(min=2, help="Answers a task.")] = SAMPLES,
    seed: Seed = 0,
    model: ModelOption = "starter",
    as_json: Json = False,
    q: Quiet = False,
) -> None:
    """Watch a small model get better, start to end, in a fresh folder.

    In: nothing; the bundled tasks and the packaged model will do. Out: a workspace with an adapter in service, and a table of held-out
    pass rates: bare model, warm-up, every round. Stopped, the same command goes on.

    Example: clawctl demo demo --rounds 2
    """
    from pathlib import Path

    from clawctl.looping.demo import demonstrate, story
    from clawctl.looping.recipe import recipe_in
    from clawctl.workspace.new import create

    quiet(q)
    ws = create(Path(directory))
    recipe = recipe_in(
        ws,
        model=model,
        tasks=[ws.tasks / "train.jsonl"],
        held_out=[ws.tasks / "heldout.jsonl"],
        warmup=ws.tasks / "warmup.jsonl",
        groups=groups,
        samples=samples,
        seed=seed,
    )
    log.info(
        "workspace %s, model %s: measuring the bare model, a warm-up, then %d rounds or %g minutes",
        directory,
        recipe.model.name,
        rounds,
        minutes,
    )
    rows = demonstrate(ws, recipe, rounds, minutes)
    if as_json:
        print(json.dumps(rows))
    elif not q:
        print("\n".join(story(ws, rows, directory.rstrip("/"))))
