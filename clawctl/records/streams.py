"""Rows in and rows out: JSONL files and pipes, one record a line, memory flat however long the stream.

Bad lines are reported as `file:line: what`, counted, and kept in a rejects file when one is named; they never
become a row and never a crash. Files are packed and unpacked by suffix, see files.py.
"""

from __future__ import annotations

import contextlib
import logging
import re
import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

import msgspec

from clawctl.errors import ClawctlError, Usage
from clawctl.records.check import InvalidRecord, check, check_depth
from clawctl.records.files import LONGEST, Damaged, lines, open_append, open_read, open_write
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
        self.path, self.raw = "", b""
        self._poll: select.poll | None = None
        missing = [str(p) for p in self.paths if str(p) != "-" and not Path(p).exists()]
        if missing:
            raise ClawctlError(f"{missing[0]}: no such file")
        if rejects and Path(rejects).exists() and any(str(p) != "-" and Path(rejects).samefile(p) for p in self.paths):
            raise Usage(f"--rejects {rejects} is an input", "bad lines go to a file of their own")

    @property
    def source(self) -> str:
        """`file:line` of the record that was yielded last; `raw` is that line as it was, without the line's end."""
        return f"{self.path}:{self.line}"

    @property
    def idle(self) -> bool:
        """Whether reading on would wait: a pipe whose writer has nothing ready. A file never is."""
        return self._poll is not None and not self._poll.poll(0)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with contextlib.ExitStack() as stack:
            kept = stack.enter_context(open_append(self.rejects)) if self.rejects else None
            for path in self.paths:
                yield from self._read(str(path), kept)
        if self.bad > SHOWN:
            log.error("%d bad lines in all, %d of them shown", self.bad, SHOWN)

    def _read(self, path: str, rejects: IO[bytes] | None) -> Iterator[dict[str, Any]]:
        self.path, self.line = ("<stdin>" if path == "-" else path), 0
        with open_read(path) as stream:
            self._poll = _poll(stream)
            try:
                for raw in lines(stream, path):
                    self.line += 1
                    if self.line == 1:
                        raw = raw.removeprefix(b"\xef\xbb\xbf")
                    if not (text := raw.strip()):
                        continue
                    self.seen += 1
                    self.raw = text
                    try:
                        row = parse_row(text, self.kind)
                    except InvalidRecord as error:
                        self._reject(raw, str(error), rejects)
                        continue
                    yield row
            except Damaged as error:
                self.line += 1
                self.seen += 1
                self._reject(b"", f"cannot be read on: {error}", None)

    def _reject(self, raw: bytes, reason: str, rejects: IO[bytes] | None) -> None:
        self.bad += 1
        if rejects:
            rejects.write(raw.removesuffix(b"\n") + b"\n")
        if raw and not raw.endswith(b"\n") and len(raw) <= LONGEST:
            reason = f"torn last line ({reason})"
        if self.on_error == "stop":
            raise ClawctlError(f"{self.source}: {reason}", "mend the line, or use --on-error skip")
        if self.bad <= SHOWN:
            log.error("%s: %s", self.source, reason)


def parse_row(raw: bytes, kind: str) -> dict[str, Any]:
    """A line as a checked record of `kind`; InvalidRecord says what is wrong with it."""
    if len(raw) > LONGEST:
        raise InvalidRecord(f"longer than {LONGEST >> 20} MiB")
    try:
        row = decode(raw)
    except RecursionError:
        raise InvalidRecord("nested too deep") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidRecord(f"not JSON: {_plain(raw, error)}") from None
    if not isinstance(row, dict):
        raise InvalidRecord("not a JSON object")
    check_depth(raw, row)
    check(row, kind)
    return row


def read_rows(paths: Sequence[str | Path], kind: str) -> Iterator[dict[str, Any]]:
    """The valid records of `paths`, bad lines reported and skipped; see Reader for more."""
    return iter(Reader(paths, kind))


class Writer:
    """Write records to stdout, each in one write and one flush, or to a file that appears whole at the end."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None or str(path) == "-" else Path(path)
        self.written = 0

    def __enter__(self) -> Self:
        if self.path is None:
            if sys.stdout is None:
                raise ClawctlError("stdout is closed", "redirect it, or name a file to write")
            self._file: IO[bytes] = sys.stdout.buffer
            return self
        # A device or a named pipe is written to; only a file can be replaced. The suffix stays last: the packing goes by it.
        self._temporary = temporary_name(self.path.resolve()) if self.path.is_file() or not self.path.exists() else None
        try:
            self._file = open_write(self._temporary or self.path)
        except OSError as error:
            raise ClawctlError(f"{self.path}: {error.strerror}") from None
        return self

    def write(self, row: Any) -> None:
        """Write one record. A reader that left is not an error of ours: BrokenPipeError reaches `main`, which exits 141."""
        self._file.write(encode_row(row))
        if self.path is None:
            self._file.flush()
        self.written += 1

    def write_all(self, rows: Iterable[Any]) -> int:
        """Write every row of the stream; the number written."""
        for row in rows:
            self.write(row)
        return self.written

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.path is None:
            return
        try:
            self._file.close()
            if kind is None and self._temporary:
                publish(self._temporary, self.path.resolve())
        finally:
            if self._temporary:
                self._temporary.unlink(missing_ok=True)


def _poll(stream: IO[bytes]) -> select.poll | None:
    """To ask whether there is something to read; None for a stream that is no file of the system's."""
    try:
        poll = select.poll()
        poll.register(stream, select.POLLIN)
    except OSError:
        return None
    return poll


def _plain(raw: bytes, error: Exception) -> str:
    """The decoder's complaint, with what stands where it stumbled."""
    message = str(error).removeprefix("JSON is malformed: ").partition(" - at `$")[0]
    if "truncated" in message and b"\\ud" in raw.lower():
        return "half a surrogate pair in a string"
    at = re.search(r"\(byte (\d+)\)", message)
    near = raw[int(at[1]) :][:16].decode("utf-8", "replace") if at else ""
    return f"{message}, at {near!r}" if near else message
