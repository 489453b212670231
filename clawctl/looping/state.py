"""How far the loop has come: data/loop/state.json, replaced after every finished stage.

Every stage can be run twice without harm (rows are known by id, a batch by its ledger, an adapter by its card), so that a process
killed between a stage and this note only looks again at work that is already done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from clawctl.errors import ClawctlError
from clawctl.workspace.atomic import write_atomic
from clawctl.workspace.paths import Workspace

STAGES = ("plan", "generate", "judge", "buffer", "train", "promote")
WARMUP = 0  # the number of the round that trains on worked answers; sampled rounds count from 1


@dataclass
class State:
    """`round` is the one begun last; `done` its stages that are finished. The rest is what they decided."""

    round: int = -1
    done: list[str] = field(default_factory=list)
    adapter: str | None = None  # the version that samples and is trained on
    tasks: list[str] = field(default_factory=list)
    batch: str | None = None
    candidate: str | None = None

    @property
    def finished(self) -> bool:
        """No round stands half done."""
        return self.round < 0 or self.done[-1:] == [STAGES[-1]]


def load(ws: Workspace) -> State:
    """The state as it was left; without a file, the round after the last one whose rollouts are kept."""
    path = _path(ws)
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except FileNotFoundError:
        past = _rounds_on_disk(ws)
        return State(round=past, done=list(STAGES)) if past else State()
    except msgspec.MsgspecError as error:
        raise ClawctlError(f"{path}: {error}", "remove the file; the loop goes on with a new round") from None


def save(ws: Workspace, state: State) -> None:
    """Write it down, in one step."""
    write_atomic(_path(ws), msgspec.json.encode(state))


def rollouts(ws: Workspace, round_: int, suffix: str = "") -> Path:
    """Where a round's rollouts are kept; `suffix` ".scored" for the judged ones."""
    return ws.data / "rollouts" / f"round-{round_:03d}{suffix}.jsonl"


def _path(ws: Workspace) -> Path:
    return ws.data / "loop" / "state.json"


def _rounds_on_disk(ws: Workspace) -> int:
    folder = ws.data / "rollouts"
    found = (re.fullmatch(r"round-(\d+)\.jsonl", path.name) for path in folder.glob("round-*.jsonl"))
    return max((int(match[1]) for match in found if match), default=0)
