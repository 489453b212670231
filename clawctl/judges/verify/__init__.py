"""Verifiable rewards: an answer checked against what its task says, one file a kind (kinds.py lists them, judge.py runs them)."""

from __future__ import annotations

from functools import cache

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.judge import Verify
from clawctl.judges.verify.mark import Row, Spec


def verify(spec: Spec | None, answer: str | None, row: Row) -> float | None:
    """How right an answer is by a task's `verify`, 0..1; None when that cannot be told (Verify.verify says why)."""
    try:
        return _judge().verify(spec, answer, row).value
    except Unscorable:
        return None


@cache
def _judge() -> Verify:
    return Verify()
