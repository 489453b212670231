"""`clawctl tasks`: make task files, bring in a data set, check task files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawctl.cli.options import Quiet
from clawctl.cli.run import quiet

app = typer.Typer(add_completion=False, no_args_is_help=True)


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
    warmup: Annotated[int, typer.Option(help="Training tasks that get a worked answer.", min=0)] = 64,
    kinds: Annotated[
        str, typer.Option(help="Which kinds, with weights if they are not alike, e.g. sums=2,counting.", metavar="KIND[=WEIGHT],...")
    ] = "all",
    difficulty: Annotated[str, typer.Option(help="Lowest and highest difficulty, 0 to 1.", metavar="LOW:HIGH")] = "0:1",
    q: Quiet = False,
) -> None:
    """Make train.jsonl, heldout.jsonl and warmup.jsonl from a seed.

    Out: three task files in DIR, replaced whole. The kinds: comparison, sums, ordering, counting, extraction, commands.

    Example: clawctl tasks make my-tasks --seed 7 --train 600 --kinds sums=2,counting
    """
    import logging

    from clawctl.records.streams import Writer
    from clawctl.tasks.make import make as make_files
    from clawctl.tasks.options import bounds_of, mix_of

    quiet(q)
    files = make_files(seed=seed, train=train, heldout=heldout, warmup=warmup, mix=mix_of(kinds), difficulty=bounds_of(difficulty))
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        with Writer(folder / f"{name}.jsonl") as out:
            out.write_all(rows)
        logging.getLogger("clawctl").info("%s: %d tasks", folder / f"{name}.jsonl", len(rows))
