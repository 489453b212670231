"""Who, where, when, how much: one thing out of a sentence that says several."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, exact, number, part
from clawctl.tasks.vocabulary import NAMES

CITIES = (
    "Paris, Rome, Oslo, Madrid, Berlin, London, Vienna, Prague, Dublin, Athens, Lisbon, Cairo, Tokyo, Delhi, Boston, Chicago, "
    "Denver, Miami, Dallas, Milan, Geneva, Munich, Toronto, Sydney, Warsaw, Helsinki, Seoul, Lima, Havana, Moscow, Austin, "
    "Seattle, Atlanta, Lyon, Naples"
)
TIMES = (
    "on Monday, on Tuesday, on Wednesday, on Thursday, on Friday, on Saturday, on Sunday, in January, in February, in March, "
    "in April, in June, in July, in August, in September, in October, in November, in December, in spring, in summer, in autumn, "
    "in winter, at noon, at midnight"
)
THINGS = (
    "lamp, bike, camera, guitar, jacket, phone, watch, table, chair, radio, kettle, tent, carpet, mirror, drum, ladder, helmet, "
    "wallet, clock, violin, sofa, printer, blender, scarf, bag, painting, toaster, vase, piano, desk, tablet, basket"
)
# Sentences, and the questions that each kind of word in them answers.
SENTENCES = [
    "{name} bought a {thing} in {city}.",
    "{name} lives in {city} and sells a {thing}.",
    "{name} bought a {thing} for {price} dollars.",
    "{name} paid {price} dollars in {city}.",
    "{name} went to {city} {time}.",
    "A {thing} was sent to {city} {time}.",
    "The {thing} costs {price} dollars {time}.",
    "{name} met {other} in {city} {time}.",
    "{name} sold a {thing} for {price} dollars {time}.",
]
QUESTIONS = {
    "name": ["Who?", "Which person?", "Who is it about?"],
    "city": ["Where?", "Which city?", "What place is named?"],
    "time": ["When?", "When was it?", "What time is named?"],
    "price": ["How many dollars?", "What is the price?", "How much money?"],
    "thing": ["Which thing?", "What object is named?"],
}
LABELS = {"name": "Person", "city": "City", "time": "Time", "price": "Price", "thing": "Thing"}
DIFFICULTY = {"name": 0.2, "price": 0.25, "city": 0.3, "time": 0.45, "thing": 0.45}


def draw(rng: random.Random, side: Side) -> Problem:
    """One question about a sentence that names two to four things; its words are of one side only."""
    name, other = rng.sample(part(NAMES, side), 2)
    known = {
        "name": name,
        "other": other,
        "city": rng.choice(part(CITIES, side)),
        "time": rng.choice(part(TIMES, side)),
        "thing": rng.choice(part(THINGS, side)),
        "price": str(rng.randint(2, 99)),
    }
    sentence = rng.choice(SENTENCES)
    said = {key: word for key, word in known.items() if f"{{{key}}}" in sentence}
    asked = rng.choice([key for key in said if key in QUESTIONS and not (key == "name" and "other" in said)])
    answer = said[asked].split()[-1]
    prompt = f"{sentence.format(**said)} {rng.choice(QUESTIONS[asked])}"
    verify = number(int(answer)) if asked == "price" else exact(answer)
    fact = "said:" + ",".join(sorted(said.values()))
    words = [word for key, word in said.items() if key != "price"]
    difficulty = DIFFICULTY[asked] + 0.1 * (len(said) - 2)
    return Problem(fact, prompt, verify, [f"{LABELS[asked]}: {answer}"], answer, round(difficulty, 2), words)
