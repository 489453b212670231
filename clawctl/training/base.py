"""Base weights for training, from the GGUF that also serves: dequantised once into data/models/<sha>/, then loaded from there.

So that sampler and trainer hold the same weights, quantisation error included. A Hugging Face folder is used as it is.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawctl.adapters.architectures import family, unpermute
from clawctl.adapters.gguf import tensor_names
from clawctl.adapters.gguf_file import GGUFFile
from clawctl.errors import ClawctlError, Missing
from clawctl.workspace.atomic import new_folder
from clawctl.workspace.models import Model, base_sha256

log = logging.getLogger(__name__)
WEIGHTS, FACTORS = "model.safetensors", "rope_factors.json"


@dataclass(frozen=True)
class Base:
    """A base model on disk. `gguf` None for a Hugging Face folder; `sha256` is the GGUF's, or that of the folder's weights."""

    name: str
    folder: Path
    sha256: str
    architecture: str
    gguf: Path | None


def prepare(model: Model, models: Path) -> Base:
    """The base to train: found in `models` (the workspace's cache) or dequantised into it."""
    path = model.file
    if path.is_dir():
        return _hugging_face(model.name, path, models)
    sha = base_sha256(path, models)
    folder = models / sha / "float32"
    if not (folder / WEIGHTS).is_file():
        log.info("dequantising %s once into %s", path.name, folder)
        _dequantise(path, folder)
    architecture = json.loads((folder / "config.json").read_text())["gguf_architecture"]
    return Base(model.name, folder, sha, architecture, path)


def vocabulary(model: Model) -> int:
    """How many tokens the model knows; ids from there on are another model's."""
    if model.file.is_dir():
        config = json.loads((model.file / "config.json").read_text())
        return int(config.get("vocab_size") or config["text_config"]["vocab_size"])
    return GGUFFile(model.file).tensors["token_embd.weight"].shape[0]


def load(base: Base) -> Any:
    """The base as a transformers causal language model, float32, frozen, in evaluation mode."""
    try:
        import transformers
    except ImportError:
        raise Missing("transformers", "train") from None
    transformers.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(base.folder, dtype="float32", local_files_only=True)
    factors = base.folder / FACTORS
    if factors.is_file():
        rotary = model.get_decoder().rotary_emb
        rotary.inv_freq /= rotary.inv_freq.new_tensor(json.loads(factors.read_text()))
    return model.requires_grad_(False).eval()


def _hugging_face(name: str, path: Path, models: Path) -> Base:
    sha = base_sha256(path, models)
    kind = json.loads((path / "config.json").read_text()).get("model_type", "unknown")
    return Base(name, path, sha, kind.removesuffix("_text"), None)


def _dequantise(path: Path, folder: Path) -> None:
    try:
        import torch
        from safetensors.torch import save_file
    except ImportError:
        raise Missing("torch", "train") from None
    file = GGUFFile(path)
    kind = family(file.architecture)
    config = kind.config(file) | {"gguf_architecture": file.architecture, "dtype": "float32"}
    state: dict[str, Any] = {}
    for name, source in _names(config, file).items():
        weights = file.tensor(source)
        if kind.permuted and (".q_proj." in name or ".k_proj." in name):
            weights = unpermute(weights, config["num_attention_heads" if ".q_proj." in name else "num_key_value_heads"])
        if kind.norm_offset and name.endswith("norm.weight"):
            weights = weights - kind.norm_offset
        state[name] = torch.tensor(weights)
    with _as_cached(folder) as into:
        save_file(state, into / WEIGHTS, metadata={"format": "pt"})
        (into / WEIGHTS).chmod(0o644)  # safetensors makes it its owner's alone
        (into / "config.json").write_text(json.dumps(config, indent=2))
        if "rope_freqs.weight" in file.tensors:
            (into / FACTORS).write_text(json.dumps([float(x) for x in file.tensor("rope_freqs.weight")]))


def _names(config: dict[str, Any], file: GGUFFile) -> dict[str, str]:
    """transformers' parameter names -> the GGUF's tensor names, by gguf-py's map."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    settings = dict(config)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(settings.pop("model_type"), **settings))
    names = tensor_names(file.architecture, config["num_hidden_layers"])
    found = {}
    for name in model.state_dict():
        stem, _, suffix = name.rpartition(".")
        mapped = names.get_name(stem)
        if name == "lm_head.weight" and config["tie_word_embeddings"]:
            continue
        if mapped is None or f"{mapped}.{suffix}" not in file.tensors:
            raise ClawctlError(f"{file.path}: no tensor for {name}", "the file is incomplete, or of a variant that is not supported")
        found[name] = f"{mapped}.{suffix}"
    return found


@contextlib.contextmanager
def _as_cached(folder: Path) -> Iterator[Path]:
    """`new_folder`, content with another process having made the same folder first."""
    try:
        with new_folder(folder) as into:
            yield into
    except OSError:
        if not (folder / WEIGHTS).is_file():
            raise
