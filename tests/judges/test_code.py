"""The code of answers against tests: credit, cheats, and what it cannot do to the machine."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.code import code_in
from clawctl.judges.verify.judge import Verify

SQUARE = "def f(x):\n    return x * x\n"
TEST = "assert f(2) == 4"
LINUX = platform.system() == "Linux" and platform.machine() in ("x86_64", "aarch64")
LANDLOCK = LINUX and ctypes.CDLL(None).syscall(444, None, 0, 1) >= 1
needs_linux = pytest.mark.skipif(not LINUX, reason="seccomp is Linux's")
needs_landlock = pytest.mark.skipif(not LANDLOCK, reason="this kernel has no Landlock")


def test_one_test_is_all_or_nothing_and_a_list_gives_a_share(marks):
    assert marks("code", SQUARE, tests=TEST) == 1.0
    assert marks("code", SQUARE, tests=f"{TEST}\nassert f(3) == 10") == 0.0
    assert marks("code", SQUARE, tests=[TEST, "assert f(3) == 9", "assert f(3) == 10", "assert f(0)"]) == 0.5


def test_test_functions_are_called_and_the_answer_can_be_imported(marks):
    assert marks("code", SQUARE, tests="def test_a():\n    assert f(2) == 4\ndef test_b():\n    assert f(2) == 5") == 0.0
    assert marks("code", SQUARE, tests="from solution import f\nimport math\ndef test_a():\n    assert math.isclose(f(2), 4)") == 1.0


def test_the_note_says_what_failed(judge):
    note = judge.verify({"kind": "code", "tests": [TEST, "f(None)"]}, SQUARE, {}).note
    assert note.startswith("1 of 2 tests passed; test 2: TypeError")


def test_tests_do_not_see_each_other(marks):
    assert (
        marks("code", "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)", tests=["assert f() == 1", "assert f() == 1"]) == 1.0
    )


@pytest.mark.parametrize(
    "tests", ["", [], "x = =", "import a_module_that_is_not_there\nassert 1", "def check():\n    assert 0", "import unittest"]
)
def test_a_test_that_cannot_test_is_no_score(marks, tests):
    with pytest.raises(Unscorable) as caught:
        marks("code", SQUARE, tests=tests)
    assert caught.value.kind == "task"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", "x = 1"),
        ("Look:\n```python\nx = 1\n```\nDone.", "x = 1\n"),
        ("```py\nx = 1\n```\n```bash\nrm -rf x\n```\n```\ny = 2\n```", "x = 1\n\ny = 2\n"),
        ("```python\nx = 1", "x = 1"),
        ("~~~\nx = 1\n~~~", "x = 1\n"),
        ("```sh\nls\n```", ""),
    ],
)
def test_code_out_of_fences(text, code):
    assert code_in(text) == code


def test_fenced_code_of_a_completion_without_an_answer_tag_counts(judge, rollout):
    row = rollout({"kind": "code", "tests": TEST}) | {"completion": f"Sure.\n```python\n{SQUARE}```"}
    assert judge.score(row)["parts"] == {"format": 0.0, "answer": 1.0}


CHEATS = {
    "leaves early": "import sys\nsys.exit(0)",
    "leaves at once": "import os\nos._exit(0)",
    "leaves when called": "import os\ndef f(x):\n    os._exit(0)",
    "prints a verdict": "print('{\"passed\": [true], \"notes\": [null]}')\ndef f(x): print('T' * 17)",
    "writes into every descriptor": "import os\nfor d in range(64):\n    try: os.write(d, b'T' * 17)\n    except OSError: pass\nos._exit(0)",
    "equals everything": "class E:\n    def __eq__(self, o): return True\n    __hash__ = None\ndef f(x): return E()",
    "patches built-ins": "import builtins\nbuiltins.exec = builtins.compile = lambda *a: None\nbuiltins.AssertionError = ValueError\ndef f(x): pass",
    "patches os": "import os\nos.read = lambda *a: b'x' * 16\nos._exit = lambda c: None\nos.write = lambda *a: 1\ndef f(x): pass",
    "traces": "import sys\nsys.settrace(lambda *a: None)\ndef f(x): pass",
    "swallows": "import sys\nsys.excepthook = lambda *a: None\ndef f(x): raise BaseException('x')",
    "ends by signal": "import ctypes\nctypes.string_at(0)",
    "does not compile": "def f(x) return x",
    "null bytes": "x = '\0'\n" + SQUARE,
    "half a character": "x = '\ud800'\n" + SQUARE,
    "nests too deep": "(" * 100_000,
    "recurses": "def f(x): return f(x)",
    "takes memory": "x = bytearray(8 << 30)\n" + SQUARE,
    "takes memory bit by bit": "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "writes a big file": "with open('big', 'wb') as b:\n    for i in range(100): b.write(bytes(1 << 20))\n" + SQUARE,
    "reads stdin": "input()\n" + SQUARE,
    "raises its limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n" + SQUARE,
}


@pytest.mark.parametrize("code", CHEATS.values(), ids=CHEATS.keys())
def test_cheats_and_crashes_score_nothing(marks, code):
    assert marks("code", code, tests=TEST, timeout=20) == 0.0


HARMLESS = {
    "a megabyte": "x = '" + "a" * 1_000_000 + "'\n" + SQUARE,
    "much output": "import sys\nfor i in range(2000):\n    print('x' * 1000)\n    sys.stderr.write('x' * 1000)\n" + SQUARE,
    "a main part": SQUARE + "if __name__ == '__main__':\n    raise SystemExit(3)",
    "a file": "open('x', 'w').write('4')\ndef f(x): return int(open('x').read())",
    "threads": "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(2) as p: return sum(p.map(int, [1, 3]))",
    "asyncio": "import asyncio\nasync def g(): return 4\ndef f(x): return asyncio.run(g())",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\ndef f(x): return P(4).a",
    "an empty environment": "import os\ndef f(x): return 4 if not {'HOME', 'PATH', 'CLAWCTL_TEST_SECRET'} & set(os.environ) else 0",
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_code_may_do(marks, code, monkeypatch):
    monkeypatch.setenv("CLAWCTL_TEST_SECRET", "x")
    assert marks("code", code, tests=TEST, timeout=20) == 1.0


FORBIDDEN = {
    "fork": "os.fork()",
    "a program": "subprocess.run(['true'])",
    "kill its parent": "os.kill(os.getppid(), 9)",
    "kill everybody": "os.kill(-1, 15)",
    "kill its group": "os.killpg(0, 15)",
    "a new session": "os.setsid()",
    "a socket": "socket.socket()",
}


@needs_linux
@pytest.mark.parametrize("line", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_what_the_kernel_refuses(marks, line):
    caught = f"import os, socket, subprocess\ntry:\n    {line}\n    done = True\nexcept OSError:\n    done = False\n"
    assert marks("code", caught, tests="assert done is False", timeout=20) == 1.0


@needs_landlock
def test_code_writes_only_into_its_own_folder(marks, tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("x")
    tries = [
        f"open({str(kept)!r}, 'w')",
        f"os.remove({str(kept)!r})",
        f"os.rename({str(kept)!r}, 'mine')",
        f"os.mkdir({str(tmp_path / 'new')!r})",
    ]
    for line in tries:
        caught = f"import os\ntry:\n    {line}\n    done = True\nexcept OSError:\n    done = False\n"
        assert marks("code", caught, tests="assert done is False", timeout=20) == 1.0
    assert kept.read_text() == "x"
    assert list(tmp_path.iterdir()) == [kept]


@needs_landlock
def test_code_cannot_read_the_environment_of_who_started_it(marks, monkeypatch):
    # The kernel shows the environment that a process started with, so it takes a process that started with a secret.
    code = (
        "import os\ndef f(x):\n    for p in filter(str.isdigit, os.listdir('/proc')):\n        try:\n"
        "            if b'hunter' + b'2' in open(f'/proc/{p}/environ', 'rb').read(): return 0\n        except OSError: pass\n    return 4"
    )
    script = f"from clawctl.judges.verify import verify\nprint(verify({{'kind': 'code', 'tests': {TEST!r}}}, {code!r}, {{}}))"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "SECRET": "hunter2"}, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "1.0\n"


def test_a_test_that_hangs_costs_half_of_the_time_left_and_the_others_still_run(marks):
    start = time.monotonic()
    assert marks("code", SQUARE, tests=[TEST, "while True: pass", TEST, TEST], timeout=4) == 0.75
    assert time.monotonic() - start < 8


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(1000)",
        "10 ** 10 ** 10",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
    ],
)
def test_code_that_does_not_end_is_ended(marks, code):
    start = time.monotonic()
    assert marks("code", code, tests=TEST, timeout=1) == 0.0
    assert time.monotonic() - start < 10


def test_nothing_is_left_behind(marks, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert marks("code", "import os\nos.mkdir('d')\nopen('d/x', 'w')\nos.chmod('d', 0)\n" + SQUARE, tests=TEST) == 1.0
    assert list(tmp_path.iterdir()) == []


def test_the_same_code_gives_the_same_score(marks):
    order = "def f(x): return list({'a', 'b', 'c', 'd', 'e', 'f'})"
    tests = [f"assert f(0)[0] == {letter!r}" for letter in "abcdef"]
    assert [marks("code", order, tests=test) for test in tests] == [marks("code", order, tests=test) for test in tests]


def test_without_the_kernels_help_a_killed_judge_is_a_zero_and_nothing_runs_on(tmp_path, monkeypatch):
    """Where seccomp is missing, code can kill the process that runs its tests, and start others; both end with the row."""
    from clawctl.judges.verify import code

    sandbox = tmp_path / "sandbox"
    sandbox.mkdir()
    for name in ("runner.py", "confine.py"):
        text = Path(code.RUNNER).with_name(name).read_text()
        (sandbox / name).write_text(text.replace("def confine(folder: str) -> None:", "def confine(folder: str) -> None:\n    return"))
    monkeypatch.setattr(code, "RUNNER", sandbox / "runner.py")
    alive = tmp_path / "alive"
    judge = Verify(timeout=5)
    spec = {"kind": "code", "tests": TEST}
    killer = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + SQUARE
    forker = f"import os, time\nif not os.fork():\n    time.sleep(2)\n    open({str(alive)!r}, 'w')\n" + SQUARE
    assert judge.verify(spec, killer, {}).value == 0.0
    assert judge.verify(spec, forker, {}).value == 1.0
    time.sleep(2.5)
    assert not alive.exists()
