"""`clawctl loop`: all stages in turn, round after round."""

from __future__ import annotations

import json
import logging
from typing import Annotated

import typer

from clawctl.cli.options import DryRun, Json, ModelOption, Quiet, Seed, WorkspaceOption, located
from clawctl.cli.run import quiet
from clawctl.looping.defaults import (
    GROUPS,
    KL_COEF,
    LR,
    LR_WARMUP,
    MAX_TOKENS,
    MINIBATCH,
    OLD,
    SAMPLES,
    SCHEDULE,
    TEMPERATURE,
    WARMUP_EPOCHS,
    WARMUP_LR,
)

ROUND, TRAINING, GATE = "A round", "Training", "The gate"
THEIRS = "  [default: the algorithm's]"
TRAIN, HELD_OUT = ["data/tasks/train.jsonl"], ["data/tasks/heldout.jsonl"]
log = logging.getLogger("clawctl.loop")


def command(
    ctx: typer.Context,
    rounds: Annotated[int | None, typer.Option(min=1, help="So many rounds.  [default: 1]", show_default=False)] = None,
    until: Annotated[int | None, typer.Option(min=0, help="Go on until this round is done, counted from the workspace's first.")] = None,
    tasks: Annotated[list[str], typer.Option(help="Task files to sample.", metavar="FILE", rich_help_panel=ROUND)] = TRAIN,
    groups: Annotated[int, typer.Option(min=1, help="Tasks a round.", rich_help_panel=ROUND)] = GROUPS,
    samples: Annotated[int, typer.Option(min=2, help="Answers a task.", rich_help_panel=ROUND)] = SAMPLES,
    temperature: Annotated[float, typer.Option(min=0.01, help="How answers are drawn.", rich_help_panel=ROUND)] = TEMPERATURE,
    max_tokens: Annotated[int, typer.Option(min=1, help="The longest answer.", rich_help_panel=ROUND)] = MAX_TOKENS,
    algorithm: Annotated[str, typer.Option(help="How to train on the answers.", rich_help_panel=TRAINING)] = "grpo",
    lr: Annotated[float, typer.Option(help="Learning rate.", rich_help_panel=TRAINING)] = LR,
    lr_warmup: Annotated[int, typer.Option(min=0, help="First steps, in which the rate rises.", rich_help_panel=TRAINING)] = LR_WARMUP,
    schedule: Annotated[str, typer.Option(help="The rate within a round: constant or linear (to 0).", rich_help_panel=TRAINING)] = SCHEDULE,
    epochs: Annotated[int | None, typer.Option(min=1, help=f"Passes over a batch.{THEIRS}", rich_help_panel=TRAINING)] = None,
    minibatch: Annotated[int, typer.Option(min=0, help="Groups an optimiser step, 0 for all.", rich_help_panel=TRAINING)] = MINIBATCH,
    kl_coef: Annotated[float, typer.Option(min=0, help="Weight of the KL term.", rich_help_panel=TRAINING)] = KL_COEF,
    old: Annotated[
        str, typer.Option(help="Whose log-probabilities the ratio is against: trainer or sampler.", rich_help_panel=TRAINING)
    ] = OLD,
    warmup: Annotated[
        str, typer.Option(help="Worked answers to learn the format from, before the first round.", metavar="FILE", rich_help_panel=TRAINING)
    ] = "data/tasks/warmup.jsonl",
    no_warmup: Annotated[bool, typer.Option("--no-warmup", help="Start from the bare model.", rich_help_panel=TRAINING)] = False,
    warmup_lr: Annotated[float, typer.Option(help="Learning rate of the warm-up.", rich_help_panel=TRAINING)] = WARMUP_LR,
    warmup_epochs: Annotated[int, typer.Option(min=1, help="Passes over the worked answers.", rich_help_panel=TRAINING)] = WARMUP_EPOCHS,
    rank: Annotated[int | None, typer.Option(min=1, help=f"Of the first adapter.{THEIRS}", rich_help_panel=TRAINING)] = None,
    eval: Annotated[list[str], typer.Option(help="Task files to measure on.", metavar="FILE", rich_help_panel=GATE)] = HELD_OUT,
    min_gain: Annotated[float, typer.Option(help="The least gain in pass rate.", rich_help_panel=GATE)] = 0.0,
    confidence: Annotated[float, typer.Option(help="The least P(gain > 0).", rich_help_panel=GATE)] = 0.9,
    seed: Seed = 0,
    model: ModelOption = "starter",
    dry_run: DryRun = False,
    as_json: Json = False,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Run the loop: generate, judge, buffer, train, promote, N rounds.

    In: task files. Out: an adapter a round in data/adapters, and the one that is measurably best behind data/adapters/current. A round
    goes on from the newest adapter, proven or not; one that is measurably worse is left. Stopped at any moment, the next call finishes
    the interrupted round first, which counts as one of N. One loop a workspace: a second one exits 75.

    Example: clawctl loop --rounds 3
    """
    from clawctl.adapters.promotion import Gate
    from clawctl.errors import Usage
    from clawctl.evaluation.exam import questions
    from clawctl.looping.recipe import recipe_in
    from clawctl.looping.report import progress_rows, table_lines
    from clawctl.looping.rounds import forecast, run, timings
    from clawctl.looping.stages import TABLE
    from clawctl.workspace.paths import Workspace

    quiet(q)
    if rounds and until is not None:
        raise Usage("--rounds and --until exclude one another")
    ws = Workspace.find(workspace)
    recipe = recipe_in(
        ws,
        model=model,
        tasks=located(ctx, "tasks", tasks, ws),
        held_out=located(ctx, "eval", eval, ws),
        warmup=None if no_warmup else located(ctx, "warmup", [warmup], ws)[0],
        groups=groups,
        samples=samples,
        temperature=temperature,
        max_tokens=max_tokens,
        algorithm=algorithm,
        settings={"kl_coef": kl_coef},
        training={"lr": lr, "warmup": lr_warmup, "schedule": schedule, "epochs": epochs, "minibatch": minibatch, "old": old},
        warming={"lr": warmup_lr, "epochs": warmup_epochs},
        rank=rank,
        gate=Gate(min_gain, confidence, seed=seed),
        seed=seed,
    )
    wanted = {"until": until} if until is not None else {"rounds": rounds or 1}
    if dry_run:
        questions(recipe.tasks)  # says what is wrong with them
        print(f"to do: {forecast(ws, recipe, **wanted)}")
        return
    done = []
    for figures in run(ws, recipe, TABLE, **wanted):
        done.append(figures)
    if as_json:
        print(json.dumps(done))
    elif not q:
        ours = {figures["round"] for figures in done}
        print("\n".join(table_lines([row for row in progress_rows(timings(ws)) if row["round"] in ours])))
