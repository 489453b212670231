"""The stages that need no model: what they read and write, and that a second run finds the work done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawctl.adapters import history, versions
from clawctl.buffering import batches
from clawctl.evaluation.exam import Exam, greedy_or
from clawctl.looping import stages
from clawctl.looping.recipe import Recipe
from clawctl.looping.state import State, rollouts
from clawctl.records.streams import Writer
from clawctl.workspace.models import Model, sha256_of, starter_path

TASKS = [{"id": f"t{i}", "prompt": f"{i} + 1?", "verify": {"kind": "number", "answer": str(i + 1)}} for i in range(20)]


@pytest.fixture
def recipe(ws) -> Recipe:
    write(ws.tasks / "train.jsonl", TASKS)
    model = Model("base", "llama", starter_path())
    return Recipe(model, [ws.tasks / "train.jsonl"], Exam(model, TASKS, greedy_or(1, 1, 96)), groups=4, samples=2)


def write(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with Writer(path) as out:
        out.write_all(rows)


def sampled(ws, recipe, state: State, right: dict[str, int]) -> None:
    """The round's rollouts; of each task so many of the two answers are right."""
    base = sha256_of(recipe.model.file)
    rows = []
    for name in state.tasks:
        task = TASKS[int(name[1:])]
        for sample in range(2):
            answer = task["verify"]["answer"] if sample < right.get(name, 0) else "no"
            completion = f"<step>1. add</step>\n<answer>{answer}</answer>"
            row = {"id": f"{name}-{sample}", "task_id": name, "group_id": name, "sample": sample, "task": task, "completion": completion}
            rows.append({**row, "answer": answer, "finish_reason": "stop", "policy": {"base_sha256": base, "adapter": None}})
    write(rollouts(ws, state.round), rows)


def test_a_round_is_planned_from_the_newest_adapter_and_other_tasks_than_before(ws, recipe, make_version):
    first, second = State(round=1), State(round=2)
    stages.plan(ws, recipe, first)
    make_version("v001", base=sha256_of(recipe.model.file))
    stages.plan(ws, recipe, second)
    assert (first.adapter, second.adapter) == (None, "v001")
    assert len(first.tasks) == len(second.tasks) == 4
    assert not set(first.tasks) & set(second.tasks)


def test_groups_that_differ_become_the_batch(ws, recipe):
    state = State(round=1)
    stages.plan(ws, recipe, state)
    sampled(ws, recipe, state, {state.tasks[0]: 1, state.tasks[1]: 2, state.tasks[2]: 1})
    judged = stages.judge(ws, recipe, state)
    assert (judged["rows"], judged["passed"]) == (8, 4)
    buffered = stages.buffer(ws, recipe, state)
    assert (state.batch, buffered["groups"]) == ("batch-000001", 2)
    rows = [json.loads(line) for line in batches.path_of(ws, state.batch).open()]
    assert {row["task_id"] for row in rows} == {state.tasks[0], state.tasks[2]}
    assert len(rows) == 4


def test_judge_and_buffer_run_twice_give_the_same_batch(ws, recipe):
    state = State(round=1)
    stages.plan(ws, recipe, state)
    sampled(ws, recipe, state, {state.tasks[0]: 1})
    stages.judge(ws, recipe, state)
    stages.buffer(ws, recipe, state)
    again = State(round=1, tasks=state.tasks)
    stages.judge(ws, recipe, again)
    stages.buffer(ws, recipe, again)
    assert again.batch == state.batch == "batch-000001"
    assert list(ws.batches.iterdir()) == [batches.path_of(ws, "batch-000001")]


def test_a_round_without_signal_trains_nothing_and_goes_on(ws, recipe):
    state = State(round=1)
    stages.plan(ws, recipe, state)
    sampled(ws, recipe, state, {})
    stages.judge(ws, recipe, state)
    assert stages.buffer(ws, recipe, state)["said"] == "no group differs in reward"
    assert state.batch is None
    assert stages.train(ws, recipe, state)["said"] == "nothing to train on"
    assert stages.promote(ws, recipe, state) == {"decision": None}


def test_a_batch_that_teaches_nothing_is_passed_over(ws, recipe):
    pytest.importorskip("torch")
    state = State(round=1)
    stages.plan(ws, recipe, state)
    sampled(ws, recipe, state, {state.tasks[0]: 1})  # these rows carry no token ids: nothing can be trained on
    stages.judge(ws, recipe, state)
    stages.buffer(ws, recipe, state)
    assert "nothing learnt" in stages.train(ws, recipe, state)["said"]
    assert state.candidate is None
    assert batches.next_untrained(ws) is None


@pytest.fixture
def answered(ws, recipe):
    """Put into the cache that a version (None: the base model) passes so many of the 20 tasks."""

    def put(ref, count: int) -> None:
        rows = []
        for at, task in enumerate(TASKS):
            parts = {"format": 1.0, "answer": float(at < count)}
            rows.append({"id": f"r{at}", "task_id": task["id"], "group_id": f"g{at}", "task": task, "reward_parts": parts})
        write(ws.data / "evals" / f"{recipe.exam.key(sha256_of(recipe.model.file), ref)}.jsonl", rows)

    return put


def test_the_gate_is_asked_once(ws, recipe, make_version, answered):
    answered(None, 10)
    answered(make_version("v001", base=sha256_of(recipe.model.file)), 10)
    state = State(round=1, candidate="v001")
    first = stages.promote(ws, recipe, state)
    assert (first["decision"], first["pass_rate"], versions.current_name(ws)) == ("refused", 0.5, None)
    again = stages.promote(ws, recipe, state)
    assert (again["decision"], again["pass_rate"]) == ("refusal", 0.5)
    assert len(list(history.ledger(ws))) == 1


def test_a_promotion_that_was_cut_short_before_the_link_is_made_good(ws, recipe, make_version, answered):
    ref = make_version("v001", base=sha256_of(recipe.model.file))
    answered(None, 0)
    answered(ref, 15)
    history.record(ws, history.PROMOTION, "v001", adapter_sha256=ref.sha256, previous=None)
    done = stages.promote(ws, recipe, State(round=1, candidate="v001"))
    assert (done["decision"], versions.current_name(ws)) == ("promoted", "v001")
    assert [entry["kind"] for entry in history.ledger(ws)] == ["promotion", "found", "promotion"]
    assert stages.promote(ws, recipe, State(round=1, candidate="v001"))["decision"] == "in service already"


def test_a_warm_up_killed_after_its_adapter_does_not_make_another(ws, recipe, make_version):
    make_version("v001", base=sha256_of(recipe.model.file))
    state = State(round=0)
    stages.train(ws, recipe, state)
    assert state.candidate == "v001"
