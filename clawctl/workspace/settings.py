"""Settings: flag > CLAWCTL_* environment > clawctl.toml > built-in default.

The options of the commands are the settings; nothing is declared twice. `[generate] temperature = 0.8` is the default of
`generate --temperature`, as is CLAWCTL_GENERATE_TEMPERATURE. A key before the first table (`model = "starter"`, or CLAWCTL_MODEL)
is the default of that option in every command that has it. A command with sub-commands has nested tables: `[tasks.make]`.

A typing slip must not pass in silence: an unknown table or key, or a value of the wrong type, is an error that names file and line.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from clawctl.errors import Usage
from clawctl.workspace.paths import Workspace
from clawctl.workspace.tomlfile import line_of

TABLES = {"models"}  # tables that are not a command's options


@lru_cache(maxsize=8)
def load(path: Path) -> dict[str, Any]:
    """The settings file as a dict; Usage with the line when it is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Usage(f"{path}: {error}", "mend the file; `clawctl init` in an empty folder shows a good one") from None


def of(workspace: Workspace | None) -> dict[str, Any]:
    """The settings of a workspace; none without one."""
    return load(workspace.settings) if workspace and workspace.settings.is_file() else {}


def defaults_for(name: str, command: Any, args: list[str], names: Iterable[str], load_command: Callable[[str], Any]) -> dict[str, Any]:
    """What clawctl.toml says of the options of `command`, as Click's default_map.

    args: the command line, read for `--workspace` because the settings must be known before the options are.
    names, load_command: all commands; another one is loaded only to tell a foreign general key from a typing slip.
    """
    workspace = named_in(args)
    settings = of(workspace)
    if not workspace or not settings:
        return {}
    check_tables(settings, workspace.settings, names)
    mine = options_of(command)
    for key in general(settings):
        if key.replace("-", "_") not in mine and not any(key.replace("-", "_") in options_of(load_command(n)) for n in names):
            raise _unknown(workspace.settings, None, key, mine)
    return section(settings, name, command, workspace.settings)


def section(settings: dict[str, Any], name: str, command: Any, path: Path) -> dict[str, Any]:
    """The defaults of one command out of all settings: its table over the general keys, nested for sub-commands."""
    return _merged(general(settings), settings.get(name, {}), command, path, name)


def general(settings: dict[str, Any]) -> dict[str, Any]:
    """The keys before the first table."""
    return {key: value for key, value in settings.items() if not isinstance(value, dict)}


def check_tables(settings: dict[str, Any], path: Path, names: Iterable[str]) -> None:
    """Every table is a command's or one of TABLES."""
    known = [*names, *TABLES]
    for key, value in settings.items():
        if isinstance(value, dict) and key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean [{near[0]}]?" if near else f"known: {', '.join(known)}"
            raise Usage(f"{place(path, key)}: no command has the table [{key}]", hint)


def options_of(command: Any) -> dict[str, Any]:
    """Name -> parameter of everything that can be set, those of sub-commands included."""
    own = {p.name: p for p in command.params if p.param_type_name == "option" and p.expose_value and not p.is_eager}
    for inner in getattr(command, "commands", {}).values():
        own = {**options_of(inner), **own}
    return own


def place(path: Path, table: str | None, key: str | None = None) -> str:
    """`file:line` of a table or a key, for messages; the file alone where the line cannot be told."""
    line = line_of(path, table, key)
    return f"{path}:{line}" if line else str(path)


def origin(args: list[str], table: str, option: str) -> str:
    """`file:line: key` of what gives `option` of the command `table` its default: a key of its table, or a general one.

    args: the command line, as for `defaults_for`.
    """
    workspace = named_in(args)
    if workspace is None:
        return option
    for where in (table, None):
        for key in (option.replace("_", "-"), option):
            if line := line_of(workspace.settings, where, key):
                return f"{workspace.settings}:{line}: {key}"
    return f"{workspace.settings}: {option}"


def named_in(args: list[str]) -> Workspace | None:
    """The workspace that a command line will work in: `--workspace`, CLAWCTL_WORKSPACE, or the nearest."""
    for at, argument in enumerate(args):
        if argument == "--":
            break
        if argument.startswith("--workspace="):
            return Workspace.find_or_none(argument.partition("=")[2])
        if argument == "--workspace" and at + 1 < len(args):
            return Workspace.find_or_none(args[at + 1])
    return Workspace.find_or_none()


def _merged(shared: dict[str, Any], table: dict[str, Any], command: Any, path: Path, name: str) -> dict[str, Any]:
    subcommands = getattr(command, "commands", {})
    if not isinstance(table, dict):
        raise Usage(f"{place(path, None, name)}: {name} is a command: its settings are a table", f"[{name}]")
    if subcommands:
        for key in table.keys() - subcommands.keys():
            raise _unknown(path, name, key, subcommands)
        return {n: _merged(shared, table.get(n, {}), c, path, f"{name}.{n}") for n, c in subcommands.items()}
    known = options_of(command)
    found: dict[str, Any] = {}
    for where, values in ((None, shared), (name, table)):
        for key, value in values.items():
            option = known.get(key.replace("-", "_"))
            if option is not None:
                _check_type(option, value, f"{place(path, where, key)}: {key}")
                found[option.name] = value
            elif where:
                raise _unknown(path, name, key, known)
    return found


def _unknown(path: Path, table: str | None, key: str, known: Iterable[str]) -> Usage:
    names = [n.replace("_", "-") for n in known]
    near = difflib.get_close_matches(key.replace("_", "-"), names, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(names))}"
    owner = f"[{table}] has" if table else "no command has"
    return Usage(f"{place(path, table, key)}: {owner} {'no' if table else 'the'} setting `{key}`", hint)


EXPECTED: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
}


def _check_type(option: Any, value: Any, where: str) -> None:
    """TOML has types; text that merely looks like a number, or a list where one value is due, is a slip."""
    several = option.multiple or option.nargs != 1
    if several != isinstance(value, list):
        raise Usage(f"{where}: expected {'a list' if several else 'one value'}, got {value!r}")
    kind = option.type_descriptor.annotation
    allowed, expected = EXPECTED.get(get_args(kind)[0] if several else kind, ((str,), "text in quotes"))
    for one in value if several else [value]:
        if not isinstance(one, allowed) or (isinstance(one, bool) and bool not in allowed):
            raise Usage(f"{where}: expected {expected}, got {one!r}")
