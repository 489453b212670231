"""Tiny models with random weights, as real GGUF files that llama.cpp loads, and rollouts for them."""

from __future__ import annotations

import random
from pathlib import Path

SIZES = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
}
TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = ["<unk>", "<s>", "</s>"]
VOCABULARY = len(SPECIAL) + len(TOKENS)


def write_tiny(path: Path, architecture: str = "llama", *, seed: int = 0, factors: list[float] | None = None) -> Path:
    """A random model of two layers with a byte vocabulary, laid out as llama.cpp's converter lays out its family."""
    import gguf
    import numpy as np
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from clawctl.adapters.architectures import family, permute
    from clawctl.adapters.gguf import tensor_names

    kinds = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma3": "gemma3_text"}
    extra = {"query_pre_attn_scalar": 16, "sliding_window": 32, "num_hidden_layers": 6} if architecture == "gemma3" else {}
    sizes = {**SIZES, **extra}
    config = AutoConfig.for_model(
        kinds[architecture], vocab_size=VOCABULARY, max_position_embeddings=512, tie_word_embeddings=True, **sizes
    )
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Large enough that attention and rotary positions matter to what comes out.
            parameter.normal_(0, 0.3 if name.endswith("bias") or "norm" in name else 0.15)
            if name.endswith("norm.weight") and architecture != "gemma3":
                parameter.add_(1.0)
    kind, names = family(architecture), tensor_names(architecture, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(512)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(1_000_000.0 if architecture == "gemma3" else 10000.0)
    if architecture == "gemma3":
        writer.add_sliding_window(32)
    if architecture == "llama":
        writer.add_rope_dimension_count(config.head_dim)
        writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(SPECIAL + TOKENS)
    writer.add_token_scores([0.0] * VOCABULARY)
    writer.add_token_types([gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        stem, _, suffix = name.rpartition(".")
        values = tensor.numpy().astype(np.float32)
        if kind.permuted and ("q_proj" in name or "k_proj" in name):
            values = permute(values, config.num_attention_heads if "q_proj" in name else config.num_key_value_heads)
        if name.endswith("norm.weight"):
            values = values + kind.norm_offset
        writer.add_tensor(f"{names.get_name(stem)}.{suffix}", np.ascontiguousarray(values))
    if factors:
        writer.add_tensor("rope_freqs.weight", np.array(factors, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def rollouts(groups: int = 4, samples: int = 4, *, seed: int = 0, base: str | None = None, shared: int = 12, **more) -> list[dict]:
    """Scored rollouts of random tokens. The prompts share `shared` tokens; rewards within a group differ."""
    rng = random.Random(seed)

    def some(n: int) -> list[int]:
        return [rng.randrange(3, VOCABULARY) for _ in range(n)]

    head = [1, *some(shared)] if shared else []
    rows = []
    for g in range(groups):
        prompt = head + some(rng.randrange(2, 9))
        for i in range(samples):
            completion = [*some(rng.randrange(1, 14)), 2]
            rows.append(
                {
                    "id": f"r{g}-{i}",
                    "task_id": f"t{g}",
                    "group_id": f"g{g}",
                    "sample": i,
                    "prompt_token_ids": prompt,
                    "completion_token_ids": completion,
                    "rollout_logprobs": [-1.0 - rng.random() for _ in completion],
                    "reward": float(i % 3) / 2,
                    "finish_reason": "stop",
                    "sampling": {"temperature": 1.0},
                    "policy": {"base_sha256": base, "adapter_sha256": None},
                    **more,
                }
            )
    return rows
