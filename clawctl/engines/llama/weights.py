"""A GGUF in memory: its metadata, its vocabulary, and the adapters that go on it."""

from __future__ import annotations

import ctypes
import logging
import os
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from clawctl.engines.llama.native import library
from clawctl.errors import ClawctlError, Usage
from clawctl.workspace.machine import processor

log = logging.getLogger(__name__)
EXTRA_BUFFERS = "CLAWCTL_LLAMA_EXTRA_BUFTS"


def extra_buffers(system_info: str, has_amx: bool, override: str | None) -> bool:
    """Whether the weights may be repacked into the processor's own layouts (`use_extra_bufts`).

    Not where ggml was built with AMX on a processor that has it: that path crashes at the first decode of a quantised model
    (ggml-org/llama.cpp issue 20824).
    """
    if override in ("0", "1"):
        return override == "1"
    if override:
        raise Usage(f"{EXTRA_BUFFERS}={override}: 0 or 1")
    return not (has_amx and "AMX_INT8 = 1" in system_info)


def file_type(path: Path) -> str | None:
    """The llama_ftype of a GGUF as its metadata has it, without loading the weights."""
    native = library()
    parameters = native.llama_model_default_params()
    parameters.vocab_only = True
    model = native.llama_model_load_from_file(os.fsencode(path), parameters)
    try:
        return _metadata(model, "general.file_type") if model else None
    finally:
        if model:
            native.llama_model_free(model)


def _metadata(model: Any, key: str) -> str | None:
    native = library()
    size = native.llama_model_meta_val_str(model, key.encode(), None, 0)
    if size < 0:
        return None
    buffer = ctypes.create_string_buffer(size + 1)
    native.llama_model_meta_val_str(model, key.encode(), buffer, size + 1)
    return buffer.value.decode(errors="replace")


@cache
def _say_not_repacked() -> None:
    """Once a process, however many models it loads."""
    log.info("weights are not repacked: this build's AMX path crashes (%s=1 overrides)", EXTRA_BUFFERS)


class Weights:
    """A loaded GGUF and its vocabulary."""

    def __init__(self, path: Path) -> None:
        native = library()
        parameters = native.llama_model_default_params()
        override = os.environ.get(EXTRA_BUFFERS)
        parameters.use_extra_bufts = extra_buffers(native.llama_print_system_info().decode(), processor().amx, override)
        if not parameters.use_extra_bufts and not override:
            _say_not_repacked()
        self.model = native.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self.model:
            raise ClawctlError(f"{path}: llama.cpp cannot load it", "a complete GGUF of a supported architecture is needed")
        self._vocabulary = native.llama_model_get_vocab(self.model)
        self.size: int = native.llama_vocab_n_tokens(self._vocabulary)
        self.trained_context: int = native.llama_model_n_ctx_train(self.model)
        self.bos: int = native.llama_vocab_bos(self._vocabulary)
        self.eos: int = native.llama_vocab_eos(self._vocabulary)
        self.wants_bos: bool = native.llama_vocab_get_add_bos(self._vocabulary)
        self._pieces: dict[int, bytes] = {}

    def metadata(self, key: str) -> str | None:
        """A metadata value as text, or None."""
        return _metadata(self.model, key)

    def tokenize(self, text: str) -> list[int]:
        """The token ids of a rendered prompt: its markers become tokens, and exactly one BOS stands first where the model wants one."""
        native = library()
        data = text.encode(errors="replace")
        size = len(data) + 8
        ids = (native.llama_token * size)()
        count = native.llama_tokenize(self._vocabulary, data, len(data), ids, size, False, True)
        if count < 0:  # a vocabulary without the space's own mark spells each space in three bytes
            ids = (native.llama_token * -count)()
            count = native.llama_tokenize(self._vocabulary, data, len(data), ids, -count, False, True)
        if count < 0:
            raise ValueError(f"{-count} tokens for {len(data)} bytes")
        tokens = list(ids[:count])
        while self.wants_bos and tokens[:1] == [self.bos]:
            tokens.pop(0)
        return [self.bos, *tokens] if self.wants_bos else tokens

    def piece(self, token: int) -> bytes:
        """The bytes that a token adds to the text; none for a control token."""
        found = self._pieces.get(token)
        if found is None:
            found = self._pieces[token] = self._piece(token, 64)
        return found

    def _piece(self, token: int, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(size)
        count = library().llama_token_to_piece(self._vocabulary, token, buffer, size, 0, False)
        return buffer.raw[:count] if count >= 0 else self._piece(token, -count)

    def text_of(self, token: int) -> str:
        """A token as its marker, e.g. "<|im_end|>"; empty where the model has none (-1)."""
        return (library().llama_vocab_get_text(self._vocabulary, token) or b"").decode(errors="replace") if token >= 0 else ""

    @cached_property
    def ends(self) -> frozenset[int]:
        """The tokens that end a generation."""
        return frozenset(t for t in range(self.size) if library().llama_vocab_is_eog(self._vocabulary, t))

    def load_adapter(self, path: Path) -> Any:
        """A LoRA adapter of this model; freed with it."""
        adapter = library().llama_adapter_lora_init(self.model, os.fsencode(path))
        if not adapter:
            raise ClawctlError(f"{path}: llama.cpp cannot load this adapter", "it is damaged, or was trained on another base model")
        return adapter

    def close(self) -> None:
        """Free the weights; what was made of them is freed before."""
        if self.model:
            library().llama_model_free(self.model)
            self.model = None
