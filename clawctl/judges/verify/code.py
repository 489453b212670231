"""code: the answer's Python passes the task's `tests`; each of a list counts alike, a single text is all or nothing.

A test is Python that runs after the code, in the same names (or after `from solution import f`): assert lines, or functions called
test_... without arguments. It runs in a process of its own (sandbox/runner.py): no environment, an own session and folder, bounds on
processor time, memory, file size and open files, no output, `timeout` seconds for all tests together. Code that does not compile,
ends early, hangs or dies has failed the test, which is a 0; a test that cannot test is the task's fault, which is no score.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

from clawctl.judges.protocol import Unscorable
from clawctl.judges.sandbox.process import Group
from clawctl.judges.verify.mark import Mark, Spec, needed

RUNNER = Path(__file__).parents[1] / "sandbox" / "runner.py"
FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*([\w+.-]*)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
PYTHON = {"", "python", "py", "python3"}
FILE_SIZE = 1 << 20
GRACE = 5.0  # seconds for the runner itself, above those for the tests
# Nothing is inherited. The seed makes sets and dicts of text come out alike each time; one thread is what two cores share best.
ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def mark(spec: Spec, text: str, *, group: Group, timeout: float, memory: int) -> Mark:
    """The share of the tests that pass. memory: bytes that the code may take."""
    tests = needed(spec, "tests")
    tests = [tests] if isinstance(tests, str) else tests
    if not tests:
        raise Unscorable("task", "verify.tests is empty")
    job = {"code": code_in(text), "tests": tests, "seconds": timeout, "memory": memory, "file_size": FILE_SIZE}
    with tempfile.TemporaryDirectory(prefix="clawctl-code-", ignore_cleanup_errors=True) as folder:
        argv = [sys.executable, "-s", "-P", "-B", str(RUNNER)]
        done = group.run(argv, json.dumps(job).encode(), timeout=timeout + GRACE, env=ENVIRONMENT, cwd=folder)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        # The runner itself was ended: where the kernel does not confine (confine.py), that is the code's doing.
        return Mark(0.0, "the code ended its judge" if not done.timed_out else f"no end after {timeout:g} s")
    if "fault" in said:
        raise Unscorable("task", f"verify.tests: {said['fault']}")
    passed = said["passed"]
    note = next((f"; test {at}: {note}" for at, note in enumerate(said["notes"], 1) if note), "")
    return Mark(sum(passed) / len(passed), f"{sum(passed)} of {len(passed)} tests passed{note}")


def code_in(text: str) -> str:
    """The Python of an answer: all its fenced Python blocks in order, or the whole text where nothing is fenced.

    A fence that is left open runs to the end of the text.
    """
    blocks = [(name.lower(), body) for name, body in FENCE.findall(text)]
    if not blocks:
        return text
    return "\n".join(body for name, body in blocks if name in PYTHON)
