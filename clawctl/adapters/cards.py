"""card.json: where an adapter comes from, what it was trained on and how. It is written last, so a folder that has one is complete."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from clawctl import __version__
from clawctl.records.ids import now

SCHEMA = "clawctl.adapter/1"
LIBRARIES = {"torch": "torch", "transformers": "transformers", "llama_cpp": "llama-cpp-python"}


def card(
    version: str, *, base: dict[str, Any], parent: Any, adapter_sha256: str, batches: list[str], recipe: dict[str, Any], **rest: Any
) -> dict[str, Any]:
    """The card of a new version. base: model, sha256, architecture. parent: the AdapterRef that was continued, or None.

    rest: metrics, agreement, rows, device.
    """
    return {
        "schema": SCHEMA,
        "version": version,
        "created": now(),
        "base": base,
        "parent": parent.name if parent else None,
        "parent_sha256": parent.sha256 if parent else None,
        "adapter_sha256": adapter_sha256,
        "batches": batches,
        "algorithm": recipe["algorithm"],
        "recipe": recipe,
        "seed": recipe["seed"],
        "versions": {"clawctl": __version__, **{name: v for name, package in LIBRARIES.items() if (v := _version(package))}},
        **rest,
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
