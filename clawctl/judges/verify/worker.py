"""The child in which kinds run that have no bound of their own: one request a line in, two lines out. Started by bounded.py.

Request: {"kind", "spec", "text", "seconds"}. First an empty line comes back, when what the kind needs is loaded, so that loading does not count
as judging; then {"value", "note"} or {"error": [kind, message]}.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from clawctl.errors import Missing
from clawctl.judges.protocol import Unscorable

MEMORY = 4 << 30


def main() -> None:
    """Answer requests until stdin ends, which it does when the parent does."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        request = json.loads(line)
        answer = _answer(request)
        out.write(json.dumps(answer).encode() + b"\n")
        out.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from clawctl.judges.verify.kinds import KINDS

    kind = KINDS[request["kind"]]
    try:
        if kind.warm:
            kind.warm()
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()
        _stop_after(request["seconds"])
        value, note = kind.mark(request["spec"], request["text"])
        return {"value": value, "note": note}
    except Unscorable as error:
        return {"error": [error.kind, str(error)]}
    except Missing as error:
        return {"error": ["missing", f"{error}; {error.hint}"]}
    except Exception as error:
        return {"error": ["internal", f"{type(error).__name__}: {error}"[:300]]}


def _stop_after(seconds: float) -> None:
    """Bound the processor time from here: if the parent is gone, nobody else ends this."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
