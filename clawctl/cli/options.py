"""Options that mean the same in every command."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from clawctl.records.streams import Reader
    from clawctl.workspace.paths import Workspace

OUTPUT, HOUSE = "Output", "Workspace"


class OnError(StrEnum):
    """What a bad input line does."""

    skip = "skip"
    stop = "stop"


Inputs = Annotated[
    list[str] | None, typer.Argument(help="JSONL files (.gz, .zst too), or - for stdin.", metavar="FILE", show_default=False)
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", help="Write here instead of stdout; the file appears whole.", metavar="FILE", rich_help_panel=OUTPUT),
]
Rejects = Annotated[str | None, typer.Option(help="Append bad input lines to this file.", metavar="FILE", rich_help_panel=OUTPUT)]
OnErrorOption = Annotated[OnError, typer.Option("--on-error", help="After a bad input line: skip it, or stop.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on success.", rich_help_panel=OUTPUT)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.", rich_help_panel=OUTPUT)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write nothing.", rich_help_panel=OUTPUT)]
WorkspaceOption = Annotated[
    str | None,
    typer.Option("--workspace", help="The workspace; else the nearest clawctl.toml upwards.", metavar="DIR", rich_help_panel=HOUSE),
]
ModelOption = Annotated[
    str,
    typer.Option("--model", "-m", help="A name from clawctl.toml, `starter`, or a .gguf file.", rich_help_panel=HOUSE),
]
Seed = Annotated[int, typer.Option(help="Every random draw is derived from it.")]


def inputs_or_usage(files: list[str] | None) -> list[str]:
    """The files to read, or stdin; usage and exit 2 when stdin is a terminal and nothing was named."""
    import sys

    from clawctl.errors import Usage

    if files:
        return files
    if sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty():
        raise Usage("nothing to read: name a file, or pipe records in", "clawctl -h")
    return ["-"]


def refuse_if_none(reader: Reader) -> None:
    """When every line of the input was bad it is the wrong file, which is a failure and not an empty result."""
    from clawctl.errors import ClawctlError

    if reader.seen and reader.bad == reader.seen:
        hint = "clawctl generate makes rollouts of tasks" if reader.kind == "rollout" else f"clawctl schema {reader.kind}"
        raise ClawctlError(f"none of {reader.seen} lines is a {reader.kind}", hint)


def located(ctx: typer.Context, option: str, paths: list[str], workspace: Workspace) -> list[Path]:
    """The files of an option: named on the command line from the current folder, by a default or a setting from the workspace's root."""
    from pathlib import Path

    source = ctx.get_parameter_source(option)
    here = source is not None and source.name == "COMMANDLINE"
    return [Path(path).expanduser() if here else workspace.root / Path(path).expanduser() for path in paths]
