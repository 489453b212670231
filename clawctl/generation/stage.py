"""The generate stage: tasks in, rollouts out, `samples` of them a task, in the order of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from clawctl.engines.protocol import Draw, Engine, Reply, Request, SamplingParams
from clawctl.generation.prompts import SYSTEM, messages_for
from clawctl.records.ids import content_id, derive_seed, now
from clawctl.records.rollout import ROLLOUT_SCHEMA, Policy
from clawctl.records.steps import ends_in_tokens, parse

Task = dict[str, Any]
Row = dict[str, Any]
Owed = Callable[[str, int], list[int]]  # (group id, samples wanted) -> the samples that are not there yet


def generate(
    tasks: Iterable[Task],
    engine: Engine,
    params: SamplingParams,
    *,
    samples: int = 8,
    seed: int = 0,
    round_: int = 0,
    system: str | None = SYSTEM,
    owed: Owed | None = None,
) -> Iterator[Row]:
    """Sample every task `samples` times. Tasks are taken from the stream as the engine has room for them.

    system: the system prompt for tasks without one of their own, or None. owed: the samples of a group that are not there yet, where a run
    is resumed. A task that cannot be answered gives one row a sample, with an `error`.
    """
    asked: dict[str, tuple[Task, list[int]]] = {}

    def requests() -> Iterator[Request]:
        for task in tasks:
            messages = messages_for(task, system)
            group = group_id(task, messages, engine.policy, seed, round_)
            wanted = list(range(samples)) if owed is None else owed(group, samples)
            if wanted:
                asked[group] = task, wanted
                yield Request(group, messages, [derive_seed(seed, task["id"], round_, sample) for sample in wanted])

    for reply in engine.sample(requests(), params):
        task, wanted = asked.pop(reply.request.key)
        for at, sample in enumerate(wanted):
            yield rollout(task, reply, at, sample, engine.policy, params)


def group_id(task: Task, messages: list[Any], policy: Policy, seed: int, round_: int) -> str:
    """The id that the samples of one task by one policy in one round share."""
    return content_id(task["id"], messages, policy.get("adapter_sha256"), policy.get("base_sha256"), seed, round_)


def rollout(task: Task, reply: Reply, at: int, sample: int, policy: Policy, params: SamplingParams) -> Row:
    """The row of the reply's draw number `at`, sample number `sample` of the group."""
    request, draw = reply.request, None if reply.error else reply.draws[at]
    tokens = draw.token_ids if draw else []
    return {
        "schema": ROLLOUT_SCHEMA,
        "id": content_id(request.key, sample, tokens),
        "task_id": task["id"],
        "group_id": request.key,
        "sample": sample,
        "task": task,
        "messages": request.messages,
        **_spoken(draw),
        "prompt_token_ids": reply.prompt_token_ids,
        "policy": policy,
        "sampling": sampling_of(params, request.seeds[at]),
        "reward": None,
        "error": reply.error,
        "created_at": now(),
        "usage": {"prompt_tokens": len(reply.prompt_token_ids), "completion_tokens": len(tokens)},
    }


def _spoken(draw: Draw | None) -> Row:
    """What the completion says; all null where there is none."""
    if draw is None:
        unknown = ("completion", "steps", "step_ends", "answer", "finish_reason", "completion_token_ids", "rollout_logprobs", "loss_mask")
        return dict.fromkeys(unknown)
    parsed = parse(draw.text)
    return {
        "completion": draw.text,
        "steps": [step.text for step in parsed.steps],
        "step_ends": ends_in_tokens(parsed.steps, draw.token_ends),
        "answer": parsed.answer,
        "finish_reason": draw.finish_reason,
        "completion_token_ids": draw.token_ids,
        "rollout_logprobs": draw.logprobs,
        "loss_mask": [1] * len(draw.token_ids),
    }


def sampling_of(params: SamplingParams, seed: int) -> Row:
    """The `sampling` of a row."""
    return {
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "min_p": params.min_p,
        "max_tokens": params.max_tokens,
        **({"stop": list(params.stop)} if params.stop else {}),
        "seed": seed,
    }
