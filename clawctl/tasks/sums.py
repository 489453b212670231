"""Small sums and differences. 3 + 5, 5 + 3, 8 - 3 and 8 - 5 are one fact."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, number

PLUS = [
    "What is {a} + {b}?",
    "Add {a} and {b}.",
    "Calculate the sum of {a} and {b}.",
    "Tom has {a} coins and finds {b} more. How many coins now?",
    "A bus has {a} people and {b} get on. How many are on it?",
]
MINUS = [
    "What is {a} - {b}?",
    "Subtract {b} from {a}.",
    "There are {a} birds and {b} fly away. How many are left?",
    "Mia had {a} dollars and spent {b}. How many are left?",
]
THREE = ["What is {a} + {b} + {c}?", "Add {a}, {b} and {c}."]


def draw(rng: random.Random, side: Side) -> Problem:
    """Seven of ten are sums of two (to 29), two are differences (from 29 at most), one is a sum of three digits."""
    form = rng.choices(["plus", "minus", "three"], [7, 2, 1])[0]
    if form == "three":
        return _three(rng)
    a, b = rng.randint(2, 20 if rng.random() < 0.5 else 9), rng.randint(1, 9)
    total = a + b
    fact = "sum:" + "+".join(map(str, sorted((a, b))))
    difficulty = 0.1 + 0.2 * (total > 10) + 0.2 * (a > 10 and total > 20) + 0.3 * (form == "minus")
    if form == "plus":
        x, y = (a, b) if rng.random() < 0.5 else (b, a)
        prompt = rng.choice(PLUS).format(a=x, b=y)
        return Problem(fact, prompt, number(total), [f"{x} + {y} = {total}"], str(total), round(difficulty, 2))
    prompt = rng.choice(MINUS).format(a=total, b=b)
    return Problem(fact, prompt, number(a), [f"{total} - {b} = {a}"], str(a), round(difficulty, 2))


def _three(rng: random.Random) -> Problem:
    a, b, c = (rng.randint(1, 6) for _ in range(3))
    fact = "sum:" + "+".join(map(str, sorted((a, b, c))))
    prompt = rng.choice(THREE).format(a=a, b=b, c=c)
    steps = [f"{a} + {b} = {a + b}", f"{a + b} + {c} = {a + b + c}"]
    return Problem(fact, prompt, number(a + b + c), steps, str(a + b + c), 0.6)
