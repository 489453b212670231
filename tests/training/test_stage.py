"""From a batch to a version: what is written, what is refused, and that no batch is trained on twice."""

import json

import pytest

from tests.training.tiny_models import rollouts, write_tiny

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("llama_cpp")

from safetensors.torch import load_file  # noqa: E402

from clawctl.adapters import agreement, versions  # noqa: E402
from clawctl.buffering import batches  # noqa: E402
from clawctl.errors import Busy, ClawctlError, No, Usage  # noqa: E402
from clawctl.training import stage  # noqa: E402
from clawctl.training.inputs import Inputs, choose  # noqa: E402
from clawctl.training.lora_config import adapter_config  # noqa: E402
from clawctl.training.recipe import make  # noqa: E402
from clawctl.workspace.locks import lock  # noqa: E402
from clawctl.workspace.models import Model  # noqa: E402


@pytest.fixture
def order(ws, tiny):
    """An order for files of the workspace; a high rate, so that the tiny model moves."""

    def make_order(files, *, algorithm="grpo", settings=None, start=None, min_reward=1.0, recipe=None, **options):
        how = make(
            algorithm, settings or {}, **{"lr": 0.01, "lora": adapter_config(start, None if start else 4, None, None), **(recipe or {})}
        )
        given = {"dtype": "float32", "threads": 1, **options}
        return stage.Order(
            choose(ws, [str(f) for f in files], False, min_reward=min_reward), how, Model("tiny", "llama", tiny), start, **given
        )

    return make_order


def test_a_batch_becomes_a_version(ws, batch, order):
    path = batch()
    outcome = stage.train(ws, order([path]))
    assert outcome.ref.name == "v001"
    card = outcome.ref.card
    assert card["batches"] == ["batch-000001"]
    assert card["parent"] is None
    assert card["adapter_sha256"] == outcome.ref.sha256
    assert card["rows"] == {"used": 16, "dropped": {}}
    assert "min(rho A" in card["recipe"]["formula"]
    assert card["agreement"]["gap"] < 1e-3
    [figures] = [json.loads(line) for line in (outcome.ref.path / "metrics.jsonl").read_text().splitlines()]
    assert figures["groups_with_signal"] == 4
    assert figures["sampler_gap"] > 0
    assert not (ws.data / "training").exists() or not list((ws.data / "training").iterdir())
    assert batches.next_untrained(ws) is None


def test_an_adapter_goes_on_from_its_parent(ws, batch, order):
    first = stage.train(ws, order([batch()])).ref
    rows = batch("batch-000002", seed=1)
    for_parent = [
        {**json.loads(line), "policy": {"base_sha256": first.base_sha256, "adapter_sha256": first.sha256}}
        for line in rows.read_text().splitlines()
    ]
    rows.write_text("".join(json.dumps(row) + "\n" for row in for_parent))
    second = stage.train(ws, order([rows], start=first)).ref
    assert second.name == "v002"
    assert (second.card["parent"], second.card["parent_sha256"]) == ("v001", first.sha256)
    one, two = (load_file(ref.path / versions.WEIGHTS) for ref in (first, second))
    # One step of Adam moves each number by at most the rate, and all of them started from the parent's.
    assert max(float((one[k] - two[k]).abs().max()) for k in one) <= 0.0101
    assert any(not torch.equal(one[k], two[k]) for k in one)
    assert float(max(t.abs().max() for n, t in one.items() if "lora_B" in n)) > 0
    assert adam_steps(second) == 2


def adam_steps(ref):
    """How many steps Adam's moments of a version remember."""
    kept = torch.load(ref.path / "optimizer.pt", weights_only=True)["optimiser"]
    return int(kept["state"][0]["step"])


def test_the_rate_goes_on_rising_from_version_to_version(ws, batch, order):
    first = stage.train(ws, order([batch()], recipe={"warmup": 3}))
    second = stage.train(ws, order([batch("batch-000002", seed=1)], start=first.ref, off_policy=True, recipe={"warmup": 3}))
    assert [outcome.metrics[0]["lr"] for outcome in (first, second)] == pytest.approx([0.0025, 0.005])


