"""Packing: shared prompts once, every completion complete, budgets kept."""

import random

from clawctl.training.packing import Row, pack


def make(groups, samples, seed=0, head=10):
    rng = random.Random(seed)
    start = [rng.randrange(1000) for _ in range(head)]
    rows = []
    for _ in range(groups):
        prompt = start + [rng.randrange(1000) for _ in range(rng.randrange(1, 6))]
        for _ in range(samples):
            completion = [rng.randrange(1000) for _ in range(rng.randrange(1, 9))]
            rows.append(Row(prompt, completion, [1] * len(completion), len(rows)))
    return rows


def context_of(made, position):
    """The tokens that the token at `position` sees, itself included, by walking up the tree."""
    segment = next(s for s in made.segments if s.start <= position < s.end)
    seen = made.tokens[segment.start : position + 1]
    while segment.parent >= 0:
        segment = made.segments[segment.parent]
        seen = made.tokens[segment.start : segment.end] + seen
    return seen


def check(rows, packs):
    told = []
    for made in packs:
        for row, (begin, end) in zip(made.members, made.spans, strict=True):
            told.append(row.index)
            wanted = [t for t, m in zip(range(len(row.completion)), row.mask, strict=True) if m]
            assert made.targets[begin:end] == [row.completion[t] for t in wanted]
            for t, source in zip(wanted, made.sources[begin:end], strict=True):
                assert context_of(made, source) == row.prompt + row.completion[:t]
                assert made.positions[source] == len(row.prompt) + t - 1
    assert sorted(told) == [row.index for row in rows]


def test_every_token_is_predicted_from_what_it_would_see_alone():
    for seed in range(20):
        rows = make(5, 3, seed)
        for budget in (1, 30, 60, 10_000):
            check(rows, pack(rows, budget))


def test_what_is_shared_is_evaluated_once():
    rows = make(3, 4)
    [made] = pack(rows, 10_000)
    prompts = {tuple(row.prompt) for row in rows}
    assert len(made) == 10 + sum(len(p) - 10 for p in prompts) + sum(len(row.completion) - 1 for row in rows)


def test_the_budget_is_kept_unless_one_row_is_larger():
    rows = make(6, 4)
    for budget in (20, 40, 80):
        for made in pack(rows, budget):
            assert len(made) <= budget or len(made.members) == 1


def test_one_prompt_inside_another_keeps_a_token_to_predict_from():
    rows = [Row([5, 6], [1, 2], [1, 1], 0), Row([5, 6, 7], [3], [1], 1), Row([5], [4, 4], [1, 1], 2)]
    check(rows, pack(rows, 100))


def test_masked_tokens_are_seen_but_not_predicted():
    row = Row([1, 2], [3, 4, 5], [1, 0, 1], 0)
    [made] = pack([row], 100)
    assert made.targets == [3, 5]
    check([row], [made])
