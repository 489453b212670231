"""A new workspace: starter files, workflows, patterns and sample tasks. What is already there is never touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from clawctl.errors import Usage
from clawctl.workspace.atomic import write_atomic
from clawctl.workspace.bundled import PACKAGE, Bundle, bundled
from clawctl.workspace.paths import SETTINGS_FILE, Workspace

FOLDERS: dict[str, Bundle] = {"workflows": "workflows", "patterns": "patterns", "data/tasks": "tasks"}  # in the workspace <- bundled
EMPTY = ("workflows", "patterns", "memory/items")
OWNED = ("data", "workflows", "patterns", "memory", "projects")  # a workspace within these would be mistaken for their content


def create(root: Path) -> Workspace:
    """Make `root` a workspace, or complete it; existing files stay as they are. Usage when the place cannot be one."""
    check_place(root)
    for name in EMPTY:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, source in contents():
        if not os.path.lexists(root / name):
            write_atomic(root / name, source.read_bytes())
    return Workspace(root.resolve())


def contents() -> Iterator[tuple[str, Path]]:
    """(path in the workspace, file it is copied from). clawctl.toml is last: it makes the folder a workspace."""
    for folder, name in FOLDERS.items():
        source = bundled(name)
        for file in sorted(p for p in source.rglob("*") if p.is_file() and not p.name.startswith(".")):
            yield f"{folder}/{file.relative_to(source)}", file
    starter = PACKAGE / "workspace" / "starter"
    files = sorted(p for p in starter.iterdir() if p.suffix in (".md", ".toml"))
    yield from sorted(((p.name, p) for p in files), key=lambda item: item[0] == SETTINGS_FILE)


def check_place(root: Path) -> None:
    """Raise Usage for a file, the root folder, a home folder, or the inside of another workspace's own folders."""
    place = root.resolve()
    if place.exists() and not place.is_dir():
        raise Usage(f"{root} is a file", "clawctl init DIR, a folder that is there or not")
    if place in (Path(place.anchor), Path.home().resolve()):
        raise Usage(f"{place} would make everything below it one workspace", "name a folder in it, e.g. clawctl init agent")
    for above in place.parents:
        if (above / SETTINGS_FILE).is_file() and place.relative_to(above).parts[0] in OWNED:
            raise Usage(f"{place} belongs to the workspace {above}", "name a folder outside of it")
