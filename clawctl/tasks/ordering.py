"""Numbers into order, rising or falling."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, exact

UP = ["Sort from smallest to largest: {}", "Put in ascending order: {}", "Order these from low to high: {}", "Smallest first: {}"]
DOWN = ["Sort from largest to smallest: {}", "Put in descending order: {}", "Order these from high to low: {}", "Largest first: {}"]
COUNTS, WEIGHTS = (2, 3), (4, 1)


def draw(rng: random.Random, side: Side) -> Problem:
    """Two numbers in four of five problems, three small ones in the rest; rising in three of four."""
    count = rng.choices(COUNTS, WEIGHTS)[0]
    numbers = rng.sample(range(1, 100 if count == 2 else 20), count)
    falling = rng.random() < 0.25
    ranked = sorted(numbers, reverse=falling)
    prompt = rng.choice(DOWN if falling else UP).format(", ".join(map(str, numbers)))
    step = (" > " if falling else " < ").join(map(str, ranked))
    answer = ", ".join(map(str, ranked))
    difficulty = {2: 0.25, 3: 0.5}[count] + 0.1 * falling
    return Problem("numbers:" + ",".join(map(str, sorted(numbers))), prompt, exact(answer), [step], answer, round(difficulty, 2))
