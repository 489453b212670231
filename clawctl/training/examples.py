"""What supervised training imitates: worked answers of tasks, or the best-scored rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from clawctl.engines.chat import ChatTemplate, TemplateFailed
from clawctl.generation.prompts import messages_for
from clawctl.training.packing import Row
from clawctl.training.rows import Sample, Sampled, read


def from_tasks(tasks: Iterable[dict[str, Any]], tokenizer: Any, template: ChatTemplate, end: int) -> Sampled:
    """The tasks that carry a `solution`, each as generate would prompt it and answered by the solution and the token `end`.

    tokenizer: has `tokenize(text) -> ids`, the one that generate uses.
    """
    samples: list[Sample] = []
    dropped: Counter[str] = Counter()
    for task in tasks:
        if not (solution := task.get("solution")):
            dropped["no solution"] += 1
            continue
        try:
            prompt = template.render(messages_for(task))
        except TemplateFailed:
            dropped["no prompt could be made of the messages"] += 1
            continue
        ids = tokenizer.tokenize(prompt)
        whole = tokenizer.tokenize(prompt + solution)
        if whole[: len(ids)] != ids:
            dropped["prompt and solution merge into one token"] += 1
            continue
        completion = [*whole[len(ids) :], end]
        samples.append(Sample(Row(ids, completion, [1] * len(completion), len(samples)), task["id"], None, 1.0, None, False))
    return Sampled(samples, dropped, Counter(), 0)


def best_of(rollouts: Iterable[dict[str, Any]], min_reward: float, vocabulary: int) -> Sampled:
    """The best rollout of each group, where its reward is at least `min_reward`; the first of equals. Cut-off answers teach no end."""
    read_rows = read(rollouts, vocabulary)
    best: dict[str, Sample] = {}
    dropped = read_rows.dropped
    for sample in read_rows.samples:
        if sample.reward is None or sample.reward < min_reward:
            dropped[f"reward below {min_reward:g}"] += 1
        elif sample.truncated:
            dropped["cut off"] += 1
        elif sample.group in best and (best[sample.group].reward or 0) >= sample.reward:
            dropped["not the best of its group"] += 1
        else:
            dropped["not the best of its group"] += sample.group in best
            best[sample.group] = sample
    for index, sample in enumerate(best.values()):
        sample.row.index, sample.temperature = index, 1.0
    return Sampled(list(best.values()), +dropped, read_rows.policies, read_rows.restricted)
