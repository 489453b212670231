"""`clawctl promote` as a process, on answers that are in the cache, so that no model is run."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clawctl.adapters import history, versions
from clawctl.evaluation.exam import Exam, greedy_or
from clawctl.records.streams import Writer
from clawctl.workspace.models import Model, sha256_of

TASKS = [{"id": f"t{i}", "prompt": f"What is {i} + 1?", "verify": {"kind": "number", "answer": str(i + 1)}} for i in range(40)]


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "base.gguf"
    path.write_bytes(b"weights of the base model")
    return path


@pytest.fixture
def answered(ws, model):
    """Put into the cache that `ref` (None: the base model) passes the first `count` tasks."""
    ws.tasks.mkdir(parents=True)
    with Writer(ws.tasks / "heldout.jsonl") as out:
        out.write_all(TASKS)
    exam = Exam(Model("base.gguf", "llama", model), TASKS, greedy_or(1.0, 1, 96))

    def put(ref, count: int) -> None:
        rows = []
        for at, task in enumerate(TASKS):
            parts = {"format": 1.0, "answer": float(at < count)}
            rows.append({"id": f"r{at}", "task_id": task["id"], "group_id": f"g{at}", "task": task, "reward_parts": parts})
        path = ws.data / "evals" / f"{exam.key(sha256_of(model), ref)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with Writer(path) as out:
            out.write_all(rows)

    return put


@pytest.fixture
def promote(ws, model):
    command = [sys.executable, "-m", "clawctl", "promote", "--workspace", str(ws.root), "--model", str(model)]

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)

    run.command = command
    return run


@pytest.fixture
def made(make_version, model):
    return lambda name: make_version(name, base=sha256_of(model), parent=None, algorithm="sft", created="2026-01-01T00:00:00Z")


def test_better_is_promoted_not_better_is_exit_3(ws, made, answered, promote):
    answered(None, 0)
    answered(made("v001"), 20)
    first = promote()
    assert (first.returncode, first.stderr.count("answers found")) == (0, 2), first.stderr
    assert "v001 promoted: gain +0.500 over 40 tasks (20 won, 0 lost)" in first.stdout
    answered(made("v002"), 20)
    second = promote("--json", "-q")
    assert (second.returncode, second.stderr) == (3, "")
    row = json.loads(second.stdout)
    assert (row["decision"], row["previous"], row["gain"], row["p_better"]) == ("refused", "v001", 0.0, 0.0)
    assert versions.current_name(ws) == "v001"
    again = promote("v001")
    assert (again.returncode, again.stdout) == (0, "v001 is in service already\n")


def test_quiet_says_nothing_and_never_reads_stdin(made, answered, promote):
    answered(None, 0)
    answered(made("v001"), 20)
    done = promote("-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_dry_run_writes_nothing(ws, made, answered, promote):
    answered(None, 0)
    answered(made("v001"), 20)
    before = sorted(ws.root.rglob("*"))
    done = promote("--dry-run")
    assert done.returncode == 0
    assert "dry run" in done.stdout
    assert sorted(p for p in ws.root.rglob("*") if not p.is_relative_to(ws.models)) == before


def test_rollback_and_list(ws, made, answered, promote):
    answered(None, 0)
    answered(made("v001"), 20)
    promote()
    assert "* v001" in promote("--list").stdout
    preview = promote("--rollback", "--dry-run", "--json")
    assert json.loads(preview.stdout)["version"] is None
    assert versions.current_name(ws) == "v001"
    assert "the base model is in service instead of v001" in promote("--rollback").stdout
    [row] = json.loads(promote("--list", "--json").stdout)
    assert (row["version"], row["current"], row["decision"]) == ("v001", False, "rollback")
    nothing = promote("--rollback")
    assert (nothing.returncode, nothing.stdout) == (3, "")
    refused = promote()
    assert refused.returncode == 3
    assert "hint: to try it again, name it: clawctl promote v001" in refused.stderr


def test_the_default_tasks_are_the_workspaces_those_of_a_flag_are_found_from_here(ws, made, answered, promote, tmp_path, monkeypatch):
    answered(None, 0)
    answered(made("v001"), 20)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "data" / "tasks").mkdir(parents=True)
    (elsewhere / "data" / "tasks" / "heldout.jsonl").write_text("other tasks")
    monkeypatch.chdir(elsewhere)
    assert promote("--dry-run").returncode == 0
    named = promote("--dry-run", "--eval", "data/tasks/heldout.jsonl")
    assert (named.returncode, "no tasks in data/tasks/heldout.jsonl" in named.stderr) == (1, True)
    monkeypatch.setenv("CLAWCTL_PROMOTE_EVAL", str(ws.tasks / "heldout.jsonl"))
    assert promote("--dry-run").returncode == 0


def test_what_cannot_be_done_is_one_line(ws, made, make_version, answered, promote):
    none = promote()
    assert (none.returncode, "there is no candidate" in none.stderr) == (3, True)
    absent = promote("v009")
    assert (absent.returncode, "no adapter v009" in absent.stderr) == (2, True)
    make_version("v001", base="c" * 64)
    foreign = promote("--force")
    assert (foreign.returncode, "another base model" in foreign.stderr) == (1, True)
    made("v002")
    few = promote("v002", "--rollback", "--force")
    assert few.returncode == 2
    gone = promote("v002", "--eval", "nowhere.jsonl")
    assert (gone.returncode, "nowhere.jsonl: no such file" in gone.stderr) == (1, True)
    assert versions.current_name(ws) is None


def test_killed_at_20_random_moments_current_is_always_complete(ws, made, answered, promote):
    answered(None, 0)
    answered(made("v001"), 10)
    assert promote().returncode == 0
    started = time.monotonic()
    promote("v001")
    whole = time.monotonic() - started
    random_ = random.Random(1)
    for at in range(20):
        name = f"v{at + 2:03d}"
        answered(made(name), 11 + at)
        process = subprocess.Popen([*promote.command, "--confidence", "0.5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random_.uniform(0.6, 1.1) * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert versions.resolve(ws, "current").name <= name
    done = promote("--confidence", "0.5")
    assert done.returncode == 0, done.stderr
    assert versions.resolve(ws, "current").name == "v021"
    assert history.served(history.ledger(ws))[-1] == "v021"
