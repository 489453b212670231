"""What is a record, and the same said as a JSON Schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from clawctl.records.check import RECORDS, InvalidRecord, check, schema

GOOD = {
    "task": [
        {"id": "t", "prompt": "2+2?"},
        {"id": "t", "messages": [{"role": "user", "content": "2+2?"}], "verify": {"kind": "number", "answer": 4}, "difficulty": 1},
        {"id": "t", "prompt": "", "verify": None, "meta": {"anything": [1, {"deep": None}]}},
    ],
    "rollout": [
        {"id": "r", "task_id": "t", "group_id": "g"},
        {"id": "r", "task_id": "t", "group_id": "g", "reward": 1, "scores": {"verify": {"reward": None, "error": "no"}}},
        {"id": "r", "task_id": "t", "group_id": "g", "error": {"stage": "generate", "kind": "context", "message": "too long"}},
    ],
    "feedback": [{"id": "f", "score": 0.5, "text": "fine"}, {"id": "f", "score": None}],
    "event": [{"id": "e", "topic": "model.updates", "data": {}}],
}
BAD = {
    "task": [
        ({"id": "t", "messages": []}, "messages"),
        ({"prompt": "x"}, "id"),
        ({"id": "", "prompt": "x"}, "id"),
        ({"id": "t", "prompt": "x", "difficulty": 1.5}, "difficulty"),
        ({"id": "t", "prompt": "x", "verify": {"kind": "oracle"}}, "verify.kind"),
    ],
    "rollout": [
        ({"id": "r", "task_id": "t"}, "group_id"),
        ({"id": "r", "task_id": "t", "group_id": "g", "reward": "1"}, "reward"),
        ({"id": "r", "task_id": "t", "group_id": "g", "reward": True}, "reward"),
        ({"id": "r", "task_id": "t", "group_id": "g", "sample": -1}, "sample"),
        ({"id": "r", "task_id": "t", "group_id": "g", "sample": 2**63}, "sample"),
        ({"id": "r", "task_id": "t", "group_id": "g", "policy": {"adapter": 3}}, "policy.adapter"),
        ({"id": "r", "task_id": "t", "group_id": "g", "created_at": "yesterday"}, "created_at"),
        ({"id": "r", "task_id": "t", "group_id": "g", "schema": "clawctl.rollout/2"}, "schema"),
        ({"id": "r", "task_id": "t", "group_id": "g", "error": {"stage": "x"}}, "error"),
    ],
    "feedback": [({"id": "f", "score": 2}, "score")],
    "event": [({"id": "e", "topic": "x", "data": []}, "data")],
}


@pytest.mark.parametrize("kind", RECORDS)
def test_check_and_schema_agree(kind):
    validator = jsonschema.Draft202012Validator(schema(kind))
    for row in GOOD[kind]:
        check(row, kind)
        assert validator.is_valid(row), row
    for row, key in BAD[kind]:
        with pytest.raises(InvalidRecord, match=key):
            check(row, kind)
        assert not validator.is_valid(row), row


def test_a_task_asks_something():
    with pytest.raises(InvalidRecord, match="neither `prompt` nor `messages`"):
        check({"id": "t", "type": "coding"}, "task")


def test_a_check_changes_nothing(rollout):
    rollout["mine"] = {"keep": [1, 10**40]}
    before = json.dumps(rollout)
    check(rollout, "rollout")
    assert json.dumps(rollout) == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
def test_numbers_are_finite(rollout, value):
    for key in ("reward", "rollout_logprobs", "reward_parts"):
        row = rollout | {key: {"reward": value, "rollout_logprobs": [value, 0.0], "reward_parts": {"answer": value}}[key]}
        with pytest.raises(InvalidRecord, match=key):
            check(row, "rollout")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"rollout_logprobs": [-0.5]}, "`rollout_logprobs` has 1 entries for 2 completion tokens"),
        ({"loss_mask": [1, 1, 1]}, "`loss_mask` has 3 entries for 2"),
        ({"step_ends": [1, 0]}, "does not increase"),
        ({"step_ends": [0, 2]}, "points at token 2 of 2"),
    ],
)
def test_what_speaks_of_the_same_tokens_is_aligned(rollout, change, complaint):
    with pytest.raises(InvalidRecord, match=complaint):
        check(rollout | change, "rollout")


@pytest.mark.parametrize("row", [None, 3, "text", [], [{"id": "r"}], True])
def test_only_an_object_is_a_record(row):
    with pytest.raises(InvalidRecord):
        check(row, "rollout")
