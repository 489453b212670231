"""Walk the command tree: every command, every option, and for each option its value and where that came from."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, TypedDict

import typer
from typer._click.exceptions import BadParameter

from clawctl.errors import Usage
from clawctl.workspace import settings as files
from clawctl.workspace.paths import Workspace

DEFAULT, ENVIRONMENT, FILE = "default", "environment", "clawctl.toml"
NOT_OPTIONS = {"CLAWCTL_DEBUG", "CLAWCTL_WORKSPACE", "CLAWCTL_LLAMA_EXTRA_BUFTS"}  # variables that no option declares


class Setting(TypedDict):
    """One option of one command. `where`: the variable, or file:line; null for a default."""

    command: str
    key: str
    value: Any
    origin: str
    where: str | None


def root() -> Any:
    """The root command, without running it."""
    from clawctl.cli import Root

    return Root(name="clawctl")


def leaves(command: Any, name: str = "", only: list[str] | None = None) -> Iterator[tuple[str, Any]]:
    """("tasks make", command) for every command that does something, lazy ones loaded; `only` these of the first level."""
    names = only or getattr(command, "entries", None) or getattr(command, "commands", {})
    for inner in names:
        loaded = command.load(inner) if hasattr(command, "load") else command.commands[inner]
        yield from leaves(loaded, f"{name} {inner}".strip())
    if not names:
        yield name, command


def settings(workspace: Workspace | None, only: list[str] | None = None) -> Iterator[Setting]:
    """Every setting of every command, or of those in `only`.

    Raises Usage for whatever in clawctl.toml or the environment no command would take.
    """
    top = root()
    given = files.of(workspace)
    if workspace:
        files.check(given, workspace.settings, top.entries, top.load)
    for name, command in leaves(top, only=only):
        table: Any = files.section(given, name.split()[0], top.load(name.split()[0]), workspace.settings) if workspace else {}
        for inner in name.split()[1:]:
            table = table.get(inner, {})
        for key, option in files.options_of(command).items():
            yield _setting(name, command, key, option, table, workspace)


def values(name: str, workspace: Workspace | None) -> dict[str, Any]:
    """Key -> value of one command's settings, as it would find them without a flag."""
    return {row["key"]: row["value"] for row in settings(workspace, [name])}


def foreign_variables() -> Iterator[str]:
    """CLAWCTL_* variables that no option reads, each with the nearest name that one does."""
    known = {v for _, command in leaves(root()) for option in files.options_of(command).values() for v in option.envvar} | NOT_OPTIONS
    for variable in sorted(v for v in os.environ if v.startswith("CLAWCTL_") and v not in known):
        near = difflib.get_close_matches(variable, known, 1)
        yield f"{variable} is set, but no option reads it" + (f"; did you mean {near[0]}?" if near else "")


def _setting(name: str, command: Any, key: str, option: Any, table: dict[str, Any], workspace: Workspace | None) -> Setting:
    ctx = typer.Context(command, info_name=name)
    variable = next((v for v in option.envvar if os.environ.get(v)), None)
    if variable:
        origin, where, raw = ENVIRONMENT, variable, option.value_from_envvar(ctx)
    elif option.name in table and workspace:
        origin, raw = FILE, table[option.name]
        where = files.where_set(workspace.settings, name.replace(" ", "."), key)
    else:
        return Setting(command=name, key=key, value=_plain(option.get_default(ctx)), origin=DEFAULT, where=None)
    try:
        value = option.process_value(ctx, raw)
    except BadParameter as error:
        raise Usage(f"{where}: {key}: {error.message.replace('Value error, ', '')}", f"clawctl {name} -h") from None
    return Setting(command=name, key=key, value=_plain(value), origin=origin, where=where)


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, Path) else value
