"""The loop's diary: one line an event in data/events.jsonl, by topic."""

from __future__ import annotations

from typing import Any

from clawctl.records.ids import content_id, now
from clawctl.workspace.ledger import Ledger
from clawctl.workspace.paths import Workspace


def emit(workspace: Workspace, topic: str, data: dict[str, Any]) -> None:
    """Append one event, e.g. topic "model.updates"."""
    workspace.data.mkdir(parents=True, exist_ok=True)
    created = now()
    row = {"schema": "clawctl.event/1", "id": content_id(topic, data, created), "topic": topic, "data": data, "created": created}
    Ledger(workspace.events).append(row)
