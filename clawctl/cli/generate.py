"""`clawctl generate`: tasks in, sampled rollouts out."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from clawctl.cli.options import (
    OUTPUT,
    Inputs,
    ModelOption,
    OnError,
    OnErrorOption,
    Output,
    Quiet,
    Rejects,
    Seed,
    WorkspaceOption,
    inputs_or_usage,
    refuse_if_none,
)
from clawctl.cli.run import quiet

SAMPLING, ENGINE = "Sampling", "Model and engine"
Requantize = StrEnum("Requantize", ["auto", "none", "f16", "q8_0", "q4_0"])
log = logging.getLogger("clawctl")


def command(
    files: Inputs = None,
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, help="Answers a task.", rich_help_panel=SAMPLING)] = 8,
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.", rich_help_panel=SAMPLING)] = 1.0,
    top_p: Annotated[float, typer.Option(min=0, max=1, help="Only the likeliest tokens with this mass.", rich_help_panel=SAMPLING)] = 1.0,
    top_k: Annotated[int, typer.Option(min=0, help="Only so many of the likeliest tokens; 0 is all.", rich_help_panel=SAMPLING)] = 0,
    min_p: Annotated[
        float, typer.Option(min=0, max=1, help="Only tokens this likely against the likeliest.", rich_help_panel=SAMPLING)
    ] = 0.0,
    max_tokens: Annotated[int, typer.Option(min=1, help="The longest answer.", rich_help_panel=SAMPLING)] = 96,
    stop: Annotated[list[str] | None, typer.Option(help="End an answer before this text; repeatable.", rich_help_panel=SAMPLING)] = None,
    seed: Seed = 0,
    round_: Annotated[int, typer.Option("--round", min=0, help="Another round draws other answers.", rich_help_panel=SAMPLING)] = 0,
    system: Annotated[
        str | None, typer.Option(help="A file with the system prompt, or `none`.  [default: the step format]", metavar="FILE")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    model: ModelOption = "starter",
    adapter: Annotated[
        str, typer.Option("--adapter", "-a", help="current, none, latest, vNNN or a folder.", rich_help_panel=ENGINE)
    ] = "current",
    engine: Annotated[str | None, typer.Option(help="llama or scripted.  [default: the model's]", rich_help_panel=ENGINE)] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Answers sampled at once.", rich_help_panel=ENGINE)] = 32,
    threads: Annotated[int | None, typer.Option(min=1, help="Default: one a core.", show_default=False, rich_help_panel=ENGINE)] = None,
    context: Annotated[int, typer.Option(min=16, help="The most tokens of prompt and answer.", rich_help_panel=ENGINE)] = 4096,
    requantize: Annotated[
        Requantize, typer.Option(help="Use the weights in this format; auto expands small ones to f16.", rich_help_panel=ENGINE)
    ] = Requantize("auto"),
    output: Output = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep rows in OUTPUT.part, and go on from there.", rich_help_panel=OUTPUT)
    ] = False,
    rejects: Rejects = None,
    on_error: OnErrorOption = OnError.skip,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; load nothing.", rich_help_panel=OUTPUT)] = False,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Sample answers: tasks in, rollouts out.

    Task rows in; for each task `--samples` rollouts out, as they come: completion, steps, answer, token ids, log-probabilities, and who
    answered. The same command on the same machine gives the same rows. A task that cannot be answered, e.g. because it does not fit the
    context, gives rows with an `error`.

    Example: clawctl generate data/tasks/heldout.jsonl --limit 2 -n 2 --max-tokens 32
    """
    from clawctl.adapters import versions
    from clawctl.engines import SamplingParams, open_engine
    from clawctl.evaluation.ticker import counted
    from clawctl.generation.intake import Intake
    from clawctl.generation.prompts import read_system
    from clawctl.generation.resume import Part, Settings, sink
    from clawctl.generation.stage import generate
    from clawctl.generation.tally import Tally
    from clawctl.records.streams import Reader
    from clawctl.workspace import models
    from clawctl.workspace.paths import Workspace

    quiet(q)
    ws = Workspace.find_or_none(workspace)
    chosen, ref = models.resolve(model, ws), versions.resolve(ws, adapter)
    chosen = replace(chosen, engine=engine) if engine else chosen
    params = SamplingParams(temperature, top_p, top_k, min_p, max_tokens, tuple(stop or ()))
    prompt = read_system(system)
    intake = Intake(Reader(inputs_or_usage(files), "task", on_error=on_error.value, rejects=rejects), limit)
    if dry_run:
        log.info("%d tasks x %d answers by %s with %s", intake.drain(), samples, chosen.name, ref.name if ref else "no adapter")
        return
    options = {"threads": threads, "context": context, "parallel": parallel, "requantize": requantize.value}
    tally = Tally()
    with closing(open_engine(chosen, ref, cache=ws.models if ws else None, **options)) as opened:
        settings = Settings(opened.policy, params, seed, round_, prompt)
        with sink(output, settings if resume else None) as out:
            owed = out.owed if isinstance(out, Part) else None
            rows = generate(intake, opened, params, samples=samples, seed=seed, round_=round_, system=prompt, owed=owed)
            out.write_all(counted(tally.count(rows), None, "rows") if output else tally.count(rows))
        log.info("%s", tally.line(opened.overhead()))
    refuse_if_none(intake.reader)
    if tally.often_truncated:
        log.warning("many answers were cut off: raise --max-tokens, or they can hardly be right")
