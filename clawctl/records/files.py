"""Files of lines, to read and to write: packed or plain by suffix (.gz, .zst), and never more than one line in memory."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import IO, cast

from clawctl.errors import ClawctlError

LONGEST = 64 << 20  # bytes of a line; a rollout of a million tokens has half of that


class Damaged(Exception):
    """A packed file that cannot be unpacked on from here; what came before stands."""


def open_read(path: str | Path) -> IO[bytes]:
    """A binary stream of a file or, for "-", of stdin; .gz and .zst are unpacked on the way."""
    if str(path) == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise ClawctlError("stdin is closed", "name a file, or pipe records in")
        try:
            # A reader of its own: a thread may sit in a read of it when the program ends, which Python's own one does not survive.
            return open(sys.stdin.fileno(), "rb", closefd=False)
        except (OSError, ValueError):  # a stand-in without a descriptor
            return sys.stdin.buffer
    try:
        return _open(path, "rb")
    except OSError as error:
        raise ClawctlError(f"{path}: {error.strerror}") from None


def open_write(path: str | Path) -> IO[bytes]:
    """A binary file to write to, packed as its suffix says."""
    return _open(path, "wb")


def open_append(path: str | Path) -> IO[bytes]:
    """A file of lines to add to, unbuffered; a line that a killed process left torn at its end is closed first."""
    try:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 (the caller closes it)
    except OSError as error:
        raise ClawctlError(f"{path}: {error.strerror}") from None
    if file.seekable() and (size := file.seek(0, os.SEEK_END)):
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def lines(stream: IO[bytes], path: str | Path) -> Iterator[bytes]:
    """The lines of `path`, opened as `stream`, line end included; only the last can lack it. Raises Damaged where it breaks.

    Of a line longer than LONGEST its first LONGEST + 1 bytes come out; the rest is read over.
    """
    broken: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error)
    if str(path).endswith(".zst"):
        broken += (_zstd().ZstdError,)
    try:
        while raw := stream.readline(LONGEST + 1):
            yield raw
            rest = raw
            while len(rest) > LONGEST and not rest.endswith(b"\n"):
                rest = stream.readline(LONGEST + 1)
    except broken as error:
        raise Damaged(str(error)) from None


def _open(path: str | Path, mode: str) -> IO[bytes]:
    if str(path).endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.open(path, mode))
    if str(path).endswith(".zst"):
        zstd = _zstd()
        checked = {zstd.CompressionParameter.checksum_flag: 1} if mode == "wb" else None
        return cast(IO[bytes], zstd.open(path, mode, options=checked))
    return cast(IO[bytes], open(path, mode))


def _zstd() -> ModuleType:
    """The standard library's zstd, or its backport before Python 3.14; both notice a file that was cut short."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
