"""Killed at any instant, with others writing: every row comes out exactly once."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clawctl.buffering import batches
from clawctl.buffering.adding import add
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.status import status
from clawctl.buffering.store import open_store
from clawctl.workspace.ledger import Ledger
from tests.buffering.conftest import COMMAND, SMALL, environment, groups, read, to_file

# Runs `what` and kills itself at the n-th call of any function, Python's or C's; says how many calls there were.
KILLED = """
import os, sys
from pathlib import Path
from clawctl.buffering import adding, batches
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.rules import Rules
from clawctl.buffering.store import open_store
from clawctl.buffering.taking import take
from clawctl.records.streams import Reader
from clawctl.workspace.paths import Workspace
adding.CHUNK = 7
ws, rules = Workspace(Path(sys.argv[1])), Rules(2, 2)
calls, fatal = 0, int(sys.argv[3])
def count(frame, event, arg):
    global calls
    calls += event in ("call", "c_call")
    if calls == fatal:
        os.kill(os.getpid(), 9)
sys.setprofile(count)
with open_store(ws) as store:
    if sys.argv[2] == "take":
        take(ws, store, rules)
    else:
        adding.add(store, Reader([sys.argv[2]], "rollout"), rules, Lineage(ws))
sys.setprofile(None)
print(calls)
"""


def killed_at(call: int, ws, what: str | Path) -> int | None:
    """The number of calls, or None when it was killed."""
    command = [sys.executable, "-c", KILLED, str(ws.root), str(what), str(call)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=60, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return int(done.stdout) if done.returncode == 0 else None


def account(ws) -> list[str]:
    """The ids in all batches; checked against the ledger and the events."""
    entries = [entry for entry in batches.ledger(ws) if entry["kind"] == batches.TAKEN]
    assert sorted(path.name for path in ws.batches.iterdir()) == [f"{entry['batch']}.jsonl" for entry in entries]
    for entry in entries:
        rows = read(batches.path_of(ws, entry["batch"]))
        assert [row["id"] for row in rows] == entry["ids"]
        assert len(rows) == 4
    return [row_id for entry in entries for row_id in entry["ids"]]


def test_a_take_that_is_killed_at_any_call_is_finished_by_the_next(ws):
    rows = groups(*(f"g{n:03d}" for n in range(60)))
    with open_store(ws) as store:
        add(store, rows, SMALL, Lineage(ws))
    total = killed_at(0, ws, "take")
    deaths = 0
    for n in range(30):
        deaths += killed_at(1 + total * n // 30 + random.Random(n).randrange(total // 30), ws, "take") is None
    assert deaths >= 25, "it was meant to die"
    taken = 0
    while killed_at(0, ws, "take") and taken < len(account(ws)):
        taken = len(account(ws))
    assert sorted(account(ws)) == sorted(row["id"] for row in rows)
    with open_store(ws) as store:
        state = status(ws, store, SMALL)
        assert (state["groups"], state["rows"], state["taken"]) == (0, 0, 30)
        assert add(store, rows, SMALL, Lineage(ws)) == {"duplicate": 120}
    assert len(list(Ledger(ws.events))) <= 30


def test_adding_that_is_killed_at_any_call_can_be_done_again(ws, tmp_path):
    rows = groups(*(f"g{n:03d}" for n in range(30)))
    file = to_file(tmp_path / "rows.jsonl", rows)
    total = killed_at(0, ws, to_file(tmp_path / "other.jsonl", groups(*(f"h{n:03d}" for n in range(30)))))
    pending = 60
    for n in range(20):
        killed_at(1 + total * n // 20 + random.Random(n).randrange(total // 20), ws, file)
        with open_store(ws) as store:
            state = status(ws, store, SMALL)
            assert pending <= state["rows"] <= 120
            pending = state["rows"]
    killed_at(0, ws, file)
    with open_store(ws) as store:
        state = status(ws, store, SMALL)
        assert (state["rows"], state["groups"], state["complete"]) == (120, 60, 60)
        found = [json.loads(line) for (line,) in store.db.execute("select line from rows where g > 30 order by n")]
        assert sorted(row["id"] for row in found) == sorted(row["id"] for row in rows)


def test_writers_and_takers_at_once_lose_nothing(ws, tmp_path):
    files = [to_file(tmp_path / f"{w}.jsonl", groups(*(f"{w}{n:03d}" for n in range(400)))) for w in "abc"]
    writers = [subprocess.Popen([*COMMAND, str(file), "--json"], cwd=ws.root, stdout=subprocess.PIPE, env=environment()) for file in files]
    take = [*COMMAND, "--take", "-q", "--batch-size", "2", "--group-size", "2"]
    takers = [subprocess.Popen(take, cwd=ws.root, stderr=subprocess.PIPE, env=environment()) for _ in range(4)]
    outcomes = {taker.wait(60) for taker in takers}
    assert outcomes <= {0, 3}, [taker.stderr.read() for taker in takers]
    for writer in writers:
        assert json.loads(writer.communicate(timeout=60)[0])["added"] == {"kept": 800, "bad": 0}
        assert writer.returncode == 0
    with open_store(ws) as store:
        waiting = [row_id for (row_id,) in store.db.execute("select id from rows where line is not null")]
    taken = account(ws) if ws.batches.exists() else []
    assert sorted(waiting + taken) == sorted(row["id"] for file in files for row in read(file))


def test_two_writers_of_the_same_rows_keep_each_once(ws, tmp_path):
    file = to_file(tmp_path / "rows.jsonl", groups(*(f"g{n:03d}" for n in range(400))))
    both = [subprocess.Popen([*COMMAND, str(file), "--json"], cwd=ws.root, stdout=subprocess.PIPE, env=environment()) for _ in range(2)]
    added = [json.loads(process.communicate(timeout=60)[0])["added"] for process in both]
    assert sum(counts.get("kept", 0) for counts in added) == 800
    assert sum(counts.get("duplicate", 0) for counts in added) == 800


@pytest.mark.parametrize("turn", range(4))
def test_the_command_killed_at_random_moments_goes_on(ws, tmp_path, turn):
    rows = groups(*(f"g{n:04d}" for n in range(3000)))
    file = to_file(tmp_path / "rows.jsonl", rows)
    for n in range(3):
        process = subprocess.Popen([*COMMAND, str(file)], cwd=ws.root, stderr=subprocess.DEVNULL, env=environment())
        while not (ws.buffer / "pending.sqlite").exists():
            time.sleep(0.01)
        time.sleep(random.Random(turn * 10 + n).random() * 0.4)
        process.kill()
        process.wait()
    done = subprocess.run([*COMMAND, str(file), "--json"], cwd=ws.root, capture_output=True, env=environment(), timeout=60, check=True)
    state = json.loads(done.stdout)
    assert (state["rows"], state["groups"]) == (6000, 3000)
    assert state["added"].get("kept", 0) + state["added"].get("duplicate", 0) == 6000
