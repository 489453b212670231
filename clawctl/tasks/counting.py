"""How many things are in a short list."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, number, part
from clawctl.tasks.vocabulary import WORDS

PHRASES = [
    "How many items are in this list: {}?",
    "Count the words: {}",
    "How many things are listed here: {}?",
    "I bought: {}. How many things did I buy?",
]


def draw(rng: random.Random, side: Side) -> Problem:
    """Lists of two to six; the worked answer counts aloud."""
    items = rng.sample(part(WORDS, side), rng.randint(2, 6))
    step = ", ".join(f"{at} {item}" for at, item in enumerate(items, 1))
    prompt = rng.choice(PHRASES).format(", ".join(items))
    count, fact = len(items), "count:" + ",".join(sorted(items))
    return Problem(fact, prompt, number(count), [step], str(count), round(0.1 + 0.08 * count, 2), sorted(items))
