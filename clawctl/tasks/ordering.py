"""Three or four numbers into order."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, exact

UP = [
    "Sort from smallest to largest: {}",
    "Put these numbers in ascending order: {}",
    "Order these from low to high: {}",
    "Arrange in increasing order: {}",
]
DOWN = ["Sort from largest to smallest: {}", "Put these numbers in descending order: {}", "Order these from high to low: {}"]


def draw(rng: random.Random, side: Side) -> Problem:
    """Three numbers in three of four problems, up in two of three; below 20 or below 100."""
    count = 3 if rng.random() < 0.75 else 4
    top = rng.choice([20, 100])
    numbers = rng.sample(range(1, top), count)
    descending = rng.random() < 1 / 3
    ranked = sorted(numbers, reverse=descending)
    prompt = rng.choice(DOWN if descending else UP).format(", ".join(map(str, numbers)))
    step = (" > " if descending else " < ").join(map(str, ranked))
    answer = ", ".join(map(str, ranked))
    difficulty = 0.35 + 0.2 * (count == 4) + 0.1 * descending + 0.05 * (top == 100)
    return Problem("numbers:" + ",".join(map(str, sorted(numbers))), prompt, exact(answer), [step], answer, round(difficulty, 2))
