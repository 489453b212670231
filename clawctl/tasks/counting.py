"""How many things are in a short list, or how many of one thing."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, number, part

WORDS = (
    "apple, pear, plum, fig, lemon, grape, cherry, melon, peach, mango, cup, fork, spoon, plate, bowl, pan, pen, book, ruler, "
    "map, key, coin, ring, hat, shoe, sock, coat, scarf, glove, belt, dog, cat, cow, pig, hen, duck, goat, horse, sheep, fox, "
    "car, bus, train, bike, boat, ship, tram, truck, red, blue, green, white, black, pink, brown, grey, chair, table, lamp, sofa, "
    "bed, desk, shelf, clock, rose, tulip, lily, oak, pine, birch, elm, drum, flute, harp, horn, north, south, east, west, rain, "
    "snow, wind, fog, iron, gold, tin, zinc"
)
ALL = [
    "How many items are in this list: {}?",
    "Count the words: {}",
    "How many things are listed here: {}?",
    "I bought: {}. How many things did I buy?",
]
SOME = ['How many times does "{1}" appear: {0}?', "Count the word {1} in this list: {0}", "In the list {0}, how often is {1} named?"]


def draw(rng: random.Random, side: Side) -> Problem:
    """Lists of two to six; in one of four problems only one of the words counts."""
    words = part(WORDS, side)
    if rng.random() < 1 / 4:
        return _occurrences(rng, words)
    items = rng.sample(words, rng.randint(2, 6))
    prompt = rng.choice(ALL).format(", ".join(items))
    step = ", ".join(f"{at} {item}" for at, item in enumerate(items, 1))
    return _problem(items, "all", prompt, step, len(items), 0.1 + 0.08 * len(items))


def _occurrences(rng: random.Random, words: list[str]) -> Problem:
    wanted, other = rng.sample(words, 2)
    count = rng.randint(1, 3)
    items = [wanted] * count + [other] * rng.randint(1, 2)
    rng.shuffle(items)
    prompt = rng.choice(SOME).format(", ".join(items), wanted)
    step = ", ".join(f"{at} {wanted}" for at in range(1, count + 1))
    return _problem(items, wanted, prompt, step, count, 0.3 + 0.08 * len(items))


def _problem(items: list[str], wanted: str, prompt: str, step: str, count: int, difficulty: float) -> Problem:
    fact = f"count:{wanted}:" + ",".join(sorted(items))
    return Problem(fact, prompt, number(count), [step], str(count), round(difficulty, 2), sorted(set(items)))
