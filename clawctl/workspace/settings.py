"""Settings: flag > CLAWCTL_* environment > clawctl.toml > built-in default.

The options of the commands are the settings; nothing is declared twice. `[generate] temperature = 0.8` is the default of
`generate --temperature`; a key before the first table (`model = "starter"`) is the default of that option in every command.
"""

from __future__ import annotations

import os
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from clawctl.errors import Usage
from clawctl.workspace.paths import Workspace

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


def defaults_for(name: str, command: Any, args: list[str]) -> dict[str, Any]:
    """What clawctl.toml says of the options of `command`, as Click's default_map.

    args: the command line, read for `--workspace` because the settings must be known before the options are.
    """
    workspace = Workspace.find_or_none(_workspace_in(args))
    return section(of(workspace), name, command, workspace.settings if workspace else None)


def section(settings: dict[str, Any], name: str, command: Any, path: Path | None) -> dict[str, Any]:
    """The defaults of one command out of all settings. Unknown keys are errors: a typing slip must not pass in silence."""
    known = {p.name for p in command.params}
    subcommands = getattr(command, "commands", {})
    found: dict[str, Any] = {k.replace("-", "_"): v for k, v in settings.items() if not isinstance(v, dict)}
    found = {k: v for k, v in found.items() if k in known}
    for key, value in settings.get(name, {}).items():
        option = key.replace("-", "_")
        if key in subcommands and isinstance(value, dict):
            found[key] = section({key: value}, key, subcommands[key], path)
        elif option in known:
            found[option] = value
        else:
            raise Usage(f"{path}: [{name}] has no setting `{key}`", f"known: {', '.join(sorted(known | set(subcommands)))}")
    return found


def _workspace_in(args: list[str]) -> str | None:
    for at, argument in enumerate(args):
        if argument == "--":
            break
        if argument.startswith("--workspace="):
            return argument.partition("=")[2]
        if argument == "--workspace" and at + 1 < len(args):
            return args[at + 1]
    return os.environ.get("CLAWCTL_WORKSPACE")
