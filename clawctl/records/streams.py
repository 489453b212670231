"""Rows in and rows out: JSONL files and pipes, one record a line, memory flat however long the stream.

Bad lines are reported as `file:line: what`, counted, and kept in a rejects file when one is named; they never
become a row and never a crash. Compression goes by suffix: .gz and .zst.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, cast

import msgspec

from clawctl.errors import ClawctlError
from clawctl.records.check import InvalidRecord, check
from clawctl.workspace.atomic import publish, temporary_name

log = logging.getLogger(__name__)
OnError = Literal["stop", "skip"]
SHOWN = 20  # bad lines spelt out on stderr; the rest are counted
decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder().encode


def encode_row(row: Any) -> bytes:
    """One record as a line, newline included."""
    return encode(row) + b"\n"


class Reader:
    """Iterate over the valid records of `paths` ("-" is stdin). `seen` and `bad` count lines, `source` says where it is.

    on_error: "skip" goes on after a bad line, "stop" raises ClawctlError at the first.
    rejects: bad lines are appended to this file as they were.
    """

    def __init__(self, paths: Sequence[str | Path], kind: str, *, on_error: OnError = "skip", rejects: str | Path | None = None) -> None:
        self.paths, self.kind, self.on_error, self.rejects = list(paths) or ["-"], kind, on_error, rejects
        self.seen = self.bad = self.line = 0
        self.path = ""
        missing = [str(p) for p in self.paths if str(p) != "-" and not Path(p).exists()]
        if missing:
            raise ClawctlError(f"{missing[0]}: no such file")

    @property
    def source(self) -> str:
        """`file:line` of the record that was yielded last."""
        return f"{self.path}:{self.line}"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with contextlib.ExitStack() as stack:
            kept = stack.enter_context(open(self.rejects, "ab")) if self.rejects else None
            for path in self.paths:
                yield from self._read(str(path), kept)
        if self.bad > SHOWN:
            log.warning("%d bad lines in all, %d of them shown", self.bad, SHOWN)

    def _read(self, path: str, rejects: IO[bytes] | None) -> Iterator[dict[str, Any]]:
        self.path, self.line = ("<stdin>" if path == "-" else path), 0
        with open_read(path) as stream:
            for raw in _lines(stream, self._torn):
                self.line += 1
                if self.line == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                if not raw.strip():
                    continue
                self.seen += 1
                try:
                    row = parse_row(raw, self.kind)
                except InvalidRecord as error:
                    self._reject(raw, str(error), rejects)
                    continue
                yield row

    def _reject(self, raw: bytes, reason: str, rejects: IO[bytes] | None) -> None:
        self.bad += 1
        if rejects:
            rejects.write(raw.rstrip(b"\n") + b"\n")
            rejects.flush()
        if not raw.endswith(b"\n"):
            reason = f"torn last line ({reason})"
        if self.on_error == "stop":
            raise ClawctlError(f"{self.source}: {reason}", "mend the line, or use --on-error skip")
        if self.bad <= SHOWN:
            log.warning("%s: %s", self.source, reason)

    def _torn(self, error: Exception) -> None:
        self.line += 1
        self.seen += 1
        self._reject(b"", f"cannot be read on: {error}", None)


def parse_row(raw: bytes, kind: str) -> dict[str, Any]:
    """A line as a checked record of `kind`; InvalidRecord says what is wrong with it."""
    try:
        row = decode(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidRecord(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise InvalidRecord("not a JSON object")
    check(row, kind)
    return row


def read_rows(paths: Sequence[str | Path], kind: str) -> Iterator[dict[str, Any]]:
    """The valid records of `paths`, bad lines reported and skipped; see Reader for more."""
    return iter(Reader(paths, kind))


def open_read(path: str | Path) -> IO[bytes]:
    """A binary stream of a file or, for "-", of stdin; .gz and .zst are unpacked on the way."""
    if str(path) == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise ClawctlError("stdin is closed", "name a file, or pipe records in")
        return sys.stdin.buffer
    try:
        return _decompress(open(path, "rb"), str(path))
    except OSError as error:
        raise ClawctlError(f"{path}: {error.strerror}") from None


def open_write(path: str | Path) -> IO[bytes]:
    """A binary file to write to, compressed as its suffix says."""
    if str(path).endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.open(path, "wb"))
    if str(path).endswith(".zst"):
        import zstandard

        return zstandard.open(path, "wb")
    return open(path, "wb")


class Writer:
    """Write records to stdout, each in one write and one flush, or to a file that appears whole at the end."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None or str(path) == "-" else Path(path)
        self.written = 0

    def __enter__(self) -> Self:
        if self.path:
            # The suffix stays last, so that the compression still goes by it.
            self._temporary = temporary_name(self.path)
            try:
                self._file = open_write(self._temporary)
            except OSError as error:
                raise ClawctlError(f"{self.path}: {error.strerror}") from None
        return self

    def write(self, row: Any) -> None:
        """Write one record. A reader that left is not an error of ours: BrokenPipeError reaches `main`, which exits 141."""
        line = encode_row(row)
        if self.path:
            self._file.write(line)
        else:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        self.written += 1

    def write_all(self, rows: Iterable[Any]) -> int:
        """Write every row of the stream; the number written."""
        for row in rows:
            self.write(row)
        return self.written

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self.path:
            return
        self._file.close()
        if kind is None:
            publish(self._temporary, self.path)
        else:
            self._temporary.unlink(missing_ok=True)


def _decompress(file: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.open(file))
    if name.endswith(".zst"):
        import zstandard

        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=True))
    return file


def _lines(stream: IO[bytes], torn: Any) -> Iterator[bytes]:
    """The stream's lines; damaged compression ends it with one reported line, what came before stays."""
    import zlib

    damaged: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error)
    with contextlib.suppress(ImportError):
        import zstandard

        damaged += (zstandard.ZstdError,)
    iterator = iter(stream)
    while True:
        try:
            raw = next(iterator)
        except StopIteration:
            return
        except damaged as error:
            torn(error)
            return
        yield raw
