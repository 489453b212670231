"""Which sequence lives in which stream of the cache: prompts evaluated once and copied, no holes between the active ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clawctl.engines.llama.context import BATCH, Context
from clawctl.engines.llama.weights import Weights

if TYPE_CHECKING:
    import numpy as np

ROUND = 256  # llama.cpp pads a stream's cells to this
FILLER = 1  # the stream that keeps a last sequence company


class Streams:
    """Streams 0..parallel-1 hold sequences; the last one holds the newest prompt, whose beginning the next one shares.

    No call has a single token, because those are computed by other code and differ in the last bits (see Context): a prompt leaves
    two at least to evaluate, and a last sequence gets a filler beside it. The cache is made when the first prompt comes, and made anew, longer, when a prompt needs more than there is.
    """

    def __init__(self, weights: Weights, adapter: Any, *, parallel: int, threads: int) -> None:
        self.parallel, self._prompt_stream = parallel, max(parallel, FILLER + 1)
        self._weights, self._adapter, self._threads = weights, adapter, threads
        self._context: Context | None = None
        self._spent = 0.0
        self._prompt: list[int] = []
        self._logits: np.ndarray | None = None
        self.evaluated = 0  # prompt tokens computed, as against shared

    @property
    def length(self) -> int:
        """Tokens that a sequence can have now."""
        return self._context.length if self._context else 0

    @property
    def seconds(self) -> float:
        """Time spent inside llama_decode."""
        return self._spent + (self._context.seconds if self._context else 0.0)

    def grow(self, length: int) -> None:
        """Make room for sequences of `length` tokens; everything in the cache is gone after it."""
        self.close()
        self._context = Context(
            self._weights, self._adapter, streams=self._prompt_stream + 1, length=-(-length // ROUND) * ROUND, threads=self._threads
        )

    def prompt(self, tokens: list[int]) -> np.ndarray:
        """Evaluate a prompt, all but what it shares with the one before; the logits (1, vocabulary) of what comes next."""
        if self._logits is None or tokens != self._prompt:
            context, stream = self._open(), self._prompt_stream
            at = min(_shared(tokens, self._prompt), max(0, len(tokens) - 2))
            self._prompt, self._logits = [], None
            if not context.cut(stream, at):
                context.cut(stream, 0)
                at = 0
            while at < len(tokens):
                end = min(at + BATCH, len(tokens))
                if end == len(tokens) - 1:
                    end -= 1
                logits = context.decode(tokens[at:end], range(at, end), [stream] * (end - at), last_only=True)
                self.evaluated += end - at
                at = end
            self._prompt, self._logits = list(tokens), logits.copy()
        assert self._logits is not None
        return self._logits

    def start(self, stream: int) -> None:
        """Let a sequence begin in `stream` behind the newest prompt."""
        self._open().copy(self._prompt_stream, stream)

    def step(self, tokens: Sequence[int], positions: Sequence[int]) -> np.ndarray:
        """Give the sequences in streams 0..n-1 one token each; the logits (n, vocabulary) of what comes next.

        No stream is left out, because llama.cpp computes only neighbours together; a hole would cut the step in two.
        """
        context, n = self._open(), len(tokens)
        if n > 1:
            return context.decode(tokens, positions, range(n), last_only=False)
        context.cut(FILLER, 0)
        return context.decode([*tokens, *tokens], [*positions, 0], [0, FILLER], last_only=False)[:1]

    def move(self, source: int, target: int) -> None:
        """Move a sequence into a hole."""
        self._open().copy(source, target)

    def reset(self) -> None:
        """Forget everything, after a failure."""
        self._prompt, self._logits = [], None
        if self._context:
            self._context.clear()

    def close(self) -> None:
        """Free the cache."""
        if self._context:
            self._spent += self._context.seconds
            self._context.close()
        self._context, self._prompt, self._logits = None, [], None

    def _open(self) -> Context:
        assert self._context is not None, "grow() comes first"
        return self._context


def _shared(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens two prompts begin with in common. A prompt of one token shares nothing: it was evaluated alone."""
    n = 0
    if len(b) < 2:
        return n
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n
