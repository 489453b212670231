"""Continuous batching: one call of `sample`, from its requests to its replies.

Samples wait in the order of their requests. Whenever a stream is free the next sample takes it: its prompt is evaluated, unless the
sample before had the same, and copied into the stream. Then all active sequences take one token together. A prompt is evaluated in a
call of its own, and no result depends on which sequences happen to run together (see context.Context), so the same seed gives the
same completion whatever --parallel is and wherever a run was interrupted.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clawctl.engines.chat import ChatTemplate, TemplateFailed
from clawctl.engines.llama.completion import Completion
from clawctl.engines.llama.context import DecodeFailed
from clawctl.engines.llama.streams import Streams
from clawctl.engines.llama.weights import Weights
from clawctl.engines.protocol import Reply, Request, SamplingParams
from clawctl.engines.sampling import draw, uniforms
from clawctl.records.rollout import RowError

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Pending:
    """A request that was taken in: its prompt, the samples that are done, or why there will be none."""

    request: Request
    tokens: list[int] = field(default_factory=list)
    done: dict[int, Completion] = field(default_factory=dict)
    error: RowError | None = None

    @property
    def complete(self) -> bool:
        return self.error is not None or len(self.done) == len(self.request.seeds)

    def reply(self) -> Reply:
        """What the caller gets."""
        draws = [] if self.error else [self.done[sample].draw() for sample in range(len(self.request.seeds))]
        return Reply(self.request, self.tokens, draws, self.error)


class Run:
    """One call of `sample`. `seconds` is its time so far, without the time that the caller took to give a request."""

    def __init__(self, weights: Weights, template: ChatTemplate, streams: Streams, params: SamplingParams, limit: int) -> None:
        self.weights, self.template, self.streams, self.params, self.limit = weights, template, streams, params, limit
        self.stop = (*params.stop, *template.stop)
        self.taken: dict[int, Pending] = {}  # by place, until replied
        self.waiting: deque[tuple[int, int]] = deque()  # (place, sample) not yet started
        self.active: list[Completion] = []  # the one at index i lives in stream i
        self.next_place = self.next_reply = 0
        self.seconds = 0.0

    def replies(self, requests: Iterator[Request]) -> Iterator[Reply]:
        """Work until the requests are used up; a reply as soon as it and all before it are complete."""
        more, self._since = True, time.perf_counter()
        try:
            while more or self.waiting or self.active:
                more = self._fill(requests, more)
                self._step()
                self._note_time()
                yield from self._complete()
        finally:
            self._note_time()
            self.streams.reset()

    def _note_time(self) -> None:
        now = time.perf_counter()
        self.seconds += now - self._since
        self._since = now

    def _complete(self) -> Iterator[Reply]:
        while (pending := self.taken.get(self.next_reply)) and pending.complete:
            del self.taken[self.next_reply]
            self.next_reply += 1
            yield pending.reply()

    def _fill(self, requests: Iterator[Request], more: bool) -> bool:
        """Start samples until every stream is busy or there is nothing to start. False when the requests are used up."""
        while len(self.active) < self.streams.parallel:
            if not self.waiting and more:
                self._note_time()
                request = next(requests, None)
                self._since = time.perf_counter()
                more = request is not None
                if request is not None:
                    self._take(request)
            elif not self.waiting or not self._start():
                break
            if (pending := self.taken.get(self.next_reply)) and pending.complete:
                break  # reply first, so that a stream of requests that fail at once does not pile up
        return more

    def _take(self, request: Request) -> None:
        """Render and tokenise a request, and queue its samples."""
        pending = self.taken[self.next_place] = Pending(request)
        try:
            pending.tokens = self.weights.tokenize(self.template.render(request.messages))
        except (TemplateFailed, ValueError) as error:
            pending.error = _error("prompt", f"no prompt can be made of the messages: {error}")
        else:
            pending.error = self._misfit(pending.tokens)
        if not pending.error:
            self.waiting.extend((self.next_place, sample) for sample in range(len(request.seeds)))
        self.next_place += 1

    def _misfit(self, tokens: list[int]) -> RowError | None:
        if not tokens:
            return _error("prompt", "the prompt is empty")
        if len(tokens) + self.params.max_tokens > self.limit:
            wanted = f"{len(tokens)} prompt tokens and up to {self.params.max_tokens} to come"
            return _error("context", f"{wanted} do not fit the context of {self.limit}")
        return None

    def _start(self) -> bool:
        """Start the sample that waits first. False when the cache must grow, which waits until no sequence is in it."""
        place, sample = self.waiting[0]
        pending = self.taken[place]
        need = len(pending.tokens) + self.params.max_tokens
        if need > self.streams.length:
            if self.active:
                return False
            self.streams.grow(min(self.limit, max(need, 2 * self.streams.length)))
        try:
            logits = self.streams.prompt(pending.tokens)
        except DecodeFailed as error:
            self._fail([place, *(c.place for c in self.active)], error)
            return True
        self.waiting.popleft()
        numbers = uniforms(pending.request.seeds[sample], self.params.max_tokens)
        completion = Completion(place, sample, len(pending.tokens), numbers, self.weights, self.params, self.stop)
        self._advance([completion], logits)
        if not completion.finish:
            self.streams.start(len(self.active))
            self.active.append(completion)
        return True

    def _step(self) -> None:
        """One token for every active sequence."""
        if not self.active:
            return
        try:
            logits = self.streams.step([c.tokens[-1] for c in self.active], [c.position for c in self.active])
        except DecodeFailed as error:
            self._fail([c.place for c in self.active], error)
            return
        self._advance(self.active, logits)
        self._close_holes()

    def _advance(self, completions: list[Completion], logits: np.ndarray) -> None:
        """Draw the next token of each completion from its row of logits, and settle those that are over."""
        import numpy as np

        numbers = np.array([c.numbers[len(c.tokens)] for c in completions])
        tokens, logprobs = draw(logits, numbers, self.params)
        for completion, token, logprob in zip(completions, tokens.tolist(), logprobs.tolist(), strict=True):
            if completion.finish:
                continue  # its request was given up a moment ago
            if not math.isfinite(logprob):
                completion.finish = "abort"
                self._drop(completion.place, _error("engine", "the model gave logits that are not numbers"))
                continue
            completion.add(token, logprob)
            if completion.finish:
                self.taken[completion.place].done[completion.sample] = completion

    def _close_holes(self) -> None:
        """Put the last active sequence where one has ended."""
        at = 0
        while at < len(self.active):
            if not self.active[at].finish:
                at += 1
                continue
            last = self.active.pop()
            if at < len(self.active):
                self.active[at] = last
                if not last.finish:
                    self.streams.move(len(self.active), at)

    def _drop(self, place: int, error: RowError) -> None:
        """Give up a request; its sequences end."""
        self.taken[place].error = error
        self.waiting = deque(w for w in self.waiting if w[0] != place)
        for completion in self.active:
            if completion.place == place:
                completion.finish = completion.finish or "abort"

    def _fail(self, places: list[int], error: DecodeFailed) -> None:
        """A decode failed: what is in the cache is lost, and with it the requests whose sequences were there."""
        for place in dict.fromkeys(places):
            self._drop(place, _error("engine", str(error)))
        self.active.clear()
        self.streams.reset()


def _error(kind: str, message: str) -> RowError:
    return {"stage": "generate", "kind": kind, "message": message}
