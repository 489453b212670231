"""math: the answer is mathematically the same as `answer`, both in LaTeX or plain notation, as math-verify (the extra `math`) tells.

Runs in a worker that is killed in time, because computer algebra has no bound of its own.
"""

from __future__ import annotations

from typing import Any

from clawctl.errors import Missing
from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.mark import RIGHT, WRONG, Mark, Spec, needed

LONGEST = 5000  # characters


def warm() -> None:
    """Load what takes time to load; Missing when it is not installed."""
    try:
        import math_verify  # noqa: F401
    except ImportError:
        raise Missing("math-verify", "math") from None


def mark(spec: Spec, text: str) -> Mark:
    """1 when they are the same."""
    from math_verify import verify

    right = expressions(str(needed(spec, "answer")))
    if not right:
        raise Unscorable("task", f"verify.answer is no mathematics: {spec['answer']!r:.80}")
    given = expressions(text) if len(text) <= LONGEST else []
    # The library's own time-outs are signals, which would do nothing useful here: the worker is bounded as a whole.
    same = verify(right, given, timeout_seconds=None, raise_on_error=True) if given else False
    return RIGHT if same else WRONG


def expressions(text: str) -> list[Any]:
    """What math-verify reads in `text`, read as LaTeX when it carries no marks of its own. Empty when it reads nothing."""
    from math_verify import parse

    marked = "$" in text or "\\boxed" in text or "\\(" in text or "\\[" in text
    for form in (text,) if marked else (f"${text}$", text):
        if found := parse(form, parsing_timeout=None):
            return list(found)
    return []
