"""`clawctl config`: every setting, from the options of the real commands."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Annotated

import typer

from clawctl.cli.options import Json, WorkspaceOption
from clawctl.errors import Usage

if TYPE_CHECKING:
    from clawctl.cli.walk import Setting

log = logging.getLogger("clawctl.config")


def command(
    key: Annotated[str | None, typer.Argument(help="A command, a setting, or both: generate, seed, generate.seed.", metavar="KEY")] = None,
    path: Annotated[bool, typer.Option("--path", help="Print where clawctl.toml lies, nothing else.")] = False,
    workspace: WorkspaceOption = None,
    as_json: Json = False,
) -> None:
    """Show every setting, its value and where it came from.

    In: clawctl.toml and CLAWCTL_* variables, checked as the commands check them. Out: a line a setting.

    Example: clawctl config generate
    """
    from clawctl.cli import walk
    from clawctl.workspace.paths import Workspace

    if path:
        print(Workspace.find(workspace).settings)
        return
    rows = [row for row in walk.settings(Workspace.find_or_none(workspace)) if key is None or _matches(row, key)]
    if not rows:
        raise Usage(f"no command or setting {key!r}", "`clawctl config` lists them all")
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)
    for complaint in walk.foreign_variables():
        log.warning("%s", complaint)


def show(rows: list[Setting]) -> None:
    """One aligned line a setting: name, value as clawctl.toml would have it, where it came from."""
    names = [_name(row) for row in rows]
    values = ["-" if row["value"] is None else json.dumps(row["value"]) for row in rows]
    left, middle = max(map(len, names)), min(30, max(map(len, values)))
    for name, value, row in zip(names, values, rows, strict=True):
        print(f"{name:<{left}}  {value:<{middle}}  {row['where'] or row['origin']}")


def _name(row: Setting) -> str:
    return f"{row['command'].replace(' ', '.')}.{row['key']}"


def _matches(row: Setting, key: str) -> bool:
    asked = key.replace("_", "-")
    name = _name(row).replace("_", "-")
    return name == asked or name.startswith(f"{asked}.") or name.endswith(f".{asked}")
