"""Who, where, when, how much: one thing out of a sentence that says several."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, exact, number, part

NAMES = (
    "Anna, Ben, Carla, David, Emma, Frank, Grace, Henry, Ivan, Julia, Karl, Laura, Mark, Nina, Oscar, Paula, Rosa, Simon, Tara, "
    "Victor, Wendy, Alice, Boris, Clara, Dora, Erik, Fiona, George, Helen, Jack, Kate, Leo, Maria, Noah, Olga, Peter, Ruth, Sam, "
    "Tina, Walter, Zoe, Adam, Bella"
)
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
# Sentences that name all four, and what each question asks for.
SENTENCES = [
    "{name} bought a {thing} in {city} {time} for {price} dollars.",
    "{name} sold a {thing} for {price} dollars in {city} {time}.",
    "In {city}, {name} paid {price} dollars for a {thing} {time}.",
    "A {thing} was sent to {city} by {name} {time} for {price} dollars.",
    "A {thing} cost {name} {price} dollars {time} in {city}.",
]
QUESTIONS = {
    "name": ["Who is named?", "Which person is it about?", "What is the name of the person?"],
    "city": ["Which city?", "Where was that?", "In which city did it happen?"],
    "time": ["When?", "When was that?", "When did it happen?"],
    "price": ["How many dollars?", "What was the price?", "How much did it cost?"],
    "thing": ["Which object?", "What object is it about?"],
}
LABELS = {"name": "Person", "city": "City", "time": "Time", "price": "Price", "thing": "Object"}


def draw(rng: random.Random, side: Side) -> Problem:
    """One sentence of five, one of five questions; names, cities, times and things are of one side only."""
    said = {
        "name": rng.choice(part(NAMES, side)),
        "city": rng.choice(part(CITIES, side)),
        "time": rng.choice(part(TIMES, side)),
        "thing": rng.choice(part(THINGS, side)),
        "price": str(rng.randint(2, 99)),
    }
    asked = rng.choice(list(QUESTIONS))
    prompt = f"{rng.choice(SENTENCES).format(**said)} {rng.choice(QUESTIONS[asked])}"
    answer = said[asked].split()[-1]
    verify = number(int(answer)) if asked == "price" else exact(answer)
    difficulty = {"name": 0.2, "price": 0.25, "city": 0.3, "time": 0.4, "thing": 0.45}[asked]
    fact = "said:" + ",".join(said[key] for key in ("name", "thing", "city", "time", "price"))
    words = [value for key, value in said.items() if key != "price"]
    return Problem(fact, prompt, verify, [f"{LABELS[asked]}: {answer}"], answer, difficulty, words)
