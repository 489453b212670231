"""What every engine does: requests in, replies out, in order and as they come.

An engine never raises for one request; a request that cannot be answered is a Reply with an `error`. What is wrong with the engine
itself (no weights, wrong adapter) is raised when it is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from clawctl.records.fields import Message
from clawctl.records.rollout import Policy, RowError


@dataclass(frozen=True)
class SamplingParams:
    """How tokens are drawn. Temperature 0 is greedy; `top_k` 0, `top_p` 1 and `min_p` 0 are off; `max_tokens` a completion."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int = 96
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """A chat to be answered once for every seed. `key` is the caller's."""

    key: str
    messages: list[Message]
    seeds: list[int]


@dataclass(frozen=True)
class Draw:
    """One sampled completion.

    token_ids: what was sampled, the end-of-generation token included, since a trained policy must learn to stop.
    logprobs: natural log-probability of each token under the policy at the sampling temperature (at 1 for greedy), before
        top-k, top-p and min-p cut anything; None where the engine does not tell.
    token_ends: the character of `text` at which each token ends; a stop string and the end token add nothing to the text.
    """

    text: str
    token_ids: list[int]
    logprobs: list[float] | None
    finish_reason: str
    token_ends: list[int]


@dataclass(frozen=True)
class Reply:
    """What became of a request: its draws in the order of its seeds, or an error."""

    request: Request
    prompt_token_ids: list[int] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    error: RowError | None = None


class Engine(Protocol):
    """A model that answers. `policy` says who it is, as every rollout records it."""

    policy: Policy

    def sample(self, requests: Iterable[Request], params: SamplingParams) -> Iterator[Reply]:
        """Answer the requests in their order. They are drawn from the iterable as room becomes free."""

    def overhead(self) -> float | None:
        """The share of the sampling time that the model itself did not take; None where that is not known."""

    def close(self) -> None:
        """Free the weights."""
