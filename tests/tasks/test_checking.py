"""`clawctl tasks check`, and `tasks make` as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BUNDLED = Path(__file__).parents[2] / "data" / "tasks"
GOOD = {"id": "a", "prompt": "1 + 1?", "type": "sums", "verify": {"kind": "number", "answer": "2"}}
RIGHT = "<step>1. 1 + 1 = 2</step>\n<answer>2</answer>"


def clawctl(*arguments):
    return subprocess.run([sys.executable, "-m", "clawctl", "tasks", *map(str, arguments)], capture_output=True, text=True, check=False)


def write(path, *lines):
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def test_the_bundled_files_are_sound():
    done = clawctl("check", "--json", *sorted(BUNDLED.glob("*.jsonl")))
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["wrong"] == 0
    assert sum(report["worked"].values()) == 72  # the warm-up tasks, in their own file and in train.jsonl


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([GOOD, {**GOOD, "prompt": "other"}], "used before"),
        ([GOOD, GOOD], "used before"),
        ([{**GOOD, "solution": RIGHT.replace("2</a", "3</a")}], "does not verify"),
        ([{**GOOD, "solution": "The answer is 2."}], "step format"),
        (['{"id": "a"}\n'], "neither `prompt` nor `messages`"),
        (["{\n"], "not JSON"),
        *(
            ([{**GOOD, "verify": {"kind": kind}}], f"verify of kind {kind} has no `{key}`")
            for kind, key in [("regex", "pattern"), ("command", "argv"), ("code", "tests"), ("number", "answer"), ("exact", "answer")]
        ),
    ],
)
def test_what_is_wrong_is_named_by_line_and_exits_3(tmp_path, lines, said):
    path = write(tmp_path / "t.jsonl", *lines)
    done = clawctl("check", path)
    assert done.returncode == 3
    assert f"{path}:{len(lines)}" in done.stderr
    assert said in done.stderr


def test_one_id_for_two_tasks_in_two_files_is_wrong_and_the_same_task_twice_is_not(tmp_path):
    first, second = write(tmp_path / "a.jsonl", GOOD), write(tmp_path / "b.jsonl", {**GOOD, "solution": RIGHT})
    assert clawctl("check", first, second, "-q").returncode == 0
    assert clawctl("check", first, write(tmp_path / "c.jsonl", {**GOOD, "prompt": "2 + 2?"})).returncode == 3


def test_make_writes_the_bundled_files(tmp_path):
    done = clawctl("make", tmp_path / "new", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for name in ("train", "heldout", "warmup"):
        assert (tmp_path / "new" / f"{name}.jsonl").read_bytes() == (BUNDLED / f"{name}.jsonl").read_bytes()


def test_make_refuses_what_it_does_not_know(tmp_path):
    done = clawctl("make", tmp_path, "--kinds", "poems")
    assert done.returncode == 2
    assert "comparison" in done.stderr
    assert not list(tmp_path.iterdir())
