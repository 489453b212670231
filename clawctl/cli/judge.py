"""`clawctl judge`: rollouts in, rollouts with scores and a reward out."""

from __future__ import annotations

import logging
from enum import StrEnum
from typing import Annotated

import typer

from clawctl.cli.options import Inputs, OnError, OnErrorOption, Output, Quiet, Rejects, WorkspaceOption, inputs_or_usage, refuse_if_none
from clawctl.cli.run import quiet

REWARD = "Reward"
VERIFY = ["verify"]
Reduce = StrEnum("Reduce", ["product", "min", "mean", "last", "geo-mean", "sum-log"])


def command(
    files: Inputs = None,
    with_: Annotated[
        list[str],
        typer.Option("--with", "-w", help="A judge; repeatable. Judges: verify.", metavar="NAME[:KEY=VALUE,...]"),
    ] = VERIFY,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Rows judged at once; the order stays.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Judge also what these judges have scored before.")] = False,
    weights: Annotated[
        str | None,
        typer.Option(help="What each part weighs.  [default: format=0.2,answer=0.8]", metavar="PART=N,...", rich_help_panel=REWARD),
    ] = None,
    reduce: Annotated[Reduce, typer.Option(help="Step rewards to one reward, for judges of steps.", rich_help_panel=REWARD)] = Reduce(
        "product"
    ),
    reweigh: Annotated[
        bool, typer.Option("--reweigh", help="Judge nothing; make the rewards anew from the stored scores.", rich_help_panel=REWARD)
    ] = False,
    output: Output = None,
    rejects: Rejects = None,
    on_error: OnErrorOption = OnError.skip,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Score answers: rollouts in, rollouts with rewards out.

    Rollouts in, the same rows with `scores`, `reward` and `reward_parts` out, in the same order. `verify` checks the answer as the
    task's `verify` says, and the step format. A row that cannot be scored has reward null and says why in its score. The code of an
    answer runs confined; a task's `command` runs as you.

    Example: clawctl judge rollouts.jsonl --weights format=0.1,answer=0.9 -o judged.jsonl
    """
    from clawctl.judges import open_judges
    from clawctl.judges.reward import parse_weights
    from clawctl.judges.stage import judge
    from clawctl.judges.tally import Tally
    from clawctl.records.streams import Reader, Writer

    quiet(q)
    judges = open_judges(with_)
    reader = Reader(inputs_or_usage(files), "rollout", on_error=on_error.value, rejects=rejects)
    weighing = parse_weights(weights, judges) if weights else None
    tally = Tally()
    with Writer(output) as out:
        rows = judge(reader, judges, weights=weighing, reduce=reduce.value, jobs=jobs, again=again, reweigh=reweigh)
        out.write_all(tally.count(rows))
    logging.getLogger("clawctl").info("%s", tally.line(reader.bad))
    refuse_if_none(reader)
