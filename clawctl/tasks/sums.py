"""Small sums and differences. 3 + 5, 5 + 3, 8 - 3 and 8 - 5 are one fact."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, number

PLUS = [
    "What is {a} + {b}?",
    "Add {a} and {b}.",
    "Calculate the sum of {a} and {b}.",
    "Tom has {a} coins and finds {b} more. How many coins has he now?",
    "A bus has {a} people. {b} more get on. How many people are on it?",
]
MINUS = [
    "What is {a} - {b}?",
    "Subtract {b} from {a}.",
    "What is {a} minus {b}?",
    "There are {a} birds and {b} fly away. How many are left?",
    "Mia had {a} dollars and spent {b}. How many dollars are left?",
]
THREE = ["What is {a} + {b} + {c}?", "Add {a}, {b} and {c}.", "Calculate the sum of {a}, {b} and {c}."]


def draw(rng: random.Random, side: Side) -> Problem:
    """Half sums of two, a quarter differences, a quarter sums of three digits."""
    form = rng.choice(["plus", "plus", "minus", "three"])
    if form == "three":
        return _three(rng)
    a, b = rng.randint(2, 20), rng.randint(2, 9)
    total = a + b
    fact = "sum:" + "+".join(map(str, sorted((a, b))))
    carries = a % 10 + b >= 10
    difficulty = 0.1 + 0.15 * (total > 10) + 0.15 * carries * (a > 10) + 0.25 * (form == "minus")
    if form == "plus":
        x, y = (a, b) if rng.random() < 0.5 else (b, a)
        prompt = rng.choice(PLUS).format(a=x, b=y)
        return Problem(fact, prompt, number(total), [f"{x} + {y} = {total}"], str(total), round(difficulty, 2))
    prompt = rng.choice(MINUS).format(a=total, b=b)
    return Problem(fact, prompt, number(a), [f"{total} - {b} = {a}"], str(a), round(difficulty, 2))


def _three(rng: random.Random) -> Problem:
    a, b, c = (rng.randint(1, 9) for _ in range(3))
    fact = "sum:" + "+".join(map(str, sorted((a, b, c))))
    prompt = rng.choice(THREE).format(a=a, b=b, c=c)
    steps = [f"{a} + {b} = {a + b}", f"{a + b} + {c} = {a + b + c}"]
    return Problem(fact, prompt, number(a + b + c), steps, str(a + b + c), 0.5)
