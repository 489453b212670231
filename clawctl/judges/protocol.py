"""What a judge is, and how it says that it cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from clawctl.records.rollout import Score


class Judge(Protocol):
    """Scores one rollout at a time. `score` may be called from several threads at once.

    `weights` names the parts that its scores carry and what each weighs by default; a judge without parts has one, called as itself.
    """

    name: str
    weights: Mapping[str, float]

    def score(self, row: Mapping[str, Any]) -> Score:
        """The score of a rollout. Raises Unscorable, or any error, where there is none: the stage writes it into the row."""
        ...

    def close(self) -> None:
        """End whatever runs for this judge. It may be called from another thread than `score`, and in the middle of one."""
        ...


class Unscorable(Exception):
    """A row has no score, which is not 0: `kind` for scripts (task, timeout, missing, input, command), the message for people.

    parts: what could be scored all the same.
    """

    def __init__(self, kind: str, message: str, parts: Mapping[str, float | None] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.parts = dict(parts) if parts else None
