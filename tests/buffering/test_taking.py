"""When a batch is ready, what is in it, and what the filter leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clawctl.buffering import batches
from clawctl.buffering.adding import add
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.status import status
from clawctl.buffering.taking import take
from clawctl.errors import Usage
from clawctl.workspace.ledger import Ledger
from tests.buffering.conftest import SMALL, groups, read, scored

DYNAMIC = replace(SMALL, dynamic=True)


def test_a_batch_is_ready_with_enough_complete_groups(ws, store):
    rows = groups("a", "b", "c")
    add(store, rows[:3], SMALL, Lineage(ws))
    state = status(ws, store, SMALL)
    assert (state["ready"], state["shortfall"], state["groups"], state["complete"], state["held"]) == (False, 1, 2, 1, {"incomplete": 1})
    assert take(ws, store, SMALL) is None
    add(store, rows[3:], SMALL, Lineage(ws))
    assert status(ws, store, SMALL)["ready"]
    batch = take(ws, store, SMALL)
    assert (batch.name, batch.groups, batch.rows) == ("batch-000001", 2, 4)
    assert read(batch.path) == rows[:4]
    state = status(ws, store, SMALL)
    assert (state["groups"], state["taken"], state["untrained"]) == (1, 1, ["batch-000001"])


def test_groups_leave_whole_oldest_first_and_sample_by_sample(ws, store):
    rows = scored("b", 3) + scored("a", 5) + scored("c", 2)
    shuffled = [rows[n] for n in (7, 2, 9, 0, 4, 6, 1, 3, 8, 5)]
    add(store, shuffled, SMALL, Lineage(ws))
    taken = read(take(ws, store, SMALL).path)
    assert [row["id"] for row in taken] == ["a/0", "a/1", "a/2", "a/3", "a/4", "b/0", "b/1", "b/2"]


def test_when_there_are_not_enough_nothing_changes(ws, store):
    add(store, groups("a", rewards=[1.0, 1.0]), SMALL, Lineage(ws))
    before = status(ws, store, DYNAMIC)
    assert take(ws, store, DYNAMIC) is None
    assert status(ws, store, DYNAMIC) == before
    assert not ws.batches.exists()
    assert list(batches.ledger(ws)) == []


def test_partial_takes_the_complete_groups_there_are_but_at_least_one(ws, store):
    assert take(ws, store, SMALL, partial=True) is None
    add(store, groups("a") + scored("b")[:1], SMALL, Lineage(ws))
    assert take(ws, store, SMALL, partial=True).groups == 1
    assert take(ws, store, SMALL, partial=True) is None
    assert status(ws, store, SMALL)["held"] == {"incomplete": 1}


def test_a_batch_has_one_base_model(ws, store):
    def on(base: str | None, *names: str):
        return groups(*names, policy={"base_sha256": base})

    add(store, on("one", "a") + on("two", "b", "c") + on(None, "d"), SMALL, Lineage(ws))
    assert {row["group_id"] for row in read(take(ws, store, SMALL).path)} == {"b", "c"}
    assert take(ws, store, SMALL) is None
    add(store, on("one", "e"), SMALL, Lineage(ws))
    assert {row["group_id"] for row in read(take(ws, store, SMALL).path)} == {"a", "e"}


def test_the_ledger_has_an_entry_a_batch_and_an_event_tells_of_it(ws, store):
    add(store, groups("a", "b"), SMALL, Lineage(ws))
    take(ws, store, SMALL)
    (entry,) = batches.ledger(ws)
    assert entry | {"created": None} == {
        "kind": "taken",
        "batch": "batch-000001",
        "groups": ["a", "b"],
        "ids": ["a/0", "a/1", "b/0", "b/1"],
        "created": None,
    }
    (event,) = Ledger(ws.events)
    assert (event["topic"], event["data"]) == ("training.rollouts", {"batch": "batch-000001", "groups": 2, "rows": 4})


def test_groups_that_grew_too_old_or_off_policy_while_they_waited_are_dropped(ws, store, make_version):
    add(store, groups("a") + groups("b", created_at="2020-01-01T00:00:00Z"), SMALL, Lineage(ws))
    young = replace(SMALL, max_age=86400.0)
    assert status(ws, store, young)["held"] == {"stale": 1}
    first = make_version("v001", parent=None)
    second = make_version("v002", parent="v001")
    ws.current.symlink_to("v001")
    on_first = {"adapter": "v001", "adapter_sha256": first.sha256, "base_sha256": first.base_sha256}
    on_second = {"adapter": "v002", "adapter_sha256": second.sha256, "base_sha256": second.base_sha256}
    strict = replace(SMALL, max_lag=0)
    add(store, groups("c", policy=on_first) + groups("d", policy=on_second), strict, Lineage(ws))
    assert status(ws, store, strict)["held"] == {"off-policy": 2}
    assert take(ws, store, strict).groups == 2
    state = status(ws, store, strict)
    assert (state["groups"], state["dropped"]) == (0, {"off-policy": 4})


def test_a_group_without_signal_is_dropped_and_counted_as_all_right_or_all_wrong(ws, store):
    same = [("right", [1.0, 1.0]), ("wrong", [0.0, 0.0]), ("half", [0.5, 0.5]), ("noise", [0.1 + 0.2, 0.3])]
    add(store, [row for name, rewards in same for row in scored(name, rewards=rewards)] + groups("a", "b"), DYNAMIC, Lineage(ws))
    state = status(ws, store, DYNAMIC)
    assert (state["complete"], state["usable"], state["held"]) == (6, 2, {"all-right": 1, "all-wrong": 1, "all-equal": 2})
    assert {row["group_id"] for row in read(take(ws, store, DYNAMIC).path)} == {"a", "b"}
    state = status(ws, store, DYNAMIC)
    assert state["filtered"] == {"all-right": 1, "all-wrong": 1, "all-equal": 2}
    assert state["dropped"] == {"all-right": 2, "all-wrong": 2, "all-equal": 4}
    assert state["groups"] == 0


def test_without_the_filter_every_complete_group_counts(ws, store):
    add(store, groups("a", "b", rewards=[1.0, 1.0]), SMALL, Lineage(ws))
    assert take(ws, store, SMALL).groups == 2


VECTORS = json.loads((Path(__file__).parents[1] / "data" / "algorithms.json").read_text())["vectors"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["name"].startswith("dynamic_sampling")], ids=lambda v: v["name"])
def test_the_filter_by_the_reference_vectors(ws, store, vector):
    given = vector["inputs"]
    raw = given.get("accuracy") or given["scores"]
    shaped = given.get("shaped_reward", raw)
    rows = [
        {"id": str(n), "task_id": "t", "group_id": group, "reward": float(shaped[n]), "reward_parts": {"answer": float(raw[n])}}
        for n, group in enumerate(given["groups"])
    ]
    rules = replace(SMALL, group_size=1, dynamic=True, filter_metric="answer")
    add(store, rows, rules, Lineage(ws))
    batch = take(ws, store, rules, partial=True)
    kept = {row["group_id"] for row in read(batch.path)} if batch else set()
    expected = vector["expected"]
    assert kept == set(expected["keep"] if "keep" in expected else expected["keep_by_variance"])


def test_the_metric_is_looked_at_over_the_whole_group_whenever_its_members_came(ws, store):
    rows = scored("a", rewards=[0.0, 0.0, 0.0, 1.0])
    rules = replace(DYNAMIC, group_size=4)
    for row in rows:
        add(store, [row], rules, Lineage(ws))
    assert status(ws, store, rules)["usable"] == 1


def test_a_metric_that_no_row_has_is_a_slip_of_the_pen_and_drops_nothing(ws, store):
    add(store, groups("a", "b", reward_parts={"answer": 1.0, "format": None}), SMALL, Lineage(ws))
    with pytest.raises(Usage, match="--filter-metric anser") as error:
        take(ws, store, replace(DYNAMIC, filter_metric="anser"), partial=True)
    assert "answer, reward" in error.value.hint
    assert status(ws, store, SMALL)["groups"] == 2


def test_a_group_that_the_metric_does_not_measure_is_told_apart(ws, store):
    add(store, groups("a", reward_parts={"answer": 1.0}) + groups("b", reward_parts=None), SMALL, Lineage(ws))
    assert status(ws, store, replace(DYNAMIC, filter_metric="answer"))["held"] == {"all-right": 1, "unmeasured": 1}


def test_names_go_on_after_the_highest_file_or_entry(ws, store):
    ws.batches.mkdir(parents=True)
    (ws.batches / "batch-000041.jsonl").write_text("")
    add(store, groups("a", "b", "c", "d"), SMALL, Lineage(ws))
    assert take(ws, store, SMALL).name == "batch-000042"
    (ws.batches / "batch-000041.jsonl").unlink()
    (ws.batches / "batch-000042.jsonl").unlink()
    assert take(ws, store, SMALL).name == "batch-000043"