def test_moments_are_not_carried_between_kinds_of_training(ws, batch, order):
    first = stage.train(ws, order([batch()], algorithm="sft")).ref
    second = stage.train(ws, order([batch("batch-000002")], start=first, off_policy=True)).ref
    assert (adam_steps(first), adam_steps(second)) == (2, 1)


def test_a_batch_is_trained_once(ws, batch, order):
    path = batch()
    first = stage.train(ws, order([path]))
    again = stage.train(ws, order([path]))
    assert again.already
    assert again.ref.name == first.ref.name
    assert [ref.name for ref in versions.listing(ws)] == ["v001"]


def test_a_batch_that_only_the_card_knows_is_put_on_record(ws, batch, order):
    path = batch()
    batches.ledger(ws).append({"kind": "taken", "batch": "batch-000001", "groups": [], "ids": []})
    stage.train(ws, order([path]))
    batches.ledger(ws).path.write_text(json.dumps({"kind": "taken", "batch": "batch-000001", "groups": [], "ids": []}) + "\n")
    assert stage.train(ws, order([path])).already
    assert [e["version"] for e in batches.ledger(ws) if e["kind"] == "trained"] == ["v001"]
    stage.train(ws, order([path]))
    assert len([e for e in batches.ledger(ws) if e["kind"] == "trained"]) == 1


def test_a_batch_without_signal_is_refused(ws, batch, order):
    with pytest.raises(No, match="in each of its 4 groups all rewards are equal"):
        stage.train(ws, order([batch(reward=0.5)]))
    assert versions.listing(ws) == []


def test_answers_that_were_all_cut_off_are_refused(ws, batch, order):
    with pytest.raises(No, match="every answer was cut off"):
        stage.train(ws, order([batch(finish_reason="length")]))


def test_a_batch_of_nothing_usable_says_why(ws, batch, order):
    with pytest.raises(No, match="16 no token ids"):
        stage.train(ws, order([batch(completion_token_ids=None, rollout_logprobs=None)]))


def test_answers_of_another_base_are_refused(ws, batch, order):
    with pytest.raises(Usage, match="another base model"):
        stage.train(ws, order([batch(policy={"base_sha256": "f" * 64, "adapter_sha256": None})], off_policy=True))


def test_answers_of_another_adapter_only_when_asked(ws, batch, order, tiny):
    from clawctl.workspace.models import sha256_of

    path = batch(policy={"base_sha256": sha256_of(tiny), "adapter_sha256": "a" * 64})
    with pytest.raises(Usage, match="adapter aaaaaaaaaaaa, training starts from the bare base"):
        stage.train(ws, order([path]))
    outcome = stage.train(ws, order([path], off_policy=True))
    assert outcome.metrics[0]["ratio"] != pytest.approx(1.0, abs=0.01)


def test_the_ratio_can_be_taken_against_the_samplers_word(ws, batch, order):
    outcome = stage.train(ws, order([batch()], recipe={"old": "sampler"}))
    assert outcome.metrics[0]["ratio"] != pytest.approx(1.0, abs=0.01)
    assert outcome.ref.card["recipe"]["old"] == "sampler"


def test_bad_lines_are_counted_and_the_rest_is_trained_on(ws, batch, order):
    path = batch()
    good = path.read_text()
    path.write_text("{\n" + good + '{"id": 3}\nnull\n' + good[:40])
    assert stage.train(ws, order([path])).ref.card["rows"] == {"used": 16, "dropped": {"bad line": 4}}


def test_a_file_of_bad_lines_is_refused(ws, order):
    path = ws.root / "junk.jsonl"
    path.write_text("x\n" * 500)
    with pytest.raises(No, match="500 bad line"):
        stage.train(ws, order([path]))


