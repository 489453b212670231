"""Complete or absent: temporary name, fsync, rename. No reader ever sees half a file, folder or link."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def write_atomic(path: Path, data: bytes | str) -> None:
    """Replace `path` by `data` in one step; parents are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)
        publish(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def publish(temporary: Path, path: Path) -> None:
    """Make what was written under `temporary` durable, then visible as `path`. Both on one file system."""
    sync(temporary)
    os.replace(temporary, path)
    sync(path.parent)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` to fill; it becomes `path` at the end, or is removed on an error.

    A folder that a killed process left behind is named `.tmp-*` and is swept away by the next call.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    temporary = path.parent / f".tmp-{os.getpid()}-{path.name}"
    temporary.mkdir()
    try:
        yield temporary
        for file in [p for p in temporary.rglob("*") if p.is_file()]:
            sync(file)
        sync(temporary)
        os.rename(temporary, path)
        sync(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def replace_symlink(link: Path, target: str) -> None:
    """Point `link` at the relative `target` in one step; a reader sees the old or the new, never none."""
    temporary = temporary_name(link)
    temporary.unlink(missing_ok=True)
    os.symlink(target, temporary)
    os.replace(temporary, link)
    sync(link.parent)


def sweep(folder: Path) -> None:
    """Remove `.tmp-PID-*` of processes that are gone."""
    for left in folder.glob(".tmp-*"):
        pid = left.name.split("-")[1]
        if pid.isdigit() and alive(int(pid)):
            continue
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """fsync a file or a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def temporary_name(path: Path) -> Path:
    """Where a file is written before it appears as `path`: same folder, same suffix, swept when its process is gone."""
    return path.with_name(f".tmp-{os.getpid()}-{path.name}")


def alive(pid: int) -> bool:
    """Whether a process of that number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
