"""Made-up scored rollouts of about 1 KB, the same for the same number."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clawctl.records.streams import Writer

GROUP = 8
WORDS = ["take", "the", "number", "of", "apples", "add", "those", "from", "market", "count", "again", "compare", "what", "was", "there"]


def make(path: Path, rows: int) -> float:
    """Write them; the mean size of a line in bytes."""
    with Writer(path) as out:
        out.write_all(rollouts(rows))
    return path.stat().st_size / rows


def rollouts(rows: int) -> Iterator[dict[str, Any]]:
    """Groups of eight in a row, rewards 0, 0.2 or 1."""
    draw = random.Random(0)
    for n in range(rows):
        tokens = draw.choices(range(49152), k=20)
        text = " ".join(draw.choices(WORDS, k=12))
        right = draw.random() < 0.5
        yield {
            "schema": "clawctl.rollout/1",
            "id": f"{draw.getrandbits(64):016x}",
            "task_id": f"task-{n // GROUP}",
            "group_id": f"{n // GROUP:016x}",
            "sample": n % GROUP,
            "messages": [{"role": "user", "content": f"How many are left? {text}"}],
            "completion": f"<step>1. {text}</step>\n<answer>{n % 100}</answer>",
            "steps": [text],
            "step_ends": [15],
            "answer": str(n % 100),
            "finish_reason": "stop",
            "completion_token_ids": tokens,
            "rollout_logprobs": [-round(draw.random(), 4) for _ in tokens],
            "policy": {"model": "starter", "adapter": None, "adapter_sha256": None, "engine": "llama"},
            "sampling": {"temperature": 1.0, "seed": draw.getrandbits(31)},
            "scores": {"verify": {"reward": 1.0 if right else 0.2}},
            "reward": 1.0 if right else 0.2,
            "reward_parts": {"format": 1.0, "answer": float(right)},
            "created_at": "2026-01-01T00:00:00.000Z",
        }
