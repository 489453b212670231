"""The bundled tasks: the same bytes from the same seed, no fact on both sides, worked answers that read back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from clawctl.errors import ClawctlError, Usage
from clawctl.records import check
from clawctl.records.steps import parse
from clawctl.tasks.make import KINDS, make, shares
from clawctl.tasks.options import bounds_of, mix_of
from clawctl.tasks.problem import side_of

BUNDLED = Path(__file__).parents[2] / "data" / "tasks"
DEFAULT = {"train": 480, "heldout": 120, "warmup": 36}


def read(name):
    return [json.loads(line) for line in (BUNDLED / f"{name}.jsonl").read_text().splitlines()]


def test_bundled_files_are_made_by_the_default_command():
    for name, rows in make(seed=0, **DEFAULT).items():
        assert read(name) == rows


@pytest.mark.parametrize("seed", [0, 1, 77])
def test_rows_are_valid_unique_and_balanced(seed):
    files = make(seed=seed, **DEFAULT)
    for name in ("train", "heldout"):
        rows = files[name]
        for row in rows:
            check(row, "task")
        assert len({row["id"] for row in rows}) == len({row["prompt"] for row in rows}) == len(rows) == DEFAULT[name]
        counts = Counter(row["type"] for row in rows)
        assert set(counts) == set(KINDS)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_no_fact_and_no_word_is_on_both_sides_whatever_the_seeds():
    made = [make(seed=seed, **DEFAULT) for seed in range(4)]
    for row in (row for files in made for row in files["train"]):
        assert side_of(row["meta"]["fact"]) == "train"
    facts = {side: {row["meta"]["fact"] for files in made for row in files[side]} for side in ("train", "heldout")}
    words = {side: {w for files in made for row in files[side] for w in row["meta"].get("words", [])} for side in ("train", "heldout")}
    assert not facts["train"] & facts["heldout"]
    assert not words["train"] & words["heldout"]


def test_another_seed_asks_for_other_facts_as_hard():
    ours, theirs = (make(seed=seed, **DEFAULT)["heldout"] for seed in (0, 1))
    for kind in ("comparison", "ordering", "counting", "extraction"):
        mine, other = ({row["meta"]["fact"] for row in rows if row["type"] == kind} for rows in (ours, theirs))
        assert len(mine & other) <= 10
    mean = [sum(row["difficulty"] for row in rows) / len(rows) for rows in (ours, theirs)]
    assert abs(mean[0] - mean[1]) < 0.05


def test_worked_answers_are_strict_and_right():
    files = make(seed=0, **DEFAULT)
    assert len(files["warmup"]) == 36
    assert files["warmup"] == [row for row in files["train"] if "solution" in row]
    for row in files["warmup"]:
        parsed = parse(row["solution"])
        assert parsed.strict
        assert parsed.answer == row["verify"]["answer"]


def test_order_and_operation_do_not_make_a_new_fact():
    rows = make(seed=3, train=300, heldout=0, warmup=0, mix={"sums": 1})["train"]
    for row in rows:
        terms = row["meta"]["fact"].removeprefix("sum:").split("+")
        assert terms == sorted(terms, key=int)


def test_mix_and_difficulty_narrow_what_is_drawn():
    rows = make(seed=0, train=30, heldout=0, warmup=0, mix=mix_of("sums=2,counting"), difficulty=bounds_of("0.2:0.4"))["train"]
    assert Counter(row["type"] for row in rows) == {"sums": 20, "counting": 10}
    assert all(0.2 <= row["difficulty"] <= 0.4 for row in rows)


def test_shares_add_up():
    assert shares(10, {"a": 1, "b": 1, "c": 1}) == {"a": 4, "b": 3, "c": 3}
    assert sum(shares(64, dict.fromkeys("abcdef", 1.0)).values()) == 64


@pytest.mark.parametrize("text", ["sums=0", "sums=x", "sums=inf", "poems", ""])
def test_a_wrong_mix_is_a_usage_error(text):
    with pytest.raises(Usage):
        mix_of(text)


@pytest.mark.parametrize("text", ["0.5", "0.6:0.2", "a:b", "0:2", "nan:1"])
def test_a_wrong_range_is_a_usage_error(text):
    with pytest.raises(Usage):
        bounds_of(text)


def test_asking_for_more_than_there_is_says_so():
    with pytest.raises(ClawctlError, match="no more than"):
        make(seed=0, train=10, heldout=0, warmup=0, mix={"sums": 1}, difficulty=(0.99, 1.0))
