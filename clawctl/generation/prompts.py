"""From a task to the chat that asks it: the step-marker system prompt, then the task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawctl.errors import Usage
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


def read_system(name: str | None) -> str | None:
    """The system prompt that `--system` means: the step format by default, none, or the text of a file."""
    if name is None:
        return SYSTEM
    if name == "none":
        return None
    try:
        return Path(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"--system {name}: {getattr(error, 'strerror', None) or error}", "name a text file, or none") from None
