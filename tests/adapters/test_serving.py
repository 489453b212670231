"""The swap of `current`, with readers looking on and with processes killed in the middle."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from clawctl.adapters import history, promotion, serving, versions
from clawctl.errors import Busy
from clawctl.workspace.locks import lock

ROUNDABOUT = """
import sys
from clawctl.adapters import promotion, serving, versions
from clawctl.workspace.paths import Workspace
ws = Workspace.find(sys.argv[1])
print("ready", flush=True)
while True:
    for name in ("v001", "v002", "v003"):
        promotion.force(ws, versions.resolve(ws, name))
    serving.rollback(ws)
"""


def test_a_reader_never_finds_current_absent_or_incomplete(ws, make_version):
    for name in ("v001", "v002"):
        promotion.force(ws, make_version(name))
    stop, seen, errors = threading.Event(), set(), []

    def read() -> None:
        while not stop.is_set():
            try:
                seen.add(versions.resolve(ws, "current").name)
            except Exception as error:
                errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(100):
        promotion.force(ws, versions.resolve(ws, f"v00{turn % 2 + 1}"))
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []
    assert seen == {"v001", "v002"}


def test_killed_at_any_moment_current_stays_complete_and_the_history_follows(ws, make_version):
    for name in ("v001", "v002", "v003"):
        make_version(name)
    promotion.force(ws, versions.resolve(ws, "v001"))
    random_ = random.Random(0)
    for _ in range(20):
        process = subprocess.Popen([sys.executable, "-c", ROUNDABOUT, str(ws.root)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(random_.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert versions.resolve(ws, "current").name in {"v001", "v002", "v003"}
        serving.repair(ws)
        assert history.served(history.ledger(ws))[-1] == versions.resolve(ws, "current").name
    assert list(ws.adapters.glob(".tmp-*")) == []


def test_an_entry_without_its_swap_is_found_out(ws, make_version):
    promotion.force(ws, make_version("v001"))
    make_version("v002")
    history.record(ws, history.PROMOTION, "v002", adapter_sha256="x", previous="v001")  # and then the process was killed
    serving.repair(ws)
    assert versions.resolve(ws, "current").name == "v001"
    assert [e["kind"] for e in history.ledger(ws)] == ["promotion", "promotion", "found"]
    assert serving.rollback(ws)["version"] is None


def test_a_swap_waits_for_another_and_gives_up_in_the_end(ws, make_version, monkeypatch):
    monkeypatch.setattr(serving, "WAIT", 0.1)
    ref = make_version("v001")
    with lock(ws.lock_file("promote")), pytest.raises(Busy):
        promotion.force(ws, ref)
    assert versions.resolve(ws, "current") is None
