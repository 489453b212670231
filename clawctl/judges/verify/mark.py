"""What a kind of verification takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawctl.judges.protocol import Unscorable

Spec = Mapping[str, Any]
Row = Mapping[str, Any]


class Mark(NamedTuple):
    """How right an answer is, 0..1, and a word on why where it helps a person."""

    value: float
    note: str | None = None


RIGHT, WRONG = Mark(1.0), Mark(0.0)


def needed(spec: Spec, key: str) -> Any:
    """`spec[key]`; Unscorable when the task does not say it."""
    value = spec.get(key)
    if value is None:
        raise Unscorable("task", f"verify of kind {spec.get('kind')} has no `{key}`")
    return value
