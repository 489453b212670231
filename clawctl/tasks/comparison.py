"""Which of two or three numbers is the largest, or the smallest."""

from __future__ import annotations

import itertools
import random

from clawctl.tasks.problem import Problem, Side, number

LARGER = [
    "Which number is larger, {0} or {1}?",
    "Which is greater: {0} or {1}?",
    "Compare {0} and {1}. Which one is bigger?",
    "A box weighs {0} kg, another {1} kg. How heavy is the heavier one?",
]
SMALLER = [
    "Which number is smaller, {0} or {1}?",
    "Which is less: {0} or {1}?",
    "Compare {0} and {1}. Which one is lower?",
    "Shop A asks {0} dollars, shop B {1} dollars. What is the lower price?",
]
LARGEST = [
    "Which number is the largest: {0}, {1} or {2}?",
    "Find the biggest of {0}, {1}, {2}.",
    "Scores: {0}, {1}, {2}. Which is highest?",
]
SMALLEST = [
    "Which number is the smallest: {0}, {1} or {2}?",
    "Find the lowest of {0}, {1}, {2}.",
    "Prices: {0}, {1}, {2}. Which is lowest?",
]


def draw(rng: random.Random, side: Side) -> Problem:
    """Two numbers below 100, in one of six problems three; with one first digit in common they are harder."""
    count = 3 if rng.random() < 1 / 6 else 2
    numbers = rng.sample(range(1, 100), count)
    up = rng.random() < 0.5
    phrases = (LARGER if up else SMALLER) if count == 2 else (LARGEST if up else SMALLEST)
    ranked = sorted(numbers, reverse=up)
    close = any(a // 10 == b // 10 for a, b in itertools.combinations(numbers, 2))
    step = (" > " if up else " < ").join(map(str, ranked))
    difficulty = 0.2 + 0.2 * close + 0.3 * (count == 3)
    fact = "numbers:" + ",".join(map(str, sorted(numbers)))
    prompt = rng.choice(phrases).format(*numbers)
    return Problem(fact, prompt, number(ranked[0]), [step], str(ranked[0]), round(difficulty, 2))
