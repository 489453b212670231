"""An engine that says what it was told to: for tests of what comes around a model, and for trying a pipeline out without one.

    [models.parrot]
    engine = "scripted"
    answers = ["<step>1. look</step>\\n<answer>36</answer>", "no idea"]
    seconds = 0.0        # time an answer takes

Which answer a sample gets is drawn by its seed. A byte is a token.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

from clawctl.engines.chat import ChatTemplate
from clawctl.engines.protocol import Draw, Reply, Request, SamplingParams
from clawctl.errors import Usage
from clawctl.records.ids import content_id
from clawctl.records.rollout import Policy
from clawctl.workspace.models import Model

if TYPE_CHECKING:
    from clawctl.adapters.versions import AdapterRef


class ScriptedEngine:
    """An Engine over a list of answers."""

    def __init__(self, answers: list[str], seconds: float, policy: Policy) -> None:
        self.policy, self._answers, self._seconds = policy, answers, seconds

    def sample(self, requests: Iterable[Request], params: SamplingParams) -> Iterator[Reply]:
        """Answer each request when it comes."""
        for request in requests:
            prompt = list("\n".join(message["content"] for message in request.messages).encode())
            yield Reply(request, prompt, [self._draw(seed, params) for seed in request.seeds])

    def overhead(self) -> float | None:
        """Not known: there is no model."""
        return None

    def close(self) -> None:
        """Nothing is held."""

    def _draw(self, seed: int, params: SamplingParams) -> Draw:
        time.sleep(self._seconds)
        answer = self._answers[0] if params.temperature == 0 else Random(seed).choice(self._answers)
        tokens = list(answer.encode())[: params.max_tokens]
        text = bytes(tokens).decode(errors="ignore")
        ends = [len(bytes(tokens[: n + 1]).decode(errors="ignore")) for n in range(len(tokens))]
        return Draw(text, tokens, None, "stop" if text == answer else "length", ends)


def open_scripted(model: Model, adapter: AdapterRef | None = None, **_: Any) -> ScriptedEngine:
    """The engine of a [models.NAME] table; options that belong to real models do nothing here."""
    answers = model.options.get("answers")
    if not isinstance(answers, list) or not answers or not all(isinstance(answer, str) for answer in answers):
        raise Usage(f"[models.{model.name}] needs `answers`", 'answers = ["<step>1. look</step>\\n<answer>36</answer>"]')
    policy: Policy = {
        "model": model.name,
        "base_sha256": content_id(answers),
        "adapter": adapter.name if adapter else None,
        "adapter_sha256": adapter.sha256 if adapter else None,
        "engine": "scripted",
        "engine_version": "1",
        "chat_template_sha256": ChatTemplate(None).sha256,
    }
    return ScriptedEngine(answers, float(model.options.get("seconds", 0)), policy)
