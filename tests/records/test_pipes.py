"""Streams as processes: each row at once, flat memory, readers that leave, streams that are closed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PASS = "import sys; from clawctl.cli.run import guarded; from clawctl.records.streams import Reader, Writer\n"
PASS += "with guarded(['clawctl', 'pass']), Writer() as out: out.write_all(Reader(sys.argv[1:], 'rollout'))"
COMMAND = [sys.executable, "-c", PASS]
ROW = json.dumps({"id": "r", "task_id": "t", "group_id": "g", "completion": "x" * 900}) + "\n"


def shell(script: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(["bash", "-c", script, "bash", *COMMAND], capture_output=True, timeout=60, check=False, **kwargs)


def test_a_row_comes_out_before_the_next_goes_in():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for _ in range(3):
            process.stdin.write(ROW)
            assert json.loads(process.stdout.readline())["id"] == "r"
        process.stdin.close()
        assert process.wait(10) == 0


def test_a_reader_that_leaves_ends_it_quietly_with_141():
    done = shell(f"yes '{ROW.strip()}' | \"$@\" | head -3; echo ${{PIPESTATUS[1]}}")
    assert done.stdout.splitlines()[-1] == b"141"
    assert len(done.stdout.splitlines()) == 4
    assert done.stderr == b""


@pytest.mark.parametrize(("close", "complaint"), [("<&-", b"stdin is closed"), (">&-", b"stdout is closed")])
def test_closed_streams_are_told(close, complaint):
    done = shell(f"echo '{ROW.strip()}' | {{ \"$@\" {close}; }}")
    assert done.returncode == 1
    assert complaint in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_full_disk_is_told():
    done = shell(f"echo '{ROW.strip()}' | \"$@\" > /dev/full")
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_memory_is_flat(tmp_path):
    (tmp_path / "a.jsonl").write_text(ROW * 40_000)  # 38 MB
    peak = "print([line for line in open('/proc/self/status') if line.startswith('VmHWM')][0].split()[1], file=sys.stderr)"
    command = [sys.executable, "-c", f"{PASS}\n{peak}", str(tmp_path / "a.jsonl")]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=True)
    assert int(done.stderr) < 60_000  # KiB
