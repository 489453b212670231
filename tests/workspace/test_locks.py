"""Locks: one at a time, the holder is named, and a dead holder holds nothing."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from clawctl.errors import Busy
from clawctl.workspace.locks import lock

HOLD = """
import sys, time
from pathlib import Path
from clawctl.workspace.locks import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(path, seconds: float) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_held_lock_is_busy_and_says_who_holds_it(tmp_path):
    with holder(tmp_path / ".loop.lock", 60) as process:
        start = time.monotonic()
        with pytest.raises(Busy, match=str(process.pid)) as busy, lock(tmp_path / ".loop.lock", wait=0.3):
            pass
        assert 0.3 <= time.monotonic() - start < 5
        assert busy.value.exit_code == 75
        process.kill()


def test_a_killed_holder_holds_nothing(tmp_path):
    with holder(tmp_path / "l", 60) as process:
        process.kill()
        process.wait()
        with lock(tmp_path / "l", wait=0):
            pass


def test_waiting_gets_it_when_the_holder_is_done(tmp_path):
    with holder(tmp_path / "l", 0.5):
        with lock(tmp_path / "l", wait=30):
            pass
        with lock(tmp_path / "l"):
            pass


def test_it_is_free_again_after_an_error(tmp_path):
    with pytest.raises(RuntimeError), lock(tmp_path / "new" / "l"):
        raise RuntimeError
    with lock(tmp_path / "new" / "l", wait=0):
        pass
