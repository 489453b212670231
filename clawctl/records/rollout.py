"""A rollout: one sampled answer, what it was sampled from, and what the judges made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from clawctl.records.fields import Count, Finite, Message, Name, Timestamp
from clawctl.records.task import Task

FinishReason = Literal["stop", "length", "abort", "tool"]
NonNegative = Annotated[float, Meta(ge=0.0)]
ROLLOUT_SCHEMA = "clawctl.rollout/1"


class Policy(TypedDict):
    """Who answered. `adapter` null is the bare base model."""

    model: NotRequired[str | None]
    base_sha256: NotRequired[str | None]
    adapter: NotRequired[str | None]
    adapter_sha256: NotRequired[str | None]
    engine: NotRequired[str | None]
    engine_version: NotRequired[str | None]
    chat_template_sha256: NotRequired[str | None]


class Sampling(TypedDict):
    """How tokens were drawn. `top_k` 0 and `top_p` 1 are off."""

    temperature: NotRequired[NonNegative]
    top_p: NotRequired[NonNegative]
    top_k: NotRequired[int]
    min_p: NotRequired[NonNegative]
    max_tokens: NotRequired[Count]
    seed: NotRequired[int | None]


class RowError(TypedDict):
    """A failure of one row: the stage that failed, a short kind for scripts, a sentence for people."""

    stage: str
    kind: str
    message: str


class Score(TypedDict):
    """What one judge said. `reward` null: it could not score the row, which is not 0. `parts`: what the reward is made of."""

    reward: NotRequired[Finite | None]
    parts: NotRequired[dict[str, Finite | None] | None]
    step_rewards: NotRequired[list[Finite | None] | None]
    votes: NotRequired[list[Any] | None]
    rationale: NotRequired[str | None]
    error: NotRequired[RowError | str | None]


class Rollout(TypedDict):
    """One line of a rollout file. Every stage passes through the keys it does not know."""

    schema: NotRequired[Literal["clawctl.rollout/1"]]
    id: Name
    task_id: Name
    group_id: Name
    sample: NotRequired[Count]
    task: NotRequired[Task | None]
    messages: NotRequired[list[Message]]
    completion: NotRequired[str | None]
    steps: NotRequired[list[str] | None]
    step_ends: NotRequired[list[Count] | None]
    answer: NotRequired[str | None]
    finish_reason: NotRequired[FinishReason | None]
    prompt_token_ids: NotRequired[list[Count] | None]
    completion_token_ids: NotRequired[list[Count] | None]
    rollout_logprobs: NotRequired[list[Finite | None] | None]
    loss_mask: NotRequired[list[Annotated[int, Meta(ge=0, le=1)]] | None]
    policy: NotRequired[Policy | None]
    sampling: NotRequired[Sampling | None]
    scores: NotRequired[dict[str, Score] | None]
    reward: NotRequired[Finite | None]
    reward_parts: NotRequired[dict[str, Finite | None] | None]
    step_rewards: NotRequired[list[Finite | None] | None]
    feedback: NotRequired[Any]
    worker: NotRequired[str | None]
    session_id: NotRequired[str | None]
    turn: NotRequired[int | None]
    next_state: NotRequired[Any]
    hint: NotRequired[str | None]
    excluded: NotRequired[str | None]
    error: NotRequired[RowError | None]
    created_at: NotRequired[Timestamp | None]
    usage: NotRequired[dict[str, Any] | None]
