"""Scored rollouts to gather, and the command as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawctl.buffering.rules import Rules
from clawctl.buffering.store import Store, open_store

COMMAND = [sys.executable, "-m", "clawctl", "buffer"]
SMALL = Rules(batch_size=2, group_size=2)


def scored(group: str, size: int = 2, rewards: list[float] | None = None, **more: Any) -> list[dict[str, Any]]:
    """A group whose members differ in reward unless told otherwise."""
    rewards = rewards or [n % 2 for n in range(size)]
    row = {"task_id": "t", "group_id": group, "completion": "x"}
    return [{**row, "id": f"{group}/{n}", "sample": n, "reward": float(r), **more} for n, r in enumerate(rewards)]


def groups(*names: str, size: int = 2, **more: Any) -> list[dict[str, Any]]:
    """Several groups, one after the other."""
    return [row for name in names for row in scored(name, size, **more)]


def to_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def store(ws) -> Iterator[Store]:
    with open_store(ws) as opened:
        yield opened


@pytest.fixture
def buffer(ws) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `clawctl buffer ARGS` in the workspace with a batch of 2 groups of 2, unless told otherwise."""

    def run(*args: object, stdin: str = "", small: bool = True) -> subprocess.CompletedProcess[str]:
        sizes = ["--batch-size", "2", "--group-size", "2"] if small else []
        command = [*COMMAND, *sizes, *map(str, args)]
        return subprocess.run(
            command, cwd=ws.root, env=environment(), input=stdin, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("CLAWCTL_")}
