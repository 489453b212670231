"""`clawctl buffer`: scored rollouts wait here until there are enough to train on."""

from __future__ import annotations

import json
import logging
from enum import StrEnum
from typing import Annotated

import typer

from clawctl.cli.options import (
    OUTPUT,
    DryRun,
    Inputs,
    Json,
    OnError,
    OnErrorOption,
    Quiet,
    WorkspaceOption,
    inputs_or_usage,
    refuse_if_none,
)
from clawctl.cli.run import quiet

BATCH, ACCEPT = "The batch", "What is accepted"
log = logging.getLogger(__name__)
Filter = StrEnum("Filter", ["none", "dynamic"])


def command(
    files: Inputs = None,
    take: Annotated[bool, typer.Option("--take", help="Take a batch and print its path; exit 3 if none is ready.")] = False,
    partial: Annotated[bool, typer.Option("--partial", help="With --take: fewer groups will do, if there is one.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Print what is pending and what is missing.")] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Groups in a batch.", rich_help_panel=BATCH)] = 16,
    group_size: Annotated[int, typer.Option(min=1, help="Scored answers that make a group complete.", rich_help_panel=BATCH)] = 8,
    filter: Annotated[
        Filter, typer.Option(help="dynamic: drop groups whose members all score alike.", rich_help_panel=BATCH)
    ] = Filter.none,
    filter_metric: Annotated[
        str, typer.Option(help="What the filter compares: reward, or one of the reward's parts, as answer, format.", rich_help_panel=BATCH)
    ] = "reward",
    max_lag: Annotated[int, typer.Option(min=0, help="Adapter versions that a row may be behind.", rich_help_panel=ACCEPT)] = 1,
    max_age: Annotated[
        str, typer.Option(help="How old a row may be: 90s, 12h, 7d.  [default: any age]", metavar="AGE", rich_help_panel=ACCEPT)
    ] = "",
    rejects: Annotated[str | None, typer.Option(help="Append bad lines and refused rows to this file.", rich_help_panel=OUTPUT)] = None,
    on_error: OnErrorOption = OnError.skip,
    as_json: Json = False,
    dry_run: DryRun = False,
    q: Quiet = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Gather scored rollouts into groups until a batch is ready.

    In: scored rollouts, from files or stdin; with --take or --status only from files that are named. Out: nothing, or the path of the
    batch, or with --json the state of the buffer. Rows that are unscored, failed, excluded, too old, off-policy, or were here before are
    refused and counted. A group is complete with --group-size members and leaves whole.

    Example: clawctl generate data/tasks/train.jsonl | clawctl judge | clawctl buffer
    """
    from clawctl.buffering.adding import add
    from clawctl.buffering.lineage import Lineage
    from clawctl.buffering.rules import Rules, seconds
    from clawctl.buffering.status import arrivals, details, headline
    from clawctl.buffering.status import status as state_of
    from clawctl.buffering.store import open_store, open_to_read
    from clawctl.buffering.taking import take as take_batch
    from clawctl.errors import No, Usage
    from clawctl.records.streams import Reader
    from clawctl.workspace.paths import Workspace

    quiet(q)
    if partial and not take:
        raise Usage("--partial goes with --take")
    ws = Workspace.find(workspace)
    rules = Rules(batch_size, group_size, max_lag, seconds(max_age), filter is Filter.dynamic, filter_metric)
    reads = bool(files) or not (take or status)
    kept = None if dry_run else rejects
    reader = Reader(inputs_or_usage(files), "rollout", on_error=on_error.value, rejects=kept) if reads else None
    with open_store(ws, dry_run=dry_run) if reads or take else open_to_read(ws) as store:
        added = add(store, reader, rules, Lineage(ws), rejects=kept) if reader else None
        batch = take_batch(ws, store, rules, partial=partial, dry_run=dry_run) if take else None
        state = {**state_of(ws, store, rules), "added": None, "batch": None}
    if reader and added is not None:
        log.info("%s", arrivals(added, reader.bad))
        state["added"] = {**added, "bad": reader.bad}
    if batch:
        log.info("%s: %d groups, %d rows", batch.name, batch.groups, batch.rows)
        state["batch"] = batch.row()
    if as_json:
        print(json.dumps(state))
    elif batch:
        print(batch.path)
    elif status:
        print(headline(state), *details(state), sep="\n")
    elif reader and not take:
        log.info("%s", headline(state))
    if reader:
        refuse_if_none(reader)
    if take and not batch:
        hint = "a group is complete with --group-size members" if partial else "add more rollouts, or take what is complete with --partial"
        raise No(f"not ready: {headline(state)}", hint)
