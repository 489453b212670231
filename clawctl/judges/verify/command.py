"""command: any program judges. It gets the row as JSON on stdin; what it says is the score.

It says so on stdout, {"reward": 0.5, "rationale": "..."} (the last line that is such an object), or by its exit code: 0 right, 1 wrong.
Any other exit code, a signal or the time-out means that it could not tell. It runs as the user, in the current folder, with PATH,
HOME, LANG and TMPDIR only: a task file that names programs is to be trusted like a script.
"""

from __future__ import annotations

import json
import os
from typing import Any

from clawctl.judges.protocol import Unscorable
from clawctl.judges.sandbox.process import Finished, Group
from clawctl.judges.verify.mark import Mark, Row, Spec, needed
from clawctl.records.streams import encode_row

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


def mark(spec: Spec, row: Row, *, group: Group, timeout: float) -> Mark:
    """What the program `argv` says of the row."""
    argv = needed(spec, "argv")
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    try:
        done = group.run(argv, encode_row(row), timeout=timeout, env=env)
    except (OSError, ValueError) as error:
        raise Unscorable("command", f"{argv[0]}: {getattr(error, 'strerror', None) or error}") from None
    if done.timed_out:
        raise Unscorable("timeout", f"{argv[0]}: no end after {timeout:g} s")
    if done.too_much:
        raise Unscorable("command", f"{argv[0]}: more output than {len(done.stdout)} bytes")
    if done.returncode not in (0, 1):
        how = f"exit code {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise Unscorable("command", f"{argv[0]}: ended with {how}")
    return _said(done, argv[0])


def _said(done: Finished, name: str) -> Mark:
    verdict = _verdict(done.stdout)
    if verdict is None:
        return Mark(1.0 if done.returncode == 0 else 0.0)
    reward, rationale = verdict["reward"], verdict.get("rationale")
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not 0 <= reward <= 1:
        raise Unscorable("command", f"{name}: reward {reward!r:.40} is no number from 0 to 1")
    return Mark(float(reward), rationale if isinstance(rationale, str) else None)


def _verdict(stdout: bytes) -> dict[str, Any] | None:
    """The last thing on stdout that is an object with a reward: the whole of it, or a line."""
    for text in (stdout, *reversed(stdout.splitlines())):
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and "reward" in said:
            return said
    return None
