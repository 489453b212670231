"""Settings: flag > CLAWCTL_* environment > clawctl.toml > built-in default.

The options of the commands are the settings; nothing is declared twice. `[generate] temperature = 0.8` is the default of
`generate --temperature`, as is CLAWCTL_GENERATE_TEMPERATURE. A key before the first table (`model = "starter"`, or CLAWCTL_MODEL)
is the default of that option in every command that has it. A command with sub-commands has nested tables: `[tasks.make]`.

A typing slip must not pass in silence: an unknown table or key, or a value of the wrong type, is an error that names file and line.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
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
    check(settings, workspace.settings, names, load_command, options_of(command))
    return section(settings, name, command, workspace.settings)


def check(
    settings: dict[str, Any], path: Path, names: Iterable[str], load_command: Callable[[str], Any], mine: Mapping[str, Any] | None = None
) -> None:
    """Every table is a command's or one of TABLES; every general key is an option of some command. Usage otherwise.

    mine: options known already; other commands are loaded only for a general key that is not among them.
    """
    tables = [*names, *TABLES]
    for key, value in settings.items():
        if isinstance(value, dict) and key not in tables:
            raise Usage(f"{place(path, key)}: no command has the table [{key}]", _hint(key, tables))
    unknown = {key: key.replace("-", "_") for key in general(settings)}
    unknown = {key: option for key, option in unknown.items() if option not in (mine or {})}
    if unknown:
        known = {option for name in names for option in options_of(load_command(name))}
        for key, option in unknown.items():
            if option not in known:
                raise Usage(f"{place(path, None, key)}: no command has the setting `{key}`", _hint(key, known))


def section(settings: dict[str, Any], name: str, command: Any, path: Path) -> dict[str, Any]:
    """The defaults of one command out of all settings: its table over the general keys, nested for sub-commands."""
    return _merged(general(settings), settings.get(name, {}), command, path, name)


def general(settings: dict[str, Any]) -> dict[str, Any]:
    """The keys before the first table."""
    return {key: value for key, value in settings.items() if not isinstance(value, dict)}


def options_of(command: Any) -> dict[str, Any]:
    """Key -> option of everything that can be set, that of sub-commands included. The workspace is found before its settings are."""
    own = {key_of(p): p for p in command.params if p.param_type_name == "option" and not p.is_eager and p.name != "workspace"}
    for inner in getattr(command, "commands", {}).values():
        own = {**options_of(inner), **own}
    return own


def key_of(option: Any) -> str:
    """The name of an option in clawctl.toml and in variables: that of its flag, `max_tokens` for --max-tokens."""
    flag: str = next((o for o in option.opts if o.startswith("--")), option.name)
    return flag.lstrip("-").replace("-", "_")


def place(path: Path, table: str | None, key: str | None = None) -> str:
    """`file:line` of a table or a key, for messages; the file alone where the line cannot be told."""
    line = line_of(path, table, key)
    return f"{path}:{line}" if line else str(path)


def where_set(path: Path, table: str, key: str) -> str:
    """`file:line` of what gives `key` of the command `table` its default: its own table, or a general key."""
    lines = (line_of(path, where, spelt) for where in (table, None) for spelt in (key, key.replace("_", "-")))
    line = next((n for n in lines if n), None)
    return f"{path}:{line}" if line else str(path)


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
                raise _unknown(path, where, key, known)
    return found


def _unknown(path: Path, table: str, key: str, known: Iterable[str]) -> Usage:
    return Usage(f"{place(path, table, key)}: [{table}] has no setting `{key}`", _hint(key, known))


def _hint(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key.replace("-", "_"), known := list(known), 1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"


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
