"""Which of two or three numbers is the largest, or the smallest."""

from __future__ import annotations

import itertools
import random

from clawctl.tasks.problem import Problem, Side, number

TWO = {
    "larger": [
        "Which number is larger, {0} or {1}?",
        "Which is greater: {0} or {1}?",
        "Compare {0} and {1}. Which one is bigger?",
        "One box weighs {0} kg, the other {1} kg. How many kg is the heavier one?",
    ],
    "smaller": [
        "Which number is smaller, {0} or {1}?",
        "Which is less: {0} or {1}?",
        "Compare {0} and {1}. Which one is lower?",
        "Shop A asks {0} dollars, shop B asks {1} dollars. What is the lower price?",
    ],
}
THREE = {
    "largest": [
        "Which number is the largest: {0}, {1} or {2}?",
        "Find the biggest of {0}, {1}, {2}.",
        "Three scores: {0}, {1}, {2}. Which is highest?",
    ],
    "smallest": [
        "Which number is the smallest: {0}, {1} or {2}?",
        "Find the lowest of {0}, {1}, {2}.",
        "Three prices: {0}, {1}, {2}. Which is cheapest?",
    ],
}


def draw(rng: random.Random, side: Side) -> Problem:
    """Two numbers in three of four problems, below 100; the closer they are, the harder."""
    count = 2 if rng.random() < 0.75 else 3
    numbers = rng.sample(range(2, 100), count)
    phrases = TWO if count == 2 else THREE
    word = rng.choice(list(phrases))
    best = max(numbers) if word.startswith("larg") else min(numbers)
    prompt = rng.choice(phrases[word]).format(*numbers)
    others = " and ".join(str(n) for n in numbers if n != best)
    ranked = sorted(numbers)
    gap = min(b - a for a, b in itertools.pairwise(ranked))
    difficulty = 0.15 + (0.15 if gap < 10 else 0.0) + (0.2 if count == 3 else 0.0)
    fact = "numbers:" + ",".join(map(str, ranked))
    return Problem(fact, prompt, number(best), [f"{best} is {word.replace('st', 'r')} than {others}."], str(best), round(difficulty, 2))
