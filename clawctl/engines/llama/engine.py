"""The llama engine: a GGUF, and an adapter on it, that answers requests (run.py says how)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clawctl.engines.chat import ChatTemplate
from clawctl.engines.llama.opening import load
from clawctl.engines.llama.requantize import AUTO
from clawctl.engines.llama.run import Run
from clawctl.engines.llama.streams import Streams
from clawctl.engines.llama.weights import Weights
from clawctl.engines.protocol import Reply, Request, SamplingParams
from clawctl.errors import Usage
from clawctl.records.rollout import Policy
from clawctl.workspace.machine import physical_cores
from clawctl.workspace.models import Model

if TYPE_CHECKING:
    from clawctl.adapters.versions import AdapterRef

PARALLEL = 32
CONTEXT = 4096


class LlamaEngine:
    """An Engine, in this process."""

    def __init__(self, weights: Weights, template: ChatTemplate, policy: Policy, streams: Streams, limit: int) -> None:
        self.policy = policy
        self._weights, self._template, self._streams, self._limit = weights, template, streams, limit
        self._runs: list[Run] = []

    def sample(self, requests: Iterable[Request], params: SamplingParams) -> Iterator[Reply]:
        """Answer the requests in their order; see Engine."""
        run = Run(self._weights, self._template, self._streams, params, self._limit)
        self._runs.append(run)
        yield from run.replies(iter(requests))

    def overhead(self) -> float | None:
        """The share of all sampling time that was not spent inside llama_decode."""
        spent = sum(run.seconds for run in self._runs)
        return max(0.0, 1 - self._streams.seconds / spent) if spent else None

    @property
    def prompt_tokens_evaluated(self) -> int:
        """Prompt tokens computed so far; the others were shared."""
        return self._streams.evaluated

    def close(self) -> None:
        """Free the cache and the weights."""
        self._streams.close()
        self._weights.close()


def open_llama(
    model: Model,
    adapter: AdapterRef | None = None,
    *,
    threads: int | None = None,
    context: int = CONTEXT,
    parallel: int = PARALLEL,
    requantize: str = AUTO,
    cache: Path | None = None,
) -> LlamaEngine:
    """Load a GGUF, and an adapter that was trained on it.

    threads: by default one a physical core. context: the most tokens of a prompt and its completion together. parallel: sequences
    at once. requantize: auto, none, f16, q8_0 or q4_0 (see requantize.py); what is made is kept in `cache`, a folder that also
    remembers hashes. Raises ClawctlError for
    weights or an adapter that cannot be loaded, and for an adapter of another base model.
    """
    if parallel < 1:
        raise Usage(f"--parallel {parallel}: one sequence at least")
    weights, lora, policy, template = load(model, adapter, requantize=requantize, cache=cache)
    streams = Streams(weights, lora, parallel=parallel, threads=threads or physical_cores())
    return LlamaEngine(weights, template, policy, streams, min(context, weights.trained_context))
