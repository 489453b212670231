"""`clawctl tasks`: make task files, bring in a data set, check task files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from clawctl.cli.options import Json, Output, Quiet
from clawctl.cli.run import quiet
from clawctl.tasks.tables import Format

if TYPE_CHECKING:
    from clawctl.tasks.checking import Report

log = logging.getLogger("clawctl.tasks")
Verifier = Literal["number", "exact", "choice", "math", "regex", "contains", "code", "json"]
COLUMNS = "Columns"

app = typer.Typer(add_completion=False)


@app.callback()
def tasks() -> None:
    """Make task files: from a data set, or the bundled kinds.

    Example: clawctl tasks make data/tasks --seed 0
    """


@app.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where train.jsonl, heldout.jsonl and warmup.jsonl go.", metavar="DIR")],
    seed: Annotated[int, typer.Option(help="Another seed draws other facts of the same difficulty.")] = 0,
    train: Annotated[int, typer.Option(help="Tasks to train on.", min=0)] = 480,
    heldout: Annotated[int, typer.Option(help="Tasks to measure on; none of their facts is in train.jsonl.", min=0)] = 120,
    warmup: Annotated[int, typer.Option(help="Training tasks that get a worked answer.", min=0)] = 36,
    kinds: Annotated[
        str, typer.Option(help="Which kinds, with weights if they are not alike, e.g. sums=2,counting.", metavar="KIND[=WEIGHT],...")
    ] = "all",
    difficulty: Annotated[str, typer.Option(help="Lowest and highest difficulty, 0 to 1.", metavar="LOW:HIGH")] = "0:1",
    q: Quiet = False,
) -> None:
    """Make the bundled kinds of tasks from a seed.

    Out: three task files in DIR, replaced whole. The kinds: comparison, sums, ordering, counting, extraction, commands.

    Example: clawctl tasks make my-tasks --seed 7 --train 600 --kinds sums=2,counting
    """
    from clawctl.records.streams import Writer
    from clawctl.tasks.make import make as make_files
    from clawctl.tasks.options import bounds_of, mix_of

    quiet(q)
    files = make_files(seed=seed, train=train, heldout=heldout, warmup=warmup, mix=mix_of(kinds), difficulty=bounds_of(difficulty))
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        with Writer(folder / f"{name}.jsonl") as out:
            out.write_all(rows)
        log.info("%s: %d tasks", folder / f"{name}.jsonl", len(rows))


@app.command("from-dataset")
def from_dataset(
    source: Annotated[str, typer.Argument(help="A file (.parquet, .csv, .json, .jsonl), a folder, or a data set's name on the hub.")],
    prompt: Annotated[str, typer.Option("--prompt-column", help="What is asked. Dots go inside: data.question.", rich_help_panel=COLUMNS)],
    answer: Annotated[str, typer.Option("--answer-column", help="The right answer, e.g. answers.text.0.", rich_help_panel=COLUMNS)],
    answer_regex: Annotated[
        str | None, typer.Option(help="The answer is the last match (its first group) in the cell.", rich_help_panel=COLUMNS)
    ] = None,
    id_: Annotated[str | None, typer.Option("--id-column", help="Ids; else made from row and prompt.", rich_help_panel=COLUMNS)] = None,
    choices: Annotated[
        str | None, typer.Option("--choices-column", help="The options, for --verify choice.", rich_help_panel=COLUMNS)
    ] = None,
    solution: Annotated[
        str | None, typer.Option("--solution-column", help="A worked answer; each line becomes a step.", rich_help_panel=COLUMNS)
    ] = None,
    type_: Annotated[str | None, typer.Option("--type", help="The tasks' type, e.g. math.")] = None,
    verify: Annotated[Verifier, typer.Option(help="How an answer is compared with the right one.")] = "exact",
    split: Annotated[str, typer.Option(help="Of a hub data set or a folder.")] = "train",
    config: Annotated[str | None, typer.Option(help="Of a hub data set, e.g. main.")] = None,
    limit: Annotated[int | None, typer.Option(help="No more than so many tasks.", min=1)] = None,
    format_: Annotated[Format, typer.Option("--format", help="What SOURCE is; auto tells by its name.")] = "auto",
    output: Output = None,
    q: Quiet = False,
) -> None:
    """Turn a data set into tasks.

    In: a file, a folder or a data set's name on the Hugging Face hub. Out: a task a row; a row without a prompt or an answer
    is reported and left out. For answers such as GSM8K's, which end in "#### 36": --answer-regex "#### (.+)" --verify number.

    Example: clawctl tasks from-dataset data/tasks/heldout.jsonl --prompt-column prompt --answer-column verify.answer --limit 2
    """
    from itertools import islice

    from clawctl.errors import No
    from clawctl.records.streams import Writer
    from clawctl.tasks.dataset import Mapping, Source
    from clawctl.tasks.tables import rows

    quiet(q)
    mapping = Mapping(prompt, answer, id_, solution, choices, answer_regex, type_, verify)
    made = Source(rows(source, split=split, config=config, format_=format_), mapping, Path(source).name.partition(".")[0])
    with Writer(output) as out:
        written = out.write_all(islice(made, limit))
        if not written:
            raise No(f"no row of {source} became a task ({made.skipped} skipped)")
    log.info("%d tasks, %d rows skipped", written, made.skipped)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(help="Task files.", metavar="FILE...")],
    as_json: Json = False,
    q: Quiet = False,
) -> None:
    """Check task files and count them by type.

    Wrong are rows that are no task, an id used twice, a worked answer that does not verify. Out: tasks, worked answers and
    tasks without a verifier, by type. Exit 3 when something is wrong.

    Example: clawctl tasks check data/tasks/train.jsonl data/tasks/heldout.jsonl
    """
    from clawctl.errors import No
    from clawctl.tasks.checking import check_files

    quiet(q)
    report = check_files(files)
    if as_json:
        import json

        print(json.dumps(vars(report)))
    elif not q:
        show(report)
    if report.wrong:
        raise No(f"{report.wrong} things are wrong")


def show(report: Report) -> None:
    """A line a type, and the sum."""
    width = max([5, *map(len, report.tasks)])
    print(f"{'type':<{width}}  tasks  worked  unverified")
    for kind in sorted(report.tasks):
        print(f"{kind:<{width}}  {report.tasks[kind]:>5}  {report.worked[kind]:>6}  {report.unverified[kind]:>10}")
    print(f"{'all':<{width}}  {report.tasks.total():>5}  {report.worked.total():>6}  {report.unverified.total():>10}")
