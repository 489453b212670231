"""number: the answer states this number. How numbers are read: quantity.py; units: units.py.

A unit counts only where the answer and the task both give one that is known: 1500 m is 1.5 km and not 1.5 kg. A percentage also
stands for its hundredth. `tolerance` is absolute (0.01), or relative ("1%"); without it whole numbers are compared exactly, others
to one part in 10^9, which is the noise of floating point in task files.
"""

from __future__ import annotations

import math
from fractions import Fraction

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.mark import RIGHT, WRONG, Mark, Spec, needed
from clawctl.judges.verify.quantity import Quantity, read

NOISE = Fraction(1, 10**9)
PERCENT = "percent"


def mark(spec: Spec, text: str) -> Mark:
    """1 when the one number in `text` is the `answer`."""
    right = read(str(needed(spec, "answer")))
    if right is None:
        raise Unscorable("task", f"verify.answer is no number: {spec['answer']!r:.80}")
    margin = margin_of(spec.get("tolerance"), right.value)
    given = read(text)
    if given is None:
        return Mark(0.0, "the answer does not state one number")
    return RIGHT if any(_close(a, b, margin) for a, b in comparable(given, right)) else WRONG


def margin_of(tolerance: float | str | None, right: Fraction) -> Fraction | None:
    """How far off an answer may be; None without a tolerance. Unscorable when the tolerance is none."""
    if tolerance is None:
        return None
    if isinstance(tolerance, str):
        share = read(tolerance)
        if share is None or share.value < 0 or share.unit is None or share.unit[0] != PERCENT:
            raise Unscorable("task", f'verify.tolerance {tolerance!r:.40}: expected a number, or text like "1%"')
        return abs(right) * share.value / 100
    if not math.isfinite(tolerance) or tolerance < 0:
        raise Unscorable("task", f"verify.tolerance {tolerance!r} is no finite number from 0")
    return Fraction(str(tolerance))


def comparable(given: Quantity, right: Quantity) -> list[tuple[Fraction, Fraction]]:
    """The pairs of numbers of which one must agree; none where the units cannot be the same thing."""
    if given.unit and right.unit:
        if given.unit[0] != right.unit[0]:
            return []
        return [(given.value * given.unit[1] / right.unit[1], right.value)]
    pairs = [(given.value, right.value)]
    if given.unit and given.unit[0] == PERCENT:
        pairs.append((given.value / 100, right.value))
    if right.unit and right.unit[0] == PERCENT:
        pairs.append((given.value, right.value / 100))
    return pairs


def _close(given: Fraction, right: Fraction, margin: Fraction | None) -> bool:
    if margin is not None:
        return abs(given - right) <= margin
    if given.denominator == right.denominator == 1:
        return given == right
    return abs(given - right) <= abs(right) * NOISE
