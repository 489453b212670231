"""`clawctl promote`: the gate before `data/adapters/current`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from clawctl.cli.options import DryRun, Json, ModelOption, Quiet, Seed, WorkspaceOption, located
from clawctl.cli.run import quiet

GATE = "The gate"
HELD_OUT = ["data/tasks/heldout.jsonl"]


def command(
    ctx: typer.Context,
    version: Annotated[str, typer.Argument(help="The candidate: vNNN, or latest.")] = "latest",
    eval: Annotated[list[str], typer.Option(help="Task files to measure on.", metavar="FILE", rich_help_panel=GATE)] = HELD_OUT,
    min_gain: Annotated[float, typer.Option(help="The least gain in pass rate.", rich_help_panel=GATE)] = 0.0,
    confidence: Annotated[float, typer.Option(help="The least P(gain > 0).", rich_help_panel=GATE)] = 0.9,
    samples: Annotated[int, typer.Option(min=1, help="Answers a task; 1 is greedy.", rich_help_panel=GATE)] = 1,
    temperature: Annotated[float, typer.Option(min=0, help="For more than one sample.", rich_help_panel=GATE)] = 1.0,
    max_tokens: Annotated[int, typer.Option(min=1, help="The longest answer.", rich_help_panel=GATE)] = 96,
    cache: Annotated[bool, typer.Option(help="Use the answers kept in data/evals.", rich_help_panel=GATE)] = True,
    force: Annotated[bool, typer.Option("--force", help="Serve it unmeasured.")] = False,
    rollback: Annotated[bool, typer.Option("--rollback", help="Serve what was served before.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the versions and what was decided.")] = False,
    seed: Seed = 0,
    model: ModelOption = "starter",
    dry_run: DryRun = False,
    as_json: Json = False,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Put the candidate in service if it is measurably better.

    Candidate and `current` (or the base model) answer the same tasks with the same seeds; the link data/adapters/current moves when
    the gain is at least --min-gain and a paired bootstrap over tasks gives P(gain > 0) of at least --confidence. Else: exit 3.

    Example: clawctl promote v002 --eval data/tasks/heldout.jsonl
    """
    from clawctl.adapters import promotion, serving
    from clawctl.errors import Usage
    from clawctl.workspace.paths import Workspace

    quiet(q)
    ws = Workspace.find(workspace)
    if sum((rollback, list_, force)) > 1:
        raise Usage("--rollback, --list and --force exclude one another")
    if list_:
        from clawctl.adapters.shelf import shelf, shelf_lines

        rows = shelf(ws)
        print(json.dumps(rows) if as_json else "\n".join(shelf_lines(rows)))
    elif rollback:
        entry = serving.preview(ws) if dry_run else serving.rollback(ws)
        _say(entry, f"{_name(entry['version'])} is in service instead of {_name(entry['previous'])}", as_json, q, dry_run)
    else:
        from clawctl.evaluation.exam import Exam, greedy_or, questions, rates_by
        from clawctl.workspace import models

        named = models.resolve(model, ws)
        ref = promotion.candidate(ws, version, models.base_sha256(named.file, ws.models))
        if force:
            outcome = promotion.force(ws, ref, write=not dry_run)
        else:
            tasks = questions(located(ctx, "eval", eval, ws))
            exam = Exam(named, tasks, greedy_or(temperature, samples, max_tokens), samples, seed)
            gate = promotion.Gate(min_gain, confidence, seed=seed)
            outcome = promotion.stand(ws, ref, rates_by(exam, ws, cache=cache, write=not dry_run), gate, write=not dry_run)
        _say(outcome.row(), outcome.sentence(), as_json, q, dry_run)
        if outcome.decision == promotion.REFUSED:
            raise typer.Exit(3)


def _say(row: dict[str, Any], sentence: str, as_json: bool, q: bool, dry_run: bool) -> None:
    if as_json:
        print(json.dumps({**row, "dry_run": dry_run}))
    elif not q:
        print(f"{sentence} (dry run, nothing written)" if dry_run else sentence)


def _name(version: str | None) -> str:
    return version or "the base model"
