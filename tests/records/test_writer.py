"""Writing: a record a line; a file appears whole or not at all."""

from __future__ import annotations

import json
import os
import threading

import pytest

from clawctl.errors import ClawctlError
from clawctl.records.files import open_read
from clawctl.records.streams import Reader, Writer

ROW = {"id": "r", "task_id": "t", "group_id": "g", "x": ["é\u2028", 2**70, None]}


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_what_is_written_is_read_again(tmp_path, name):
    path = tmp_path / name
    with Writer(path) as out:
        assert out.write_all(ROW | {"sample": n} for n in range(1000)) == 1000
        assert not path.exists(), "not before it is whole"
    assert list(Reader([path], "rollout")) == [ROW | {"sample": n} for n in range(1000)]
    with open_read(path) as file:
        assert json.loads(next(iter(file))) == ROW | {"sample": 0}
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("old\n")

    def rows():
        yield ROW
        yield {"no": object()}

    with pytest.raises(TypeError), Writer(path) as out:
        out.write_all(rows())
    assert path.read_text() == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.jsonl").symlink_to("real/out.jsonl")
    for _ in range(2):
        with Writer(tmp_path / "link.jsonl") as out:
            out.write(ROW)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len((tmp_path / "real/out.jsonl").read_bytes().splitlines()) == 1


def test_a_device_or_a_pipe_is_written_to_and_not_replaced(tmp_path):
    with Writer("/dev/null") as out:
        out.write(ROW)
    assert not os.path.isfile("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    thread = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    thread.start()
    with Writer(tmp_path / "pipe") as out:
        out.write(ROW)
    thread.join(10)
    assert json.loads(got[0]) == ROW
    assert (tmp_path / "pipe").is_fifo()


def test_a_place_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ClawctlError, match=r"nowhere/out.jsonl: No such file"), Writer(tmp_path / "nowhere/out.jsonl"):
        pass
