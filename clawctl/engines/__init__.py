"""Text generation behind one protocol (protocol.py). A new engine is one new module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from clawctl.engines.protocol import Draw, Engine, Reply, Request, SamplingParams
from clawctl.errors import Usage
from clawctl.workspace.models import Model

if TYPE_CHECKING:
    from clawctl.adapters.versions import AdapterRef

__all__ = ["ENGINES", "Draw", "Engine", "Reply", "Request", "SamplingParams", "open_engine"]

# engine -> "module:factory"; a factory takes (model, adapter, **options).
ENGINES: dict[str, str] = {
    "llama": "clawctl.engines.llama:open_llama",
    "scripted": "clawctl.engines.scripted:open_scripted",
}


def open_engine(model: Model, adapter: AdapterRef | None = None, **options: Any) -> Engine:
    """The model, with the adapter on it, ready to sample.

    options: `threads`, `context`, `parallel`, `requantize`, `cache`, as the engine's factory documents them.
    """
    if model.engine not in ENGINES:
        raise Usage(f"model {model.name}: no engine {model.engine!r}", f"known engines: {', '.join(ENGINES)}")
    module, _, factory = ENGINES[model.engine].partition(":")
    return getattr(importlib.import_module(module), factory)(model, adapter, **options)
