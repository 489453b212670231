"""An event: one line of data/events.jsonl, a topic and its payload."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from clawctl.records.fields import Name, Timestamp


class Event(TypedDict):
    """`topic` is one of tasks.*, results.*, feedback.*, training.rollouts, model.updates."""

    schema: NotRequired[Literal["clawctl.event/1"]]
    id: Name
    topic: Name
    data: dict[str, Any]
    created: NotRequired[Timestamp | None]
