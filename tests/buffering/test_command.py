"""`clawctl buffer` as it is typed: pipes, exit codes, what is said where."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from clawctl.buffering.store import open_store
from tests.buffering.conftest import COMMAND, environment, groups, read, scored, to_file


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_the_end_of_a_pipe_says_a_line_on_stderr_and_nothing_on_stdout(buffer):
    done = buffer(stdin=lines(groups("a", "b")[:3]))
    assert (done.returncode, done.stdout) == (0, "")
    assert "3 rows in, 3 kept" in done.stderr
    assert "2 groups (3 rows) pending, 1 complete, 1 usable: 1 short of a batch of 2 groups of 2" in done.stderr
    done = buffer("-q", stdin=lines(groups("a", "b")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_take_prints_the_path_and_exits_3_when_nothing_is_ready(buffer, ws):
    done = buffer("--take")
    assert (done.returncode, done.stdout) == (3, "")
    assert "not ready: 0 groups" in done.stderr
    assert "hint: " in done.stderr
    buffer(stdin=lines(groups("a", "b", "c")))
    done = buffer("--take")
    assert (done.returncode, done.stdout) == (0, f"{ws.batches / 'batch-000001.jsonl'}\n")
    assert buffer("--take").returncode == 3
    assert buffer("--take", "--partial", "-q").stdout.endswith("batch-000002.jsonl\n")


def test_json_says_the_same_with_the_same_exit_codes(buffer):
    done = buffer("--json", stdin=lines(groups("a", "b") + groups("a")) + "oops\n")
    state = json.loads(done.stdout)
    assert state["added"] == {"kept": 4, "duplicate": 2, "bad": 1}
    assert (state["ready"], state["shortfall"], state["batch"]) == (True, 0, None)
    assert json.loads(buffer("--take", "--json").stdout)["batch"]["name"] == "batch-000001"
    done = buffer("--take", "--json")
    assert (done.returncode, json.loads(done.stdout)["batch"], json.loads(done.stdout)["shortfall"]) == (3, None, 2)


def test_status_and_take_read_only_files_that_are_named(buffer, ws, tmp_path):
    with subprocess.Popen([*COMMAND, "--status"], cwd=ws.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert b"0 groups (0 rows) pending" in process.stdout.readline(), "with a stdin that never ends"
        process.kill()
    assert not ws.data.exists(), "looking makes nothing"
    file = to_file(tmp_path / "rows.jsonl", groups("a", "b"))
    done = buffer("--status", file)
    assert "2 groups (4 rows) pending" in done.stdout
    more = to_file(tmp_path / "more.jsonl", groups("c", "d"))
    assert buffer("--take", more, stdin=lines(groups("e"))).returncode == 0
    assert "2 groups (4 rows) pending" in buffer("--status").stdout
    assert "4 rows in, 4 kept" in buffer("-", "--status", stdin=lines(groups("e", "f"))).stderr


def test_dry_run_says_what_would_be_and_writes_nothing(buffer, ws, tmp_path):
    done = buffer("--dry-run", "--take", "-", "--json", stdin=lines(groups("a", "b") + groups("a")))
    assert json.loads(done.stdout)["added"] == {"kept": 4, "duplicate": 2, "bad": 0}
    assert json.loads(done.stdout)["batch"]["rows"] == 4
    assert not ws.data.exists()
    buffer(stdin=lines(groups("a", "b")))
    before = {path: path.read_bytes() for path in ws.data.rglob("*") if path.is_file()}
    done = buffer("--dry-run", "--take", "--rejects", tmp_path / "bad", "-", stdin=lines(groups("b", "c")) + "oops\n")
    assert "4 rows in, 2 kept, 2 not (2 duplicate), 1 bad lines" in done.stderr
    assert done.stdout.endswith("batch-000001.jsonl\n")
    assert {path: path.read_bytes() for path in ws.data.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "bad").exists()


def test_five_hundred_malformed_lines_and_refused_rows_end_in_rejects(buffer, tmp_path):
    bad = ["oops", '{"id":1}', "[]", '{"id":"x","task_id":"t","group_id":"g","reward":NaN}', "{" * 2000] * 100
    unscored = [row | {"reward": None} for row in scored("u")]
    mixed = lines(groups("a")) + "\n".join(bad) + "\n" + lines(unscored) + lines(groups("b")) + '{"id":"torn'
    done = buffer("--rejects", tmp_path / "bad", "--json", stdin=mixed)
    assert done.returncode == 0
    assert json.loads(done.stdout)["added"] == {"kept": 4, "unscored": 2, "bad": 501}
    assert len((tmp_path / "bad").read_text().splitlines()) == 503
    assert "<stdin>:3: not JSON" in done.stderr
    assert "Traceback" not in done.stderr
    done = buffer("--on-error", "stop", stdin=lines(groups("c")) + "oops\n" + lines(groups("d")))
    assert done.returncode == 1
    assert "<stdin>:3: not JSON" in done.stderr
    assert "3 groups (6 rows) pending" in buffer("--status").stdout


def test_rows_of_a_slow_pipe_are_safe_within_a_second(ws):
    with subprocess.Popen(COMMAND, cwd=ws.root, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        for n, row in enumerate(groups("a", "b"), 1):
            process.stdin.write(lines([row]).encode())
            process.stdin.flush()
            deadline = time.monotonic() + 20
            while pending(ws) < n and time.monotonic() < deadline:
                time.sleep(0.02)
            assert pending(ws) == n
        process.kill()
    assert pending(ws) == 4


@pytest.mark.parametrize(("signal", "code"), [("terminate", 143), ("interrupt", 130)])
def test_rows_before_a_signal_stay(ws, signal, code):
    with subprocess.Popen(COMMAND, cwd=ws.root, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        process.stdin.write(lines(groups("a", "b")).encode())
        process.stdin.flush()
        while pending(ws) < 4:
            time.sleep(0.02)
        process.terminate() if signal == "terminate" else process.send_signal(2)
        assert process.wait(20) == code
        assert b"Traceback" not in process.stderr.read()


def pending(ws) -> int:
    if not (ws.buffer / "pending.sqlite").exists():
        return 0
    with open_store(ws) as store:
        return store.db.execute("select count(*) from rows").fetchone()[0]


def test_settings_are_options(buffer, ws):
    ws.settings.write_text('[buffer]\ngroup_size = 3\nbatch_size = 1\nfilter = "dynamic"\n')
    done = buffer("--json", stdin=lines(groups("a", size=3)), small=False)
    state = json.loads(done.stdout)
    assert (state["ready"], state["group_size"], state["batch_size"]) == (True, 3, 1)


def test_wrong_use_is_told(buffer, ws, tmp_path):
    assert buffer("--partial").returncode == 2
    assert buffer("--max-age", "soon", "--status").returncode == 2
    assert buffer("--group-size", "0", "--status").returncode == 2
    assert buffer("nothere.jsonl").returncode == 1
    ws.settings.unlink()
    done = buffer("--status")
    assert done.returncode == 1
    assert "clawctl init" in done.stderr


def test_packed_files_and_several_at_once(buffer, ws, tmp_path):
    from clawctl.records.streams import Writer

    with Writer(tmp_path / "a.jsonl.zst") as out:
        out.write_all(groups("a"))
    with Writer(tmp_path / "b.jsonl.gz") as out:
        out.write_all(groups("b"))
    done = buffer("--take", tmp_path / "a.jsonl.zst", tmp_path / "b.jsonl.gz")
    assert [row["id"] for row in read(ws.batches / "batch-000001.jsonl")] == ["a/0", "a/1", "b/0", "b/1"]
    assert done.returncode == 0
