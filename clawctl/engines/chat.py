"""Chat templates: from messages to the text that a model was trained to continue.

The model's own template comes from its metadata. A base model has none and gets PLAIN, a shape that it completes well, with a stop
string of its own. The hash of the template goes into every rollout: under another template the same weights are another policy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from clawctl.errors import Missing
from clawctl.records.fields import Message

PLAIN = """\
{%- for message in messages -%}
{%- if message.role == 'system' -%}{{ message.content }}{{ '\\n\\n' }}
{%- elif message.role == 'assistant' -%}{{ 'Solution:\\n' + message.content }}{{ '\\n\\n' }}
{%- else -%}{{ 'Task: ' + message.content }}{{ '\\n' }}
{%- endif -%}
{%- endfor -%}
{{ 'Solution:\\n' }}"""
PLAIN_STOP = ("\nTask:",)


class TemplateFailed(ValueError):
    """The template refused these messages, e.g. two turns of one role."""


class ChatTemplate:
    """One Jinja template with the model's `bos` and `eos`; `source` None is PLAIN."""

    def __init__(self, source: str | None, bos: str = "", eos: str = "") -> None:
        self.source, self.bos, self.eos = source or PLAIN, bos, eos
        self.stop: tuple[str, ...] = () if source else PLAIN_STOP
        self.sha256 = hashlib.sha256(self.source.encode()).hexdigest()

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, ready for the assistant's turn. It may begin with `bos`: tokenise it without adding another."""
        from jinja2 import TemplateError

        try:
            return self._compiled.render(messages=messages, add_generation_prompt=True, bos_token=self.bos, eos_token=self.eos)
        except (TemplateError, TypeError, ValueError) as error:
            raise TemplateFailed(str(error) or type(error).__name__) from None

    @cached_property
    def _compiled(self) -> Any:
        """Compiled as model authors expect it (transformers' settings), but without a clock: `strftime_now` would make
        tomorrow's prompt another prompt."""
        try:
            from jinja2.ext import loopcontrols
            from jinja2.sandbox import ImmutableSandboxedEnvironment
        except ImportError:
            raise Missing("jinja2", "local") from None
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
        environment.globals["raise_exception"] = _raise
        return environment.from_string(self.source)


def _raise(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)
