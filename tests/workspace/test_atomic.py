"""Complete or absent, for files, folders and links, whenever the process ends."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time

import pytest

from clawctl.workspace.atomic import new_folder, replace_symlink, sweep, write_atomic

WRITE = """
import sys
from pathlib import Path
from clawctl.workspace.atomic import new_folder, write_atomic
root = Path(sys.argv[1])
n = int(sys.argv[2])
while True:
    n += 1
    write_atomic(root / "file", str(n % 10) * 3_000_000)
    with new_folder(root / f"folder-{n}") as folder:
        for name in "ab":
            (folder / name).write_text(str(n) * 50_000)
"""


def test_a_file_is_replaced_whole_and_its_folder_made(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    write_atomic(path, "one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["file"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path):
    write_atomic(tmp_path / "file", "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomic(tmp_path / "file", "\ud800")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomic(tmp_path / "folder", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError), new_folder(tmp_path / "v001"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []
    with new_folder(tmp_path / "v001") as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
        assert not (tmp_path / "v001").exists()
    assert (tmp_path / "v001" / "deep" / "file").read_text() == "x"
    assert os.listdir(tmp_path) == ["v001"]


def test_a_sigkill_at_any_moment_leaves_only_whole_things(tmp_path):
    for turn in range(6):
        process = subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path), str(turn * 1000)])
        while not list(tmp_path.glob(f"folder-{turn * 1000 + 1}")):
            time.sleep(0.01)
        time.sleep(random.Random(turn).random() * 0.3)
        process.kill()
        process.wait()
        text = (tmp_path / "file").read_text()
        assert (len(text), len(set(text))) == (3_000_000, 1)
        for folder in tmp_path.glob("folder-*"):
            assert sorted(os.listdir(folder)) == ["a", "b"]
            assert {(folder / name).read_text() for name in "ab"} == {folder.name.removeprefix("folder-") * 50_000}
    assert list(tmp_path.glob("folder-*"))
    sweep(tmp_path)
    assert not list(tmp_path.glob(".tmp-*")), "what the dead left behind is swept away"


def test_sweep_spares_what_a_living_process_writes(tmp_path):
    mine = tmp_path / f".tmp-{os.getpid()}-v001"
    mine.mkdir()
    (tmp_path / ".tmp-999999999-v002").mkdir()
    (tmp_path / ".tmp-999999999-link").symlink_to(tmp_path)
    sweep(tmp_path)
    assert os.listdir(tmp_path) == [mine.name]


def test_a_reader_never_misses_the_link(tmp_path):
    for name in ("v001", "v002"):
        (tmp_path / name).mkdir()
    replace_symlink(tmp_path / "current", "v001")
    seen: list[str] = []
    stop = threading.Event()

    def read():
        while not stop.is_set():
            seen.append(os.readlink(tmp_path / "current"))

    thread = threading.Thread(target=read)
    thread.start()
    for n in range(50):
        replace_symlink(tmp_path / "current", f"v00{n % 2 + 1}")
    stop.set()
    thread.join()
    assert set(seen) <= {"v001", "v002"}
    assert os.readlink(tmp_path / "current") == "v002"
