"""The walk through the tasks."""

from __future__ import annotations

from clawctl.looping.choice import choose

TASKS = [f"t{i}" for i in range(50)]


def test_every_task_comes_once_before_any_comes_again():
    seen = [task for round_ in range(1, 6) for task in choose(TASKS, round_, 10, seed=1)]
    assert sorted(seen) == sorted(TASKS)


def test_no_task_comes_twice_in_a_round_that_spans_two_epochs():
    for seed in range(20):
        chosen = choose(TASKS, 2, 40, seed=seed)
        assert len(set(chosen)) == 40


def test_the_same_seed_gives_the_same_rounds_and_another_seed_others():
    assert choose(TASKS, 3, 8, seed=1) == choose(TASKS, 3, 8, seed=1)
    assert choose(TASKS, 3, 8, seed=1) != choose(TASKS, 3, 8, seed=2)


def test_fewer_tasks_than_groups_gives_all_of_them():
    assert sorted(choose(TASKS[:3], 7, 16, seed=0)) == ["t0", "t1", "t2"]
