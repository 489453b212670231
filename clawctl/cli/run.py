"""What every command shares around its work: errors as one line, signals as exit codes, words on stderr."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from clawctl.errors import ClawctlError


@contextlib.contextmanager
def guarded(argv: list[str]) -> Iterator[None]:
    """Turn what escapes a command into one line on stderr and the exit codes of errors.py."""
    command = next((a for a in argv[1:] if not a.startswith("-")), "")
    name = f"clawctl {command}".strip()
    _speak_on_stderr(name)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        try:
            yield
        finally:
            # What `print` still holds must meet a dead pipe or a full disk here, not in the interpreter's last breath.
            if sys.stdout:
                sys.stdout.flush()
    except BrokenPipeError:
        leave_quietly()
    except Exception as error:
        if os.environ.get("CLAWCTL_DEBUG"):
            raise
        _say(f"{name}: {_told(error)}")
        _drop_stdout()
        raise SystemExit(getattr(error, "exit_code", 1)) from None


def quiet(on: bool) -> None:
    """`-q`: only what went wrong is said."""
    logging.getLogger("clawctl").setLevel(logging.ERROR if on else logging.INFO)


def _speak_on_stderr(name: str) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(f"{name}: %(message)s"))
    logger = logging.getLogger("clawctl")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def _terminated(_signal: int, _frame: Any) -> None:
    raise SystemExit(143)


def leave_quietly() -> NoReturn:
    """End with 141, as SIGPIPE would: the reader of our stdout has gone."""
    _drop_stdout()
    os._exit(141)


def _drop_stdout() -> None:
    """Nothing more may be flushed into a dead pipe or a full disk: Python would complain about that at exit, and change the code."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: Exception) -> str:
    """What went wrong, where, and what to do: for people. Only a bug is called unexpected."""
    if isinstance(error, ClawctlError):
        return f"{error}" + (f"\nhint: {error.hint}" if error.hint else "")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    first = next(iter(str(error).strip().splitlines()), "")
    return f"unexpected {type(error).__name__}: {first}\nhint: CLAWCTL_DEBUG=1 shows where"


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(text, file=sys.stderr)
