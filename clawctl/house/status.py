"""What is where in a workspace, read and never changed, whether it was used for a year or made a moment ago."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clawctl.adapters.shelf import shelf
from clawctl.adapters.versions import current_name
from clawctl.buffering.batches import untrained
from clawctl.buffering.rules import Rules
from clawctl.buffering.status import headline
from clawctl.buffering.status import status as buffer_status
from clawctl.buffering.store import open_to_read
from clawctl.errors import ClawctlError
from clawctl.looping import state as looping
from clawctl.records.streams import open_read
from clawctl.workspace.locks import holder
from clawctl.workspace.paths import Workspace

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def collect(ws: Workspace, rules: Rules) -> dict[str, Any]:
    """The whole state as one JSON object. `rules`: those of the buffer, which say when a batch is ready."""
    return {
        "workspace": str(ws.root),
        "tasks": {path.name: lines_in(path) for path in _records(ws.tasks)},
        "rollouts": {path.name: path.stat().st_size for path in _records(ws.data / "rollouts")},
        "buffer": _buffer(ws, rules),
        "batches": {"all": [path.name for path in _records(ws.batches)], "untrained": untrained(ws)},
        "adapters": _adapters(ws),
        "loop": _loop(ws),
        "models": {path.name: _size(path) for path in _folders(ws.models)},
    }


def describe(state: dict[str, Any]) -> list[str]:
    """The same for people, a line a thing."""
    adapters, batches, loop = state["adapters"], state["batches"], state["loop"]
    rollouts, models = state["rollouts"].values(), state["models"].values()
    said = {
        "workspace": state["workspace"],
        "tasks": ", ".join(f"{name} {count}" for name, count in state["tasks"].items()) or "none; clawctl tasks make data/tasks",
        "rollouts": f"{len(rollouts)} files, {megabytes(sum(rollouts))}" if rollouts else "none kept",
        "buffer": state["buffer"].get("error") or headline(state["buffer"]),
        "batches": f"{len(batches['all'])}, of them untrained: {', '.join(batches['untrained']) or 'none'}",
        "adapters": f"{len(adapters['versions'])}, in service: {adapters['current'] or 'the base model'}"
        + ("" if adapters["current_is_whole"] else ", which is not whole; clawctl promote --rollback"),
        "candidates": ", ".join(adapters["candidates"]) or "none",
        "loop": loop["held_by"] or loop["standing"],
        "models": f"{len(models)} prepared for training, {megabytes(sum(models))}" if models else "none prepared for training",
    }
    return [f"{name:<12}{text}" for name, text in said.items()]


def lines_in(path: Path) -> int:
    """How many records a file has, blank lines not counted."""
    with open_read(path) as file:
        return sum(1 for line in file if line.strip())


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:.1f} MB"


def _buffer(ws: Workspace, rules: Rules) -> dict[str, Any]:
    """The buffer's own account; a broken `current`, against which it measures age, must not hide all the rest."""
    try:
        with open_to_read(ws) as store:
            return buffer_status(ws, store, rules)
    except ClawctlError as error:
        return {"error": str(error)}


def _adapters(ws: Workspace) -> dict[str, Any]:
    """Versions as the shelf shows them; a candidate is one that nothing was decided about."""
    rows = shelf(ws)
    waiting = [row["version"] for row in rows if row["decision"] is None and not row["current"]]
    served = current_name(ws)
    return {
        "current": served,
        "current_is_whole": served is None or any(row["current"] for row in rows),
        "candidates": waiting,
        "versions": rows,
    }


def _loop(ws: Workspace) -> dict[str, Any]:
    state = looping.load(ws)
    if state.round < 0:
        standing = "never ran here"
    elif state.finished:
        standing = f"round {state.round} is finished"
    else:
        standing = f"stopped in round {state.round} after {state.done[-1] if state.done else 'nothing'}; clawctl loop goes on there"
    return {"held_by": holder(ws.lock_file("loop")), "round": state.round, "done": state.done, "standing": standing}


def _records(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*") if p.name.endswith(SUFFIXES) and not p.name.startswith(".")) if folder.is_dir() else []


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")) if folder.is_dir() else []


def _size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
