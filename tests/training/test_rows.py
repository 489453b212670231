"""Which rollouts are trained on, and what supervised training imitates."""

import json

import pytest

from clawctl.engines.chat import ChatTemplate
from clawctl.training.examples import best_of, from_tasks
from clawctl.training.rows import read
from tests.training.tiny_models import VOCABULARY, rollouts


class Bytes:
    """A tokenizer of single characters."""

    def tokenize(self, text):
        return list(text.encode())


def test_rows_that_cannot_be_trained_on_are_counted_by_reason():
    rows = rollouts(2, 4)
    spoilt = [
        {"reward": None},
        {"error": {"stage": "judge", "kind": "timeout", "message": "late"}},
        {"excluded": "stale"},
        {"completion_token_ids": None, "rollout_logprobs": None},
        {"prompt_token_ids": []},
        {"loss_mask": [0] * len(rows[5]["completion_token_ids"])},
        {"prompt_token_ids": [1, VOCABULARY]},
    ]
    rows = [{**row, **change} for row, change in zip(rows, spoilt, strict=False)] + rows[7:] + [rows[7]]
    found = read(rows, VOCABULARY)
    assert len(found.samples) == 1
    assert found.dropped == {
        "no reward": 1,
        "error": 1,
        "excluded": 1,
        "no token ids": 2,
        "nothing to train (loss_mask is zero)": 1,
        "token ids of another vocabulary": 1,
        "duplicate": 1,
    }


def test_logprobs_follow_the_mask_and_unknown_ones_are_unknown():
    [row] = rollouts(1, 1)
    n = len(row["completion_token_ids"])
    mask = [0] + [1] * (n - 1)
    [sample] = read([{**row, "loss_mask": mask}], VOCABULARY).samples
    assert sample.rollout_logprobs == row["rollout_logprobs"][1:]
    assert sample.length == n - 1
    [sample] = read([{**row, "rollout_logprobs": [None] * n}], VOCABULARY).samples
    assert sample.rollout_logprobs is None


def test_restricted_sampling_is_noticed():
    rows = rollouts(1, 3)
    rows[0]["sampling"] = {"temperature": 1.0, "top_p": 0.9}
    rows[1]["sampling"] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    assert read(rows, VOCABULARY).restricted == 1


def test_the_best_of_each_group_is_imitated():
    rows = rollouts(3, 4)  # rewards 0, 0.5, 1, 0
    rows[2]["finish_reason"] = "length"
    found = best_of(rows, 1.0, VOCABULARY)
    assert [s.group for s in found.samples] == ["g1", "g2"]
    assert found.dropped["cut off"] == 1
    assert [s.reward for s in best_of(rows, 0.5, VOCABULARY).samples] == [0.5, 1.0, 1.0]
    assert best_of(rows, 0.5, VOCABULARY).dropped["not the best of its group"] == 2


def test_worked_answers_continue_the_prompt_and_end_the_turn():
    template = ChatTemplate("{% for m in messages %}[{{ m.content }}]{% endfor %}")
    tasks = [{"id": "a", "prompt": "1+1?", "solution": "2"}, {"id": "b", "prompt": "2+2?"}]
    found = from_tasks(tasks, Bytes(), template, 999)
    [sample] = found.samples
    assert bytes(sample.row.prompt).decode().endswith("[1+1?]")
    assert sample.row.completion == [ord("2"), 999]
    assert found.dropped == {"no solution": 1}


def test_a_template_that_refuses_is_a_dropped_row():
    template = ChatTemplate("{{ raise_exception('no system turn') }}")
    found = from_tasks([{"id": "a", "prompt": "p", "solution": "s"}], Bytes(), template, 1)
    assert not found.samples
    assert sum(found.dropped.values()) == 1


@pytest.mark.parametrize("kind", ["task", "rollout"])
def test_the_kind_of_a_file_is_seen_through_bad_lines(tmp_path, kind):
    from clawctl.training.inputs import kind_of

    good = {"id": "a", "prompt": "p"} if kind == "task" else rollouts(1, 1)[0]
    path = tmp_path / "in.jsonl"
    path.write_text("{oops\n\n[1]\n" + json.dumps(good) + "\n")
    assert kind_of([path]) == kind