def test_worked_answers_train_a_fresh_adapter(ws, order):
    path = ws.root / "tasks.jsonl"
    path.write_text("".join(json.dumps({"id": f"t{i}", "prompt": f"{i}+1?", "solution": f"{i + 1}"}) + "\n" for i in range(6)))
    outcome = stage.train(ws, order([path], algorithm="sft", recipe={"epochs": 4, "minibatch": 2}))
    assert len(outcome.metrics) == 12
    assert outcome.metrics[-1]["loss"] < outcome.metrics[0]["loss"] / 2
    assert outcome.ref.card["batches"] == []
    with pytest.raises(Usage, match="trains on scored rollouts"):
        stage.train(ws, order([path]))


def test_the_best_rollouts_can_be_imitated(ws, batch, order):
    outcome = stage.train(ws, order([batch()], algorithm="sft"))
    assert outcome.ref.card["rows"]["used"] == 4
    assert outcome.ref.card["rows"]["dropped"] == {"reward below 1": 12}


def test_one_training_at_a_time(ws, batch, order):
    with lock(ws.lock_file("train")), pytest.raises(Busy, match="train is busy"):
        stage.train(ws, order([batch()]))


def test_a_training_that_changes_nothing_is_not_published(ws, batch, order):
    with pytest.raises(ClawctlError, match="changed nothing"):
        stage.train(ws, order([batch()], recipe={"lr": 0.0}))
    assert versions.listing(ws) == []
    assert not list(ws.adapters.glob(".tmp-*"))


def test_a_gguf_that_says_something_else_is_not_published(ws, batch, order, monkeypatch):
    monkeypatch.setattr("clawctl.adapters.gguf.permute", lambda rows, heads: rows)
    with pytest.raises(ClawctlError, match="differs from the trained policy") as refused:
        stage.train(ws, order([batch()], recipe={"lr": 0.05}))
    assert "nothing was published" in refused.value.hint
    assert versions.listing(ws) == []
    assert batches.ledger(ws).path.exists() is False


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3", "gemma3"])
def test_policy_and_gguf_agree(ws, tmp_path, architecture):
    # Frequency factors stand in the GGUF of llama 3 models; without them the positions would be other ones.
    factors = [1.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0] if architecture == "llama" else None
    model = Model("tiny", "llama", write_tiny(tmp_path / "m.gguf", architecture, factors=factors))
    path = tmp_path / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rollouts(shared=40)))
    recipe = make("grpo", {}, lr=0.05, lora=adapter_config(None, 4, None, None))
    agreed = stage.train(ws, stage.Order(Inputs([path], []), recipe, model, dtype="float32", threads=1)).ref.card["agreement"]
    assert agreed["gap"] < 1e-3
    assert agreed["base_gap"] < 1e-3
    assert agreement.within(agreed, 3.0)


def test_the_bases_own_gap_is_measured_once(ws, batch, order):
    outcome = stage.train(ws, order([batch()]))
    memo = ws.models / outcome.ref.base_sha256 / "agreement.json"
    kept = json.loads(memo.read_text())
    memo.write_text(json.dumps({**kept, "base_gap": 0.5}))
    assert stage.train(ws, order([batch("batch-000002")], off_policy=True)).ref.card["agreement"]["base_gap"] == 0.5


def test_a_hugging_face_folder_is_a_base_too(ws, batch, order, tiny, tmp_path):
    from clawctl.training import base

    folder = base.prepare(Model("tiny", "llama", tiny), tmp_path / "cache").folder
    recipe = make("grpo", {}, lr=0.01, lora=adapter_config(None, 4, None, None))
    path = ws.root / "r.jsonl"
    path.write_text("".join(json.dumps({**row, "policy": {}}) + "\n" for row in rollouts()))
    ref = stage.train(ws, stage.Order(Inputs([path], []), recipe, Model("hf", "llama", folder), dtype="float32", threads=1)).ref
    assert ref.card["agreement"] is None
    assert not (ref.path / versions.GGUF).exists()
    assert ref.card["base"]["architecture"] == "llama"
