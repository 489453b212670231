"""The crontab's lines: every command and option in them exists, and they run as cron runs them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clawctl.workspace.locks import lock

CRONTAB = Path(__file__).parents[2] / "examples" / "crontab.txt"
LINES = [line for line in CRONTAB.read_text().splitlines() if line and line[0] in "*0123456789"]
BIN = Path(sys.executable).parent


def job(line: str) -> str:
    return line.split(maxsplit=5)[5]


def as_cron(ws, line: str) -> subprocess.CompletedProcess[str]:
    environment = {"AGENT": str(ws.root), "PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(ws.root), "SHELL": "/bin/sh"}
    return subprocess.run(["/bin/sh", "-c", job(line)], env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True)


@pytest.mark.parametrize("line", LINES)
def test_every_command_and_option_exists(line):
    assert "%" not in line  # cron would make a newline of it
    commands = re.findall(r"clawctl [^|&;}]+", job(line))
    assert commands
    for command in commands:
        words = shlex.split(command.split(">")[0])
        done = subprocess.run([str(BIN / words[0]), *words[1:], "--help"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_hourly_round_is_silent_while_another_is_at_work(ws):
    ws.tasks.mkdir(parents=True)
    for name in ("train", "heldout"):
        (ws.tasks / f"{name}.jsonl").write_text('{"id": "t", "prompt": "p"}\n')
    [hourly] = [line for line in LINES if "clawctl loop" in line]
    with lock(ws.lock_file("loop")):
        done = as_cron(ws, hourly)
    assert (done.returncode, done.stdout) == (0, "")
    assert "loop is busy" in done.stderr


def test_nothing_to_promote_is_no_failure(ws):
    [gate] = [line for line in LINES if "clawctl promote" in line]
    done = as_cron(ws, gate)
    assert (done.returncode, done.stdout) == (0, "")
    assert "there is no candidate" in done.stderr
