"""A feedback record: what a person or a manager said about one answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from clawctl.records.fields import Name, Timestamp, Unit


class Feedback(TypedDict):
    """One line of data/feedback.jsonl. `score` null: words only."""

    schema: NotRequired[Literal["clawctl.feedback/1"]]
    id: Name
    rollout_id: NotRequired[str | None]
    task_id: NotRequired[str | None]
    rater: NotRequired[str | None]
    score: NotRequired[Unit | None]
    text: NotRequired[str | None]
    step: NotRequired[int | None]
    created: NotRequired[Timestamp | None]
    meta: NotRequired[dict[str, Any] | None]
