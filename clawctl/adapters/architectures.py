"""What differs between model families when weights cross between llama.cpp's GGUF and transformers.

One entry a family: the transformers config made from GGUF metadata, and what llama.cpp's converter did to the weights. A family that is not
here is refused rather than guessed; a Hugging Face folder as base works for any, only the GGUF adapter needs an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clawctl.adapters.gguf_file import GGUFFile
from clawctl.errors import ClawctlError


@dataclass(frozen=True)
class Family:
    """`config`: GGUF -> transformers config. `permuted`: q and k rows are interleaved for llama.cpp's rotary layout.
    `norm_offset`: what the converter added to norm weights."""

    config: Callable[[GGUFFile], dict[str, Any]]
    permuted: bool = False
    norm_offset: float = 0.0


def family(architecture: str) -> Family:
    """The entry of a GGUF architecture; ClawctlError for one that is not known."""
    if architecture not in FAMILIES:
        raise ClawctlError(f"cannot train a model of the family {architecture!r}", f"known families: {', '.join(FAMILIES)}")
    return FAMILIES[architecture]


def permute(rows: Any, heads: int) -> Any:
    """Rows [heads * size, n] from transformers' half-split rotary order into llama.cpp's interleaved one (numpy).

    Within a head, rows (0, 1, ..., h-1, h, ..., 2h-1) become (0, h, 1, h+1, ...).
    """
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def unpermute(rows: Any, heads: int) -> Any:
    """The inverse of `permute`."""
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def _common(file: GGUFFile, model_type: str) -> dict[str, Any]:
    heads = int(file.get("attention.head_count"))
    width = int(file.get("embedding_length"))
    scaling = file.get("rope.scaling.type", "none")
    if scaling not in ("none", "linear"):
        raise ClawctlError(
            f"{file.path}: rotary scaling {scaling!r} cannot be trained from the GGUF", "name the model's Hugging Face folder"
        )
    rope = {"rope_type": "default", "rope_theta": float(file.get("rope.freq_base", 10000.0))}
    if scaling == "linear":
        rope |= {"rope_type": "linear", "factor": float(file.get("rope.scaling.factor", 1.0))}
    return {
        "model_type": model_type,
        "vocab_size": file.tensors["token_embd.weight"].shape[0],
        "hidden_size": width,
        "intermediate_size": int(file.get("feed_forward_length")),
        "num_hidden_layers": int(file.get("block_count")),
        "num_attention_heads": heads,
        "num_key_value_heads": int(file.get("attention.head_count_kv", heads)),
        "head_dim": int(file.get("attention.key_length", width // heads)),
        "rms_norm_eps": float(file.get("attention.layer_norm_rms_epsilon")),
        "max_position_embeddings": int(file.get("context_length")),
        "rope_parameters": rope,
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "bos_token_id": file.metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": file.metadata.get("tokenizer.ggml.eos_token_id"),
        "pad_token_id": None,
    }


def _llama(file: GGUFFile) -> dict[str, Any]:
    biased = "blk.0.attn_q.bias" in file.tensors
    return {**_common(file, "llama"), "architectures": ["LlamaForCausalLM"], "attention_bias": biased, "hidden_act": "silu"}


def _qwen2(file: GGUFFile) -> dict[str, Any]:
    return {**_common(file, "qwen2"), "architectures": ["Qwen2ForCausalLM"], "hidden_act": "silu", "use_sliding_window": False}


def _qwen3(file: GGUFFile) -> dict[str, Any]:
    return {**_common(file, "qwen3"), "architectures": ["Qwen3ForCausalLM"], "hidden_act": "silu", "use_sliding_window": False}


def _gemma3(file: GGUFFile) -> dict[str, Any]:
    made = _common(file, "gemma3_text")
    layers, width, heads, size = (made[k] for k in ("num_hidden_layers", "hidden_size", "num_attention_heads", "head_dim"))
    rope = made.pop("rope_parameters")
    local = {"rope_type": "default", "rope_theta": float(file.get("rope.freq_base_swa", 10000.0))}
    # llama.cpp scales queries by 1/sqrt(head size), for the 27B alone by 1/sqrt(width per head).
    scalar = width // heads if layers == 62 else size
    return {
        **made,
        "architectures": ["Gemma3ForCausalLM"],
        "hidden_activation": "gelu_pytorch_tanh",
        "rope_parameters": {"full_attention": rope, "sliding_attention": local},
        "sliding_window": int(file.get("attention.sliding_window")),
        "layer_types": ["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(layers)],
        "query_pre_attn_scalar": scalar,
    }


FAMILIES: dict[str, Family] = {
    "llama": Family(_llama, permuted=True),
    "qwen2": Family(_qwen2),
    "qwen3": Family(_qwen3),
    "gemma3": Family(_gemma3, norm_offset=1.0),
}
