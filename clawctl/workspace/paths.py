"""A workspace: the folder that holds clawctl.toml, and the places in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from clawctl.errors import ClawctlError, Usage

SETTINGS_FILE = "clawctl.toml"


@dataclass(frozen=True)
class Workspace:
    """Every path of a workspace, from its root."""

    root: Path

    @classmethod
    def find(cls, start: str | Path | None = None) -> Workspace:
        """The workspace named by `--workspace` or CLAWCTL_WORKSPACE, or the nearest one above the current folder."""
        named = start or os.environ.get("CLAWCTL_WORKSPACE")
        if named:
            root = Path(named).resolve()
            if not (root / SETTINGS_FILE).is_file():
                raise Usage(f"{named}: no {SETTINGS_FILE} there", f"clawctl init {named}")
            return cls(root)
        here = Path.cwd()
        for folder in (here, *here.parents):
            if (folder / SETTINGS_FILE).is_file():
                return cls(folder)
        raise ClawctlError(f"no {SETTINGS_FILE} in {here} or above", "clawctl init DIR makes a workspace; --workspace DIR names one")

    @classmethod
    def find_or_none(cls, start: str | Path | None = None) -> Workspace | None:
        """As `find`, but None where no workspace was named and none is near."""
        try:
            return cls.find(start)
        except Usage:
            raise
        except ClawctlError:
            return None

    @property
    def settings(self) -> Path:
        return self.root / SETTINGS_FILE

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def tasks(self) -> Path:
        return self.data / "tasks"

    @property
    def buffer(self) -> Path:
        return self.data / "buffer"

    @property
    def batches(self) -> Path:
        return self.data / "batches"

    @property
    def adapters(self) -> Path:
        return self.data / "adapters"

    @property
    def current(self) -> Path:
        """The symlink to the adapter in service."""
        return self.adapters / "current"

    @property
    def models(self) -> Path:
        return self.data / "models"

    @property
    def events(self) -> Path:
        return self.data / "events.jsonl"

    def lock_file(self, name: str) -> Path:
        """The file that `lock()` locks for `name`, e.g. "loop"."""
        return self.data / f".{name}.lock"
