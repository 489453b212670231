"""A PEFT LoRA adapter as llama.cpp's GGUF adapter, so that the engine serves it on the same quantised base it was trained on.

Names go by gguf-py's map. Where llama.cpp's converter permuted the base's q and k rows for its rotary layout, the rows of those
projections' B must follow, or the adapter turns the wrong dimensions; A is untouched, since columns are not permuted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clawctl.adapters.architectures import Family, family, permute
from clawctl.errors import ClawctlError, Missing

PREFIX = "base_model.model."


def write(path: Path, state: dict[str, Any], alpha: float, base: dict[str, Any], architecture: str, *, of: Family | None = None) -> None:
    """Write `state` (PEFT's names -> float32 arrays or tensors) as a GGUF adapter.

    base: transformers' config of the base model; num_hidden_layers and the head counts are used. architecture: llama.cpp's name of it.
    of: how the family's weights are laid out, where it is not the table's entry.
    """
    try:
        import gguf
        import numpy as np
    except ImportError:
        raise Missing("gguf", "train") from None
    kind = of or family(architecture)
    names = tensor_names(architecture, base["num_hidden_layers"])
    heads = {".q_proj.": base["num_attention_heads"], ".k_proj.": base.get("num_key_value_heads", base["num_attention_heads"])}
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for name, tensor in state.items():
        module, _, half = name.removeprefix(PREFIX).removesuffix(".weight").rpartition(".lora_")
        mapped = names.get_name(module)
        if mapped is None:
            raise ClawctlError(f"llama.cpp has no tensor for {module} in the family {architecture}")
        values = np.ascontiguousarray(np.asarray(tensor, dtype=np.float32))
        for part, count in heads.items():
            if kind.permuted and half == "B" and part in f".{module.rpartition('.')[2]}.":
                values = np.ascontiguousarray(permute(values, count))
        writer.add_tensor(f"{mapped}.weight.lora_{half.lower()}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tensor_names(architecture: str, layers: int) -> Any:
    """gguf-py's map from transformers' module names to GGUF tensor names."""
    import gguf

    kind = next((number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture), None)
    if kind is None:
        raise ClawctlError(f"gguf-py does not know the family {architecture!r}")
    return gguf.get_tensor_name_map(kind, layers)
