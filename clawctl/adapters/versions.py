"""Adapter versions: data/adapters/v001, v002, ..., and `current`, the symlink to the one in service.

A version folder is complete if and only if it holds card.json, and never changes afterwards. So a name is resolved once, when
a command starts; a promotion meanwhile does not disturb it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from clawctl.errors import ClawctlError, Usage
from clawctl.workspace.models import sha256_of
from clawctl.workspace.paths import Workspace

CARD, GGUF, WEIGHTS = "card.json", "adapter.gguf", "adapter_model.safetensors"
CURRENT, LATEST, NONE = "current", "latest", "none"
NAME = re.compile(r"v(\d{3,})")


@dataclass(frozen=True)
class AdapterRef:
    """One complete version: its name, its folder (absolute, symlinks resolved), its card."""

    name: str
    path: Path
    card: dict[str, Any]

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of what llama.cpp loads (adapter.gguf), or of the PEFT weights where there is no GGUF."""
        gguf = self.path / GGUF
        return sha256_of(gguf if gguf.is_file() else self.path / WEIGHTS)

    @property
    def base_sha256(self) -> str | None:
        """The base model that it was trained on, by its card."""
        return (self.card.get("base") or {}).get("sha256")


def resolve(ws: Workspace | None, name: str) -> AdapterRef | None:
    """The version that `name` means now: current, none, latest, vNNN or the path of a version's folder.

    None is the bare base model: for "none", for "current" without a link, for "latest" without a complete version.
    Raises Usage for a version that does not exist, ClawctlError for one that is not complete.
    """
    if name == NONE:
        return None
    if name == CURRENT:
        return _current(ws) if ws else None
    if name == LATEST:
        complete = listing(ws) if ws else []
        return complete[-1] if complete else None
    if NAME.fullmatch(name):
        if ws is None:
            raise Usage(f"adapter {name}: no workspace to look in", "--workspace DIR names one; the path of an adapter's folder works too")
        return read(ws.adapters / name, known=_names(ws))
    return read(Path(name).expanduser())


def read(folder: Path, known: list[str] | None = None) -> AdapterRef:
    """The version in `folder`; errors say whether it is absent or incomplete. `known`: names for the hint."""
    if not folder.is_dir():
        hint = f"there are {', '.join(known)}" if known else "current, none, latest, vNNN, or the path of an adapter's folder"
        raise Usage(f"no adapter {folder.name if known is not None else folder}", hint)
    try:
        card = msgspec.json.decode((folder / CARD).read_bytes())
    except FileNotFoundError:
        raise ClawctlError(f"adapter {folder.name} is not complete: it has no {CARD}", "train again, or name another version") from None
    except msgspec.DecodeError as error:
        raise ClawctlError(f"{folder / CARD}: {error}", "train again, or name another version") from None
    if not isinstance(card, dict):
        raise ClawctlError(f"{folder / CARD}: not a JSON object", "train again, or name another version")
    if not ((folder / GGUF).is_file() or (folder / WEIGHTS).is_file()):
        raise ClawctlError(f"adapter {folder.name} is not complete: no {GGUF}, no {WEIGHTS}", "train again, or name another version")
    path = folder.resolve()
    return AdapterRef(path.name, path, card)


def listing(ws: Workspace) -> list[AdapterRef]:
    """The complete versions, oldest first; incomplete or unreadable ones are left out."""
    found = []
    for name in _names(ws):
        try:
            found.append(read(ws.adapters / name))
        except ClawctlError:
            continue
    return found


def next_version(ws: Workspace) -> str:
    """The name after the highest one in use, complete or not: "v001" first."""
    numbers = [int(name[1:]) for name in _names(ws)]
    return f"v{max(numbers, default=0) + 1:03d}"


def current_name(ws: Workspace) -> str | None:
    """What `current` points at, read once and not checked; None without a link."""
    try:
        return Path(os.readlink(ws.current)).name
    except FileNotFoundError:
        return None
    except OSError:
        raise ClawctlError(f"{ws.current} is not a symlink", "move it away; `clawctl promote vNNN --force` makes the link") from None


def _current(ws: Workspace) -> AdapterRef | None:
    name = current_name(ws)
    if name is None:
        return None
    try:
        return read(ws.adapters / name, known=_names(ws))
    except ClawctlError as error:
        raise ClawctlError(f"current -> {name}: {error}", "clawctl promote --rollback serves the version before it") from None


def _names(ws: Workspace) -> list[str]:
    """Names of version folders, in numerical order."""
    if not ws.adapters.is_dir():
        return []
    found = [entry.name for entry in os.scandir(ws.adapters) if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    return sorted(found, key=lambda name: int(name[1:]))
