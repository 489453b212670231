"""Did an answer pass? What eval counts and the gate decides on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NEEDED = ("format", "answer")


def passed(row: Mapping[str, Any]) -> bool | None:
    """True when the format is strict and the answer right in full; None when either could not be scored.

    It looks at the parts, so no choice of weights changes it.
    """
    parts = row.get("reward_parts") or {}
    values = [parts.get(part) for part in NEEDED]
    if None in values:
        return None
    return all(value == 1.0 for value in values)
