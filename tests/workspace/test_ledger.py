"""The ledger: nothing acknowledged is lost, nothing torn is read, whoever dies and whoever else writes."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from clawctl.errors import ClawctlError
from clawctl.workspace.ledger import Ledger

APPEND = """
import sys
from pathlib import Path
from clawctl.workspace.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    ledger.append({"writer": sys.argv[2], "n": n, "ids": ["x" * 16] * 2000})
    print(n, flush=True)
"""


def writer(path, name: str, entries: int) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", APPEND, str(path), name, str(entries)], stdout=subprocess.PIPE, text=True)


def test_entries_come_back_in_order_and_several_go_in_at_once(tmp_path):
    ledger = Ledger(tmp_path / "deep" / "ledger.jsonl")
    assert list(ledger) == []
    ledger.append({"n": 0})
    ledger.append({"n": 1}, {"n": 2, "text": "é\n"})
    assert [entry["n"] for entry in ledger] == [0, 1, 2]


@pytest.mark.parametrize("torn", [b"{", b'{"n":1', b'{"n":1}', b"\0" * 5000, b"x" * 200_000])
def test_a_torn_tail_is_not_read_and_gone_after_the_next_append(tmp_path, torn):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append({"n": 0})
    with open(ledger.path, "ab") as file:
        file.write(torn)
    assert [entry["n"] for entry in ledger] == [0]
    ledger.append({"n": 2})
    assert ledger.path.read_bytes() == b'{"n":0}\n{"n":2}\n'


def test_a_file_that_is_nothing_but_torn_starts_anew(tmp_path):
    (tmp_path / "ledger.jsonl").write_bytes(b'{"n":')
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append({"n": 0})
    assert ledger.path.read_bytes() == b'{"n":0}\n'


@pytest.mark.parametrize("line", [b"oops", b"[1]", b"[" * 5000])
def test_a_whole_line_that_is_no_entry_is_an_error_with_its_place(tmp_path, line):
    (tmp_path / "ledger.jsonl").write_bytes(b'{"n":0}\n\n' + line + b"\n")
    with pytest.raises(ClawctlError, match=r"ledger\.jsonl:3: "):
        list(Ledger(tmp_path / "ledger.jsonl"))


def test_what_was_acknowledged_outlives_a_sigkill(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    acknowledged = 0
    for turn in range(6):
        with writer(ledger.path, str(turn), 100_000) as process:
            process.stdout.readline()
            time.sleep(random.Random(turn).random() * 0.3)
            process.kill()
            acknowledged += 1 + len(process.stdout.read().splitlines())
        found = [entry for entry in ledger if entry["writer"] == str(turn)]
        assert [entry["n"] for entry in found] == list(range(len(found)))
    assert acknowledged <= len(list(ledger)) <= acknowledged + 6, "at most the last of each, written but not yet said so"


def test_two_writers_lose_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    both = [writer(ledger.path, name, 100) for name in "ab"]
    assert [process.communicate(timeout=60)[0].count("\n") for process in both] == [100, 100]
    for name in "ab":
        assert [entry["n"] for entry in ledger if entry["writer"] == name] == list(range(100))
