"""A tiny model, its policy, and batches of rollouts of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawctl.workspace.models import Model, sha256_of
from tests.training.tiny_models import rollouts, write_tiny


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    """A tiny llama."""
    pytest.importorskip("transformers")
    return write_tiny(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    """Where the session's tiny models are dequantised once."""
    return tmp_path_factory.mktemp("dequantised")


@pytest.fixture(scope="session")
def tiny_base(tiny, cache):
    from clawctl.training import base

    return base.prepare(Model("tiny", "llama", tiny), cache)


@pytest.fixture
def policy(tiny_base):
    """A fresh policy on the tiny llama whose adapter already does something."""
    import torch

    from clawctl.training import lora
    from clawctl.training.device import Placement
    from clawctl.training.lora_config import LoRAConfig
    from clawctl.training.policy import Policy

    torch.set_num_threads(1)
    made = Policy(tiny_base, LoRAConfig(rank=4, alpha=8.0), Placement(torch.device("cpu"), torch.float32, "a test"))
    lora.initialise(made.adapters, 0)
    generator = torch.Generator().manual_seed(1)
    for adapter in made.adapters.values():
        adapter.lora_B.data.normal_(0, 0.1, generator=generator)
    return made


@pytest.fixture
def batch(ws, tiny):
    """Write rollouts as a batch of the workspace; gives its path."""

    def write(name: str = "batch-000001", **options) -> Path:
        ws.batches.mkdir(parents=True, exist_ok=True)
        path = ws.batches / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rollouts(base=sha256_of(tiny), **options)))
        return path

    return write
