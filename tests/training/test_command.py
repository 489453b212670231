"""`clawctl train` as a process: its words and exit codes, signals, and SIGKILL at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from clawctl.adapters import versions
from clawctl.buffering import batches

pytest.importorskip("transformers")
pytest.importorskip("llama_cpp")
QUICK = ["--lr", "0.01", "--rank", "4", "--dtype", "float32", "--threads", "1"]
LONG = [*QUICK, "--epochs", "4000", "--minibatch", "1"]


@pytest.fixture
def clawctl(ws, tiny):
    """Start `clawctl train` in the workspace; gives the process."""

    def start(*arguments):
        command = [sys.executable, "-m", "clawctl", "train", "--model", str(tiny), *map(str, arguments)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAWCTL_")}
        return subprocess.Popen(command, cwd=ws.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    return start


def end(process, timeout=240):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def wait_for_steps(ws, process, steps=3):
    """Until the run has taken so many steps."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        found = list((ws.data / "training").glob("*/metrics.jsonl"))
        if found and found[0].read_bytes().count(b"\n") >= steps:
            return
        time.sleep(0.05)
    raise AssertionError(process.communicate())


def taken(ws):
    batches.ledger(ws).append({"kind": "taken", "batch": "batch-000001", "groups": [], "ids": []})


@pytest.mark.slow
def test_next_trains_the_waiting_batch_and_prints_the_version(ws, batch, clawctl):
    batch()
    taken(ws)
    code, out, err = end(clawctl("--next", *QUICK))
    assert (code, out) == (0, "v001\n"), err
    assert "4 of 4 groups with signal" in err
    assert "Traceback" not in err
    code, out, err = end(clawctl("--next", *QUICK))
    assert (code, out) == (3, "")
    assert "no batch waits" in err


@pytest.mark.slow
def test_a_batch_without_signal_exits_3_and_is_passed_over(ws, batch, clawctl):
    batch(reward=1.0)
    taken(ws)
    code, out, err = end(clawctl("--next", *QUICK))
    assert (code, out) == (3, "")
    assert "the batch has no signal" in err
    assert batches.next_untrained(ws) is None


def test_dry_run_prints_the_formula_and_writes_nothing(ws, batch, clawctl):
    path = batch()
    before = sorted(p.name for p in ws.data.rglob("*"))
    code, out, err = end(clawctl(path, "--dry-run", "--kl-coef", "0", "--json"))
    assert code == 0, err
    told = json.loads(out)
    assert told["formula"] == (
        "A = (r - group mean) / (std + 0.0001), sample std; loss = seq-mean-token-mean of -min(rho A, clip(rho, 0.8, 1.2) A)"
    )
    assert (told["rows"], told["groups"], told["groups_with_signal"], told["optimiser_steps"]) == (16, 4, 4, 1)
    assert told["tokens_packed"] < told["tokens_unpacked"]
    assert told["memory_gib"] > 0
    assert [name for name in sorted(p.name for p in ws.data.rglob("*")) if not name.startswith((".", "sha256-"))] == [
        name for name in before if not name.startswith(".")
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name batch files, or --next"),
        (["x.jsonl", "--next"], "name batch files, or --next"),
        (["x.jsonl", "--algorithm", "ppo"], "no algorithm 'ppo'"),
        (["x.jsonl", "--algorithm", "sft", "--clip-low", "0.1"], "has no --clip-low"),
        (["x.jsonl", "--loss-agg", "dr-grpo"], "dr-grpo divides by a constant length"),
        (["x.jsonl", "--loss-agg", "mean"], "--loss-agg mean"),
        (["x.jsonl", "--ref", "other"], "--ref other"),
        (["x.jsonl", "--from", "v009"], "no adapter v009"),
    ],
)
def test_wrong_usage_exits_2(clawctl, arguments, said):
    code, out, err = end(clawctl(*arguments))
    assert (code, out) == (2, "")
    assert said in err


def test_a_missing_file_exits_1(clawctl):
    code, _, err = end(clawctl("nowhere.jsonl"))
    assert code == 1
    assert "nowhere.jsonl: no such file" in err


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_run_that_can_be_resumed(ws, batch, clawctl, number, code):
    path = batch()
    process = clawctl(path, *LONG)
    wait_for_steps(ws, process)
    process.send_signal(number)
    found, out, err = end(process)
    assert (found, out) == (code, ""), err
    assert "--resume goes on" in err
    assert versions.listing(ws) == []
    [run] = (ws.data / "training").iterdir()
    [checkpoint] = run.glob("step-*")
    done = int(checkpoint.name.removeprefix("step-"))
    process = clawctl(path, *LONG, "--resume")
    wait_for_steps(ws, process, done + 2)
    process.terminate()
    found, _, err = end(process)
    assert found == 143
    assert f"going on after step {done} of 16000" in err
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.slow
def test_sigkill_leaves_a_batch_untrained_or_trained_once(ws, batch, clawctl):
    batch()
    taken(ws)
    rng = random.Random(0)
    for _ in range(4):
        process = clawctl("--next", *QUICK)
        time.sleep(rng.uniform(0.5, 12))
        process.kill()
        process.communicate()
        assert len(versions.listing(ws)) <= 1
    code, _, err = end(clawctl("--next", *QUICK))
    assert code in (0, 3), err
    [ref] = versions.listing(ws)
    assert ref.card["batches"] == ["batch-000001"]
    assert (ref.path / versions.GGUF).is_file()
    assert batches.next_untrained(ws) is None
    assert not list(ws.adapters.glob(".tmp-*")) or code == 3
