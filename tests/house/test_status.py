"""`clawctl status`: right for an empty workspace and a used one, and it leaves no trace."""

from __future__ import annotations

import gzip
import os

from clawctl.buffering.rules import Rules
from clawctl.house.status import collect, describe
from clawctl.looping import state as looping
from clawctl.workspace.locks import lock


def told(state, name):
    return next(line for line in describe(state) if line.startswith(name))


def test_an_empty_workspace_is_all_nothing_and_stays_as_it_is(ws):
    state = collect(ws, Rules())
    assert state["tasks"] == state["rollouts"] == state["models"] == {}
    assert state["adapters"] == {"current": None, "current_is_whole": True, "candidates": [], "versions": []}
    assert (state["batches"], state["buffer"]["groups"], state["loop"]["round"]) == ({"all": [], "untrained": []}, 0, -1)
    assert [p.name for p in ws.root.iterdir()] == ["clawctl.toml"]
    assert "never ran here" in told(state, "loop")


def test_counts_tasks_in_every_format(ws):
    ws.tasks.mkdir(parents=True)
    (ws.tasks / "a.jsonl").write_text('{"id": "1"}\n\n{"id": "2"}\n')
    (ws.tasks / "b.jsonl.gz").write_bytes(gzip.compress(b'{"id": "1"}\n'))
    (ws.tasks / "notes.txt").write_text("not tasks")
    assert collect(ws, Rules())["tasks"] == {"a.jsonl": 2, "b.jsonl.gz": 1}


def test_tells_versions_in_service_waiting_and_broken(ws, make_version):
    make_version("v001")
    make_version("v002")
    make_version("v003", card=False)
    os.symlink("v001", ws.current)
    state = collect(ws, Rules())
    assert (state["adapters"]["current"], state["adapters"]["candidates"]) == ("v001", ["v002"])
    assert "2, in service: v001" in told(state, "adapters")
    ws.current.unlink()
    os.symlink("v003", ws.current)
    broken = collect(ws, Rules())
    assert "v003, which is not whole" in told(broken, "adapters")
    assert "current -> v003" in told(broken, "buffer")


def test_tells_whether_a_loop_runs_and_where_it_stopped(ws):
    looping.save(ws, looping.State(round=2, done=["plan", "generate"]))
    assert "stopped in round 2 after generate" in told(collect(ws, Rules()), "loop")
    with lock(ws.lock_file("loop")):
        assert str(os.getpid()) in told(collect(ws, Rules()), "loop")
    assert "stopped in round 2" in told(collect(ws, Rules()), "loop")


def test_a_lock_file_that_a_dead_process_left_holds_nothing(ws):
    ws.data.mkdir()
    ws.lock_file("loop").write_text("4194304 clawctl loop")
    assert collect(ws, Rules())["loop"]["held_by"] is None
