"""Make task files from a seed: balanced over the kinds, no fact on both sides, the same bytes for the same seed.

    files = make(seed=0, train=480, heldout=120, warmup=36)
    files["train"], files["heldout"], files["warmup"]        # lists of task records

The warm-up tasks are training tasks that carry a worked answer in `solution`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import cast

from clawctl.errors import ClawctlError
from clawctl.records import Task, content_id
from clawctl.records.steps import format_solution
from clawctl.tasks import commands, comparison, counting, extraction, ordering, sums
from clawctl.tasks.problem import Problem, Side, side_of

KINDS: dict[str, Callable[[random.Random, Side], Problem]] = {
    "comparison": comparison.draw,
    "sums": sums.draw,
    "ordering": ordering.draw,
    "counting": counting.draw,
    "extraction": extraction.draw,
    "commands": commands.draw,
}
EVEN: Mapping[str, float] = dict.fromkeys(KINDS, 1.0)
SPARING = 200  # draws that look for a fact not yet asked before one may be asked again in other words
TRIES = 5000


def make(
    *,
    seed: int,
    train: int,
    heldout: int,
    warmup: int,
    mix: Mapping[str, float] = EVEN,
    difficulty: tuple[float, float] = (0.0, 1.0),
) -> dict[str, list[Task]]:
    """The three files by name. `mix` weighs the kinds (keys of KINDS), `difficulty` bounds what is drawn.

    `warmup` of the training tasks get a solution. ClawctlError when the kinds hold fewer different tasks than asked for.
    """
    learnt = _side(seed, "train", train, mix, difficulty)
    shown = _evenly(learnt, min(warmup, len(learnt)), mix)
    rows = [_task(name, problem, with_solution=(at in shown)) for at, (name, problem) in enumerate(learnt)]
    unseen = [_task(name, problem) for name, problem in _side(seed, "heldout", heldout, mix, difficulty)]
    return {"train": rows, "heldout": unseen, "warmup": [row for row in rows if "solution" in row]}


def shares(total: int, mix: Mapping[str, float]) -> dict[str, int]:
    """`total` parted by the weights, largest remainders first, so that the parts add up."""
    weight = sum(mix.values())
    ideal = {name: total * mix[name] / weight for name in mix}
    parts = {name: int(value) for name, value in ideal.items()}
    left = total - sum(parts.values())
    for name in sorted(mix, key=lambda n: parts[n] - ideal[n])[:left]:
        parts[name] += 1
    return parts


def _side(seed: int, side: Side, total: int, mix: Mapping[str, float], difficulty: tuple[float, float]) -> list[tuple[str, Problem]]:
    drawn = []
    for name, count in shares(total, mix).items():
        rng = random.Random(f"{seed}/{side}/{name}")
        drawn += [(name, problem) for problem in _draw(name, rng, side, count, difficulty)]
    random.Random(f"{seed}/{side}").shuffle(drawn)
    return drawn


def _draw(name: str, rng: random.Random, side: Side, count: int, difficulty: tuple[float, float]) -> list[Problem]:
    """`count` different problems whose facts are of `side`; a fact comes twice only when new ones have run out."""
    found: list[Problem] = []
    prompts: set[str] = set()
    facts: set[str] = set()
    tries = 0
    while len(found) < count:
        problem = KINDS[name](rng, side)
        tries += 1
        if tries > TRIES:
            raise ClawctlError(f"no more than {len(found)} different {name} tasks for {side}", "ask for fewer, or widen the difficulty")
        if side_of(problem.fact) != side or not difficulty[0] <= problem.difficulty <= difficulty[1]:
            continue
        if problem.prompt in prompts or (problem.fact in facts and tries < SPARING):
            continue
        found.append(problem)
        prompts.add(problem.prompt)
        facts.add(problem.fact)
        tries = 0
    return found


def _evenly(rows: list[tuple[str, Problem]], count: int, mix: Mapping[str, float]) -> set[int]:
    """Positions of the first rows of each kind, `count` in all."""
    wanted = shares(count, mix)
    chosen: set[int] = set()
    for at, (name, _) in enumerate(rows):
        if wanted[name] > 0:
            wanted[name] -= 1
            chosen.add(at)
    return chosen


def _task(name: str, problem: Problem, *, with_solution: bool = False) -> Task:
    row = {
        "schema": "clawctl.task/1",
        "id": f"{name}-{content_id(problem.prompt)[:10]}",
        "prompt": problem.prompt,
        "type": name,
        "verify": problem.verify,
        "difficulty": problem.difficulty,
        "meta": {"fact": problem.fact} | ({"words": problem.words} if problem.words else {}),
    }
    if with_solution:
        row["solution"] = format_solution(problem.steps, problem.answer)
    return cast(Task, row)
