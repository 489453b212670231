"""A trained policy as a version folder: PEFT's files, llama.cpp's file, what was measured, and the card, last."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawctl.adapters import agreement, versions
from clawctl.adapters import gguf as gguf_adapter
from clawctl.adapters.cards import card
from clawctl.adapters.versions import AdapterRef
from clawctl.errors import ClawctlError
from clawctl.training import lora, lora_config, momentum
from clawctl.training.rows import Sample, Sampled
from clawctl.workspace.atomic import new_folder
from clawctl.workspace.models import sha256_of
from clawctl.workspace.paths import Workspace

if TYPE_CHECKING:
    from clawctl.training.stage import Order
    from clawctl.training.trainer import Trainer

log = logging.getLogger(__name__)
SEQUENCES = 2


def publish(ws: Workspace, order: Order, trainer: Trainer, sampled: Sampled, run: Any, placement: Any) -> AdapterRef:
    """Write the version folder. ClawctlError when nothing was learnt, or when the GGUF says something else than the policy."""
    policy = trainer.policy
    state = policy.state()
    if not _moved(state, order):
        raise ClawctlError("training changed nothing: the adapter is what it was before", "a higher --lr; or the batch has no signal")
    name = versions.next_version(ws)
    with new_folder(ws.adapters / name) as into:
        written = _write_weights(into, policy, state)
        agreed = _agreement(policy, into, trainer.samples, order)
        momentum.save(trainer, into)
        if run.metrics.is_file():
            shutil.copy(run.metrics, into / "metrics.jsonl")
        history = run.history()
        made = card(
            name,
            base={"model": policy.base.name, "sha256": policy.base.sha256, "architecture": policy.base.architecture},
            parent=order.start,
            adapter_sha256=sha256_of(written),
            batches=order.inputs.batches,
            recipe=order.recipe.card(),
            inputs=[path.name for path in order.inputs.paths],
            rows={"used": len(trainer.samples), "dropped": dict(sampled.dropped)},
            metrics=history[-1] if history else {},
            agreement=agreed,
            device=f"{placement.name} ({placement.reason})",
        )
        (into / versions.CARD).write_text(json.dumps(made, indent=2) + "\n")
    return versions.read(ws.adapters / name)


def _write_weights(into: Path, policy: Any, state: dict[str, Any]) -> Path:
    """PEFT's two files and, for a GGUF base, llama.cpp's; the one whose hash names the adapter."""
    from safetensors.torch import save

    # Not save_file: it makes the file readable by its owner alone.
    (into / versions.WEIGHTS).write_bytes(save(state, metadata={"format": "pt"}))
    (into / "adapter_config.json").write_text(lora_config.to_json(policy.config, policy.base.name, lora.depth(policy.model)) + "\n")
    if policy.base.gguf is None:
        log.warning("no %s: the base is a Hugging Face folder", versions.GGUF)
        return into / versions.WEIGHTS
    config = json.loads((policy.base.folder / "config.json").read_text())
    gguf_adapter.write(into / versions.GGUF, state, policy.config.alpha, config, policy.base.architecture)
    return into / versions.GGUF


def _agreement(policy: Any, into: Path, samples: list[Sample], order: Order) -> dict[str, Any] | None:
    """The gap between policy and GGUF on a few of the samples; None where it cannot be measured."""
    if policy.base.gguf is None:
        return None
    if not agreement.available():
        log.warning("adapter.gguf was not compared with the trained policy: llama-cpp-python is not installed")
        return None
    from clawctl.workspace.machine import cores

    def bare(tokens: list[int]) -> Any:
        with policy.without_adapter():
            return policy.logits(tokens)

    prompts = {tuple(s.row.prompt): s for s in samples}
    sequences = [[*s.row.prompt, *s.row.completion] for s in list(prompts.values())[:SEQUENCES]]
    found = agreement.measure(
        bare,
        policy.logits,
        policy.base.gguf,
        into / versions.GGUF,
        sequences,
        threads=order.threads or cores(),
        memo=policy.base.folder.with_name("agreement.json"),
        trainer=policy.placement.name,
    )
    found["max_gap"] = order.max_gap
    if not agreement.within(found, order.max_gap):
        raise ClawctlError(
            f"adapter.gguf differs from the trained policy: KL {found['gap']:.4f}, the bare base has {found['base_gap']:.4f}",
            f"more than --max-gap {order.max_gap:g} times; nothing was published",
        )
    return found


def _moved(state: dict[str, Any], order: Order) -> bool:
    """Whether the weights differ from where they started; a fresh adapter has B = 0."""
    import torch
    from safetensors.torch import load_file

    if order.start is None:
        return any(bool(tensor.any()) for name, tensor in state.items() if ".lora_B." in name)
    before = load_file(order.start.path / versions.WEIGHTS)
    return any(not torch.equal(tensor, before[name]) for name, tensor in state.items())
