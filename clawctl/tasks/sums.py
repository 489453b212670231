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


def draw(rng: random.Random, side: Side) -> Problem:
    """Three of four are sums, the rest differences; one number is below 10, the other too in two of three, else to 20."""
    minus = rng.random() < 1 / 4
    a, b = rng.randint(2, 9 if rng.random() < 2 / 3 else 20), rng.randint(1, 9)
    total = a + b
    fact = "sum:" + "+".join(map(str, sorted((a, b))))
    difficulty = 0.1 + 0.2 * (total > 10) + 0.2 * (a > 10 and total > 20) + 0.3 * minus
    if not minus:
        x, y = (a, b) if rng.random() < 0.5 else (b, a)
        prompt = rng.choice(PLUS).format(a=x, b=y)
        return Problem(fact, prompt, number(total), [f"{x} + {y} = {total}"], str(total), round(difficulty, 2))
    prompt = rng.choice(MINUS).format(a=total, b=b)
    return Problem(fact, prompt, number(a), [f"{total} - {b} = {a}"], str(a), round(difficulty, 2))
