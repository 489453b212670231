"""`clawctl eval`: how good is this model, with this adapter, on these tasks?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from clawctl.cli.options import OUTPUT, Json, ModelOption, Quiet, Seed, WorkspaceOption
from clawctl.cli.run import quiet


def command(
    tasks: Annotated[list[str], typer.Argument(help="Task files.", metavar="TASKS", show_default=False)],
    adapter: Annotated[str, typer.Option("--adapter", "-a", help="current, none, latest, vNNN or a folder.")] = "current",
    samples: Annotated[int, typer.Option(min=1, help="Answers a task; 1 is greedy.")] = 1,
    temperature: Annotated[float, typer.Option(min=0, help="For more than one sample.")] = 1.0,
    max_tokens: Annotated[int, typer.Option(min=1, help="The longest answer.")] = 96,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many tasks, drawn by the seed.")] = None,
    cache: Annotated[bool, typer.Option(help="Use the answers kept in data/evals.")] = True,
    seed: Seed = 0,
    model: ModelOption = "starter",
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the judged answers here.", rich_help_panel=OUTPUT)] = None,
    as_json: Json = False,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Measure a model or an adapter on tasks.

    Task files in; pass rate (strict format and right answer) with its 95% interval, format, answers and reward out, by type. The
    judged answers go to --output. Answers are kept, so that the same question to the same adapter is answered at once.

    Example: clawctl eval data/tasks/heldout.jsonl --adapter none --limit 10
    """
    from clawctl.adapters import versions
    from clawctl.evaluation.exam import Exam, answers, greedy_or, questions
    from clawctl.evaluation.figures import summary
    from clawctl.evaluation.report import report_lines
    from clawctl.records.streams import Writer
    from clawctl.workspace import models
    from clawctl.workspace.paths import Workspace

    quiet(q)
    ws = Workspace.find_or_none(workspace)
    exam = Exam(models.resolve(model, ws), questions(tasks, limit, seed), greedy_or(temperature, samples, max_tokens), samples, seed)
    ref = versions.resolve(ws, adapter)
    rows = answers(exam, ref, ws, cache=cache)
    if output:
        with Writer(output) as out:
            out.write_all(rows)
    figures = {
        "model": exam.model.name,
        "base_sha256": models.base_sha256(exam.model.file, ws.models if ws else None),
        "adapter": ref and ref.name,
        "adapter_sha256": ref and ref.sha256,
        "samples": samples,
        "seed": seed,
        **summary(rows, seed=seed),
    }
    if as_json:
        print(json.dumps(figures))
    elif not q:
        print(f"{figures['model']} with {'adapter ' + ref.name if ref else 'no adapter'}")
        print("\n".join(report_lines(figures)))
