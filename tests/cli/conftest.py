"""The command as a user starts it: a process of its own, with nothing of this session's settings in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clawctl.workspace.new import create
from clawctl.workspace.paths import Workspace

Done = subprocess.CompletedProcess[str]


def clean_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("CLAWCTL_") and k not in ("PYTHONUNBUFFERED", "NO_COLOR", "TERM")}


@pytest.fixture
def agent(tmp_path: Path) -> Workspace:
    """A workspace as `clawctl init` makes it."""
    return create(tmp_path / "agent")


@pytest.fixture
def clawctl(tmp_path: Path) -> Callable[..., Done]:
    """Run `clawctl ARGS`; keywords: cwd, stdin (text), and environment variables in capitals."""

    def run(*args: object, cwd: Path | None = None, stdin: str = "", timeout: float = 300, **variables: str) -> Done:
        command = [sys.executable, "-m", "clawctl", *map(str, args)]
        environment = clean_environment() | variables
        return subprocess.run(
            command, cwd=cwd or tmp_path, env=environment, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
        )

    return run
