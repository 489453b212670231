"""Which tasks a round samples: a seeded walk through all of them, epoch after epoch."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def choose(tasks: Sequence[T], round_: int, groups: int, seed: int) -> list[T]:
    """The `groups` tasks of round `round_` (from 1). Every task comes once before any comes again, and none twice in a round."""
    groups = min(groups, len(tasks))
    chosen: dict[int, None] = {}
    for at in islice(_walk(len(tasks), seed), (round_ - 1) * groups, None):
        chosen[at] = None
        if len(chosen) == groups:
            break
    return [tasks[at] for at in chosen]


def _walk(size: int, seed: int) -> Iterator[int]:
    """Positions, each epoch in an order of its own."""
    epoch = 0
    while True:
        order = list(range(size))
        random.Random(f"{seed}/{epoch}").shuffle(order)
        yield from order
        epoch += 1
