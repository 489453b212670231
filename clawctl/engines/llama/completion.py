"""One completion while it grows: its tokens, its text, and when it is over."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clawctl.engines.protocol import Draw, SamplingParams

if TYPE_CHECKING:
    import numpy as np

    from clawctl.engines.llama.weights import Weights


@dataclass
class Completion:
    """Sample number `sample` of the request at `place`, growing token by token. `finish` is set when it is over.

    numbers: the random number of each token, drawn ahead from the sample's own generator.
    """

    place: int
    sample: int
    prompt_length: int
    numbers: np.ndarray
    weights: Weights
    params: SamplingParams
    stop: tuple[str, ...]
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    text: str = ""
    finish: str | None = None

    def __post_init__(self) -> None:
        # A character may be spread over several tokens; it is there with the last of them.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tail = max((len(s) for s in self.stop), default=0)

    @property
    def position(self) -> int:
        """The position of the newest token."""
        return self.prompt_length + len(self.tokens) - 1

    def add(self, token: int, logprob: float) -> None:
        """Take the token that was drawn."""
        self.tokens.append(token)
        self.logprobs.append(logprob)
        over = token in self.weights.ends
        new = "" if over else self._decoder.decode(self.weights.piece(token))
        if new:
            self._extend(new)
        self.ends.append(len(self.text))
        if over:
            self.finish = "stop"
        elif not self.finish and len(self.tokens) == self.params.max_tokens:
            self.finish = "length"

    def draw(self) -> Draw:
        """The finished completion."""
        if rest := self._decoder.decode(b"", True):
            self.text += rest
            self.ends[-1] = len(self.text)
        ends = [min(end, len(self.text)) for end in self.ends]
        return Draw(self.text, self.tokens, self.logprobs, self.finish or "abort", ends)

    def _extend(self, new: str) -> None:
        start = max(0, len(self.text) - self._tail)
        self.text += new
        found = [at for s in self.stop if (at := self.text.find(s, start)) >= 0]
        if found:
            self.text = self.text[: min(found)]
            self.finish = "stop"
            self._decoder.reset()
