"""regex: `pattern` is found in the answer (Python's `re`, anywhere: anchor it with ^ and $). Runs in a worker that is killed in time."""

from __future__ import annotations

import re

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.mark import RIGHT, WRONG, Mark, Spec, needed


def mark(spec: Spec, text: str) -> Mark:
    """1 when the pattern is found."""
    try:
        pattern = re.compile(needed(spec, "pattern"), re.IGNORECASE if spec.get("ignore_case") else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise Unscorable("task", f"verify.pattern: {error}") from None
    return RIGHT if pattern.search(text) else WRONG
