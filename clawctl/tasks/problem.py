"""What a kind of task draws, and on which side of the train/held-out line a fact lies.

The line is drawn through the facts, not through the strings and not through the seed: whatever the seeds, no held-out
task asks for a fact that some training task has taught. A fact is written in one canonical form, so that 3 + 5, 5 + 3 and
8 - 5 are the same one.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from typing import Literal, Protocol

from clawctl.records.task import Verify

Side = Literal["train", "heldout"]
HELDOUT_SHARE = 5  # one fact in five is held out


@dataclass(frozen=True)
class Problem:
    """One task before it gets an id. `fact`: its canonical fact. `steps`, `answer`: the worked answer. `difficulty`: 0..1."""

    fact: str
    prompt: str
    verify: Verify
    steps: list[str]
    answer: str
    difficulty: float
    words: list[str] = field(default_factory=list)


class Kind(Protocol):
    """A kind of task. `draw` gives any problem of the kind; words must be of `side`, facts are sifted by the caller."""

    def __call__(self, rng: random.Random, side: Side) -> Problem: ...


def side_of(fact: str) -> Side:
    """Where a fact (or a word of a vocabulary) belongs, by its hash alone."""
    digest = hashlib.blake2b(fact.encode(), digest_size=8).digest()
    return "heldout" if int.from_bytes(digest, "big") % HELDOUT_SHARE == 0 else "train"


def part(vocabulary: str, side: Side) -> list[str]:
    """The words of a vocabulary ("cup, fork, spoon") that `side` may use."""
    return [word for word in vocabulary.split(", ") if side_of(word) == side]


def number(answer: int) -> Verify:
    """Verified as a number."""
    return {"kind": "number", "answer": str(answer)}


def exact(answer: str) -> Verify:
    """Verified as text."""
    return {"kind": "exact", "answer": answer}


def one_of(answer: str, choices: list[str]) -> Verify:
    """Verified as one of `choices`."""
    return {"kind": "choice", "answer": answer, "choices": choices}
