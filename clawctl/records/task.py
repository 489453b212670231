"""A task: something to ask, and how to tell whether an answer is right."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from clawctl.records.fields import Message, Name, Unit

LONGEST_WAIT = 86_400.0  # seconds; the system's clocks refuse to wait for ever
VerifyKind = Literal["exact", "number", "choice", "regex", "contains", "json", "math", "code", "command"]


class Verify(TypedDict):
    """How to verify an answer; which keys apply depends on `kind` (judges/verify).

    tolerance: of a number, absolute, or relative as in "1%". timeout: seconds for kinds that run something.
    """

    kind: VerifyKind
    answer: NotRequired[str | int | float]
    choices: NotRequired[list[str]]
    pattern: NotRequired[str]
    all: NotRequired[list[str]]
    any: NotRequired[list[str]]
    none: NotRequired[list[str]]
    ignore_case: NotRequired[bool]
    tolerance: NotRequired[Annotated[float, Meta(ge=0)] | str]
    schema: NotRequired[dict[str, Any] | bool]
    tests: NotRequired[str | list[str]]
    argv: NotRequired[Annotated[list[str], Meta(min_length=1)]]
    timeout: NotRequired[Annotated[float, Meta(gt=0, le=LONGEST_WAIT)]]


class Task(TypedDict):
    """One line of a task file. `prompt` or `messages` says what is asked; `solution` is a worked answer in step format."""

    schema: NotRequired[Literal["clawctl.task/1"]]
    id: Name
    prompt: NotRequired[str]
    messages: NotRequired[Annotated[list[Message], Meta(min_length=1)]]
    type: NotRequired[str]
    verify: NotRequired[Verify | None]
    solution: NotRequired[str | None]
    difficulty: NotRequired[Unit | None]
    workflow: NotRequired[str | None]
    meta: NotRequired[dict[str, Any] | None]
