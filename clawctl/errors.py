"""The errors a user sees: one line that says what and where, a hint, and an exit code.

Raise one of these wherever bad input or a refusal ends a command; `cli.main` turns it into
`clawctl: message` and `hint: ...` on stderr. Anything else that escapes is a bug and is shown as one.
"""

from __future__ import annotations


class ClawctlError(Exception):
    """A command failed (exit 1). `hint` says what to do about it."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Usage(ClawctlError):
    """The command was called wrongly, or its settings are wrong (exit 2)."""

    exit_code = 2


class No(ClawctlError):
    """The answer is no: the gate refused, nothing is ready, rows are invalid (exit 3)."""

    exit_code = 3


class Busy(ClawctlError):
    """Another process holds the lock; try later (exit 75, sysexits' EX_TEMPFAIL)."""

    exit_code = 75


class Missing(ClawctlError):
    """A library that an extra brings is not installed (exit 1)."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed", f"pip install 'clawctl-rl[{extra}]'")
