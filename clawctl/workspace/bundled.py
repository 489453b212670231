"""What the distribution carries for a new workspace: in an installed package under clawctl/bundled, in a checkout at its root."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Bundle = Literal["workflows", "patterns", "tasks"]
PACKAGE = Path(__file__).resolve().parents[1]
IN_CHECKOUT: dict[Bundle, str] = {"workflows": "workflows", "patterns": "patterns", "tasks": "data/tasks"}


def bundled(name: Bundle) -> Path:
    """The folder `name`. The package's own copy first: beside an installed package lie other people's folders."""
    inside = PACKAGE / "bundled" / name
    return inside if inside.is_dir() else PACKAGE.parent / IN_CHECKOUT[name]
