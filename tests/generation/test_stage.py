"""Rollout rows: complete, valid, told apart, the same every time."""

from __future__ import annotations

import pytest

from clawctl.engines import Reply, SamplingParams
from clawctl.generation.stage import generate
from clawctl.records import check, derive_seed

GOOD = "<step>1. look</step>\n<step>2. think</step>\n<answer>36</answer>"
TASKS = [{"id": f"t{n}", "prompt": f"What is {n}?", "type": "free", "own": [1]} for n in range(3)]


def rows(engine, tasks=TASKS, params=SamplingParams(), **options):
    made = list(generate(tasks, engine, params, **{"samples": 4, **options}))
    for row in made:
        check(row, "rollout")
        row.pop("created_at")
    return made


def test_every_task_gets_its_samples_as_one_group(engine):
    made = rows(engine)
    assert [(row["task_id"], row["sample"]) for row in made] == [(f"t{n}", s) for n in range(3) for s in range(4)]
    assert len({row["group_id"] for row in made}) == 3
    assert len({row["id"] for row in made}) == 12
    assert all(row["task"] == TASKS[int(row["task_id"][1])] for row in made)


def test_a_row_says_all_about_its_answer(engine):
    row = next(row for row in rows(engine, TASKS, samples=20) if row["completion"] == GOOD)
    assert row["steps"] == ["look", "think"]
    assert [bytes(row["completion_token_ids"][: end + 1])[-7:] for end in row["step_ends"]] == [b"</step>"] * 2
    assert (row["answer"], row["finish_reason"], row["error"], row["reward"]) == ("36", "stop", None, None)
    assert row["loss_mask"] == [1] * len(GOOD)
    assert row["rollout_logprobs"] is None  # not known is not 0
    assert row["usage"] == {"prompt_tokens": len(row["prompt_token_ids"]), "completion_tokens": len(GOOD)}
    assert row["policy"]["engine"] == "scripted"
    assert row["sampling"]["temperature"] == 1.0


def test_seeds_are_derived_and_none_is_shared(engine):
    made = rows(engine, round_=2, seed=5)
    assert [row["sampling"]["seed"] for row in made] == [derive_seed(5, row["task_id"], 2, row["sample"]) for row in made]
    assert len({row["sampling"]["seed"] for row in made}) == 12


def test_the_same_again_is_the_same_and_another_seed_or_round_another_group(engine):
    assert rows(engine) == rows(engine)
    groups = [{row["group_id"] for row in rows(engine, **other)} for other in ({}, {"seed": 1}, {"round_": 1}, {"system": "Hi"})]
    assert len(set.union(*groups)) == 12


def test_a_cut_answer_has_no_answer(engine):
    made = rows(engine, params=SamplingParams(max_tokens=len(GOOD) - 1), samples=20)
    cut = [row for row in made if (row["completion"] or "").startswith("<step>")]
    assert cut
    assert all(row["finish_reason"] == "length" and row["answer"] is None for row in cut)


def test_only_what_is_owed_is_asked(engine):
    group = rows(engine)[4]["group_id"]
    owed = {group: [1, 3]}
    made = rows(engine, owed=lambda group, samples: owed.get(group, []))
    assert [(row["task_id"], row["sample"]) for row in made] == [("t1", 1), ("t1", 3)]
    assert made == [row for row in rows(engine) if row["group_id"] == group and row["sample"] in (1, 3)]


def test_a_task_without_an_answer_is_a_row_with_an_error(engine):
    error = {"stage": "generate", "kind": "context", "message": "too long"}
    engine.sample = lambda requests, params: (Reply(request, [1, 2], [], error) for request in requests)
    made = rows(engine)
    assert len(made) == 12
    assert made[0]["error"] == error
    assert made[0]["completion"] is made[0]["completion_token_ids"] is made[0]["reward"] is made[0]["finish_reason"] is None
    assert len({row["id"] for row in made}) == 12


@pytest.mark.parametrize("prompt", ["", "x\0y", "<|im_end|>", "a" * 100_000])
def test_odd_prompts_are_no_crash(engine, prompt):
    assert len(rows(engine, [{"id": "a", "prompt": prompt}])) == 4
