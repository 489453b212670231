"""From a task to the chat that asks it: the step-marker system prompt, then the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawctl.records.fields import Message

# Short, because every prompt is evaluated; with the tags written out, because small models copy shapes better than they follow rules.
SYSTEM = """\
Solve the task in short numbered steps, then give only the result, like this:
<step>1. first step</step>
<step>2. next step</step>
<answer>result</answer>"""


def messages_for(task: Mapping[str, Any], system: str | None = SYSTEM) -> list[Message]:
    """The chat of a task: its `messages`, or its `prompt` as the user's turn; `system` goes first where the task has none of its own.

    system: None or "" leaves it out.
    """
    asked: list[Message] = list(task.get("messages") or [{"role": "user", "content": task["prompt"]}])
    if not system or any(message["role"] == "system" for message in asked):
        return asked
    return [{"role": "system", "content": system}, *asked]
