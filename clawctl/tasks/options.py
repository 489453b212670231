"""How the command line's short forms name a mix of kinds and a range of difficulty."""

from __future__ import annotations

import math
from collections.abc import Mapping

from clawctl.errors import Usage
from clawctl.tasks.make import EVEN, KINDS


def mix_of(text: str) -> Mapping[str, float]:
    """Weights by kind: "all", or "sums=2,counting": kinds with their weights (1 where none is given). Usage on an unknown kind."""
    if text == "all":
        return EVEN
    mix: dict[str, float] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, weight = entry.partition("=")
        if name not in KINDS:
            raise Usage(f"no kind {name!r}", f"the kinds: {', '.join(KINDS)}")
        mix[name] = _positive(weight or "1", entry)
    if not mix:
        raise Usage("--kinds names none", f"the kinds: {', '.join(KINDS)}")
    return mix


def bounds_of(text: str) -> tuple[float, float]:
    """Low and high: "0.2:0.6" as two numbers. Usage unless 0 <= low <= high <= 1."""
    low, _, high = text.partition(":")
    try:
        bounds = float(low), float(high)
    except ValueError:
        bounds = math.nan, math.nan
    if not 0 <= bounds[0] <= bounds[1] <= 1:
        raise Usage(f"--difficulty {text!r} is not LOW:HIGH", "for example 0.2:0.6")
    return bounds


def _positive(text: str, entry: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise Usage(f"--kinds {entry!r}: the weight must be a positive number")
    return value
