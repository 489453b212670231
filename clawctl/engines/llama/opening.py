"""Opening a model for the llama engine: which file, which adapter, which template, and the stamp of it all for the rollouts."""

from __future__ import annotations

import logging
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawctl.engines.chat import ChatTemplate
from clawctl.engines.llama.requantize import chosen
from clawctl.engines.llama.weights import Weights
from clawctl.errors import ClawctlError
from clawctl.records.rollout import Policy
from clawctl.workspace.models import Model, base_sha256

if TYPE_CHECKING:
    from clawctl.adapters.versions import AdapterRef

log = logging.getLogger(__name__)
ADAPTER_FILE = "adapter.gguf"


def load(model: Model, adapter: AdapterRef | None, *, requantize: str, cache: Path | None) -> tuple[Weights, Any, Policy, ChatTemplate]:
    """The weights, the adapter's handle (None without one), the policy's stamp, the chat template."""
    cache = cache or default_cache()
    digest = base_sha256(model.file, cache)
    if adapter and adapter.base_sha256 not in (None, digest):
        raise ClawctlError(
            f"adapter {adapter.name} was trained on another base model ({str(adapter.base_sha256)[:12]}), not on {model.name} ({digest[:12]})",
            "name that model with --model, or another adapter",
        )
    path, format_ = chosen(model.file, requantize, cache / digest)
    weights = Weights(path)
    source = weights.metadata("tokenizer.chat_template")
    template = ChatTemplate(source, weights.text_of(weights.bos), weights.text_of(weights.eos))
    policy: dict[str, Any] = {
        "model": model.name,
        "base_sha256": digest,
        "adapter": adapter.name if adapter else None,
        "adapter_sha256": adapter.sha256 if adapter else None,
        "engine": "llama",
        "engine_version": version("llama-cpp-python"),
        "chat_template_sha256": template.sha256,
    }
    if format_:
        policy["requantized"] = format_
    lora = weights.load_adapter(_adapter_file(adapter)) if adapter else None
    return weights, lora, policy, template  # type: ignore[return-value]


def _adapter_file(adapter: AdapterRef) -> Path:
    path = adapter.path / ADAPTER_FILE
    if not path.is_file():
        raise ClawctlError(f"adapter {adapter.name} has no {ADAPTER_FILE}", "llama.cpp cannot serve it; train writes one")
    return path


def default_cache() -> Path:
    """Where hashes of models are remembered outside a workspace."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "clawctl"
