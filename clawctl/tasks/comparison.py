"""Who is taller, as a sentence tells it from one end or the other; which of two numbers is larger."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, exact, number, part
from clawctl.tasks.vocabulary import NAMES

# What one of two is when the other is the second word.
OPPOSITES = [
    ("taller", "shorter"),
    ("older", "younger"),
    ("faster", "slower"),
    ("heavier", "lighter"),
    ("richer", "poorer"),
    ("stronger", "weaker"),
    ("louder", "quieter"),
]
ASKING = ["{0} is {1} than {2}. Who is {3}?", "{0} is {1} than {2}. Which one is {3}?", "Who is {3} if {0} is {1} than {2}?"]
LARGER = ["Which number is larger, {0} or {1}?", "Which is greater: {0} or {1}?", "Compare {0} and {1}. Which one is bigger?"]
SMALLER = ["Which number is smaller, {0} or {1}?", "Which is less: {0} or {1}?", "Compare {0} and {1}. Which one is lower?"]


def draw(rng: random.Random, side: Side) -> Problem:
    """In nine of ten problems two people, in the rest two numbers below 100."""
    return _numbers(rng) if rng.random() < 1 / 10 else _people(rng, side)


def _people(rng: random.Random, side: Side) -> Problem:
    first, second = rng.sample(part(NAMES, side), 2)
    pair = rng.choice(OPPOSITES)
    said, other = pair if rng.random() < 0.5 else pair[::-1]
    same = rng.random() < 2 / 3
    asked, answer = (said, first) if same else (other, second)
    fact = f"{pair[0]}:" + ">".join((first, second) if said == pair[0] else (second, first))
    prompt = rng.choice(ASKING).format(first, said, second, asked)
    step = f"{said}: {first}, {other}: {second}"
    return Problem(fact, prompt, exact(answer), [step], answer, 0.2 if same else 0.4, sorted([first, second]))


def _numbers(rng: random.Random) -> Problem:
    numbers = rng.sample(range(1, 100), 2)
    up = rng.random() < 0.5
    ranked = sorted(numbers, reverse=up)
    prompt = rng.choice(LARGER if up else SMALLER).format(*numbers)
    step = (" > " if up else " < ").join(map(str, ranked))
    return Problem("numbers:" + ",".join(map(str, sorted(numbers))), prompt, number(ranked[0]), [step], str(ranked[0]), 0.5)
