"""Is this object a record of that kind? One sentence if not; the same types make the JSON Schema."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from clawctl.records.event import Event
from clawctl.records.feedback import Feedback
from clawctl.records.rollout import Rollout
from clawctl.records.task import Task

RECORDS: dict[str, Any] = {"task": Task, "rollout": Rollout, "feedback": Feedback, "event": Event}

# These lists speak of the completion token by token; a stage that aligned unequal ones would train on garbage.
ALIGNED = ("rollout_logprobs", "loss_mask")
DEEPEST = 200  # levels of nesting


class InvalidRecord(ValueError):
    """A row that is JSON but not the record asked for."""


def check(row: Any, kind: str) -> None:
    """Raise `InvalidRecord` with the key's path unless `row` is a valid record of `kind` (a key of RECORDS).

    The row itself is left as it is: unknown keys stay, nothing is converted.
    """
    try:
        msgspec.convert(row, RECORDS[kind])
    except msgspec.ValidationError as error:
        raise InvalidRecord(_plain(str(error))) from None
    if kind == "task" and not (row.get("prompt") is not None or row.get("messages")):
        raise InvalidRecord("neither `prompt` nor `messages`")
    if kind == "rollout":
        _check_rollout(row)


def check_depth(raw: bytes, row: Any) -> None:
    """Raise `InvalidRecord` if `row`, read from `raw`, is nested deeper than DEEPEST.

    Hashing and encoding recurse; a row that could be read in one stage must not overflow the stack of the next.
    """
    if raw.count(b"[") + raw.count(b"{") <= DEEPEST:
        return
    level = [row]
    for _ in range(DEEPEST):
        inner = (value.values() if isinstance(value, dict) else value for value in level)
        level = [child for values in inner for child in values if isinstance(child, dict | list)]
    if level:
        raise InvalidRecord("nested too deep")


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a record, made from the type that `check` uses."""
    made = msgspec.json.schema(RECORDS[kind])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"clawctl.{kind}/1", **made}


def _check_rollout(row: dict[str, Any]) -> None:
    ids = row.get("completion_token_ids")
    if ids is not None:
        for key in ALIGNED:
            values = row.get(key)
            if values is not None and len(values) != len(ids):
                raise InvalidRecord(f"`{key}` has {len(values)} entries for {len(ids)} completion tokens")
    ends = row.get("step_ends") or []
    if any(b <= a for a, b in itertools.pairwise(ends)):
        raise InvalidRecord("`step_ends` does not increase")
    if ids is not None and ends and ends[-1] >= len(ids):
        raise InvalidRecord(f"`step_ends` points at token {ends[-1]} of {len(ids)}")


def _plain(message: str) -> str:
    """msgspec's "Expected `int`, got `str` - at `$.sample`" as "key `sample`: expected ..."."""
    what, _, where = message.partition(" - at `$")
    path = where.rstrip("`").lstrip(".")
    what = what.replace("Object missing required field", "missing key")
    return f"key `{path}`: {what}" if path else what
