"""Into order: things by the places they are given, numbers by size."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, exact, part
from clawctl.tasks.vocabulary import WORDS

UP = ["Sort from smallest to largest: {}", "Put in ascending order: {}", "Order these from low to high: {}", "Smallest first: {}"]
DOWN = ["Sort from largest to smallest: {}", "Put in descending order: {}", "Order these from high to low: {}", "Largest first: {}"]
PLACES = ["Put in order by number: {}", "In which order do these come: {}?", "Sort by place: {}", "List by rank: {}"]


def draw(rng: random.Random, side: Side) -> Problem:
    """In nine of ten problems two or three things in the order of their places, else two numbers, rising twice as often as falling."""
    return _numbers(rng) if rng.random() < 1 / 10 else _places(rng, side)


def _places(rng: random.Random, side: Side) -> Problem:
    ranked = rng.sample(part(WORDS, side), rng.choice([2, 2, 3]))
    given = [f"{at} {thing}" for at, thing in enumerate(ranked, 1)]
    shown = rng.sample(given, len(given))
    answer = ", ".join(ranked)
    prompt = rng.choice(PLACES).format(", ".join(shown))
    difficulty = 0.1 * len(ranked) + 0.1 * (shown != given)
    return Problem("order:" + answer, prompt, exact(answer), [", ".join(given)], answer, round(difficulty, 2), sorted(ranked))


def _numbers(rng: random.Random) -> Problem:
    numbers = rng.sample(range(1, 100), 2)
    falling = rng.random() < 1 / 3
    ranked = sorted(numbers, reverse=falling)
    prompt = rng.choice(DOWN if falling else UP).format(", ".join(map(str, numbers)))
    step = (" > " if falling else " < ").join(map(str, ranked))
    answer = ", ".join(map(str, ranked))
    difficulty = 0.5 + 0.1 * falling
    return Problem("numbers:" + ",".join(map(str, sorted(numbers))), prompt, exact(answer), [step], answer, round(difficulty, 2))
