"""llama.cpp's C interface as llama-cpp-python carries it: the library quiet, a model, a context, one batch after another."""

from __future__ import annotations

import ctypes
import logging
import os
import time
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawctl.errors import ClawctlError, Missing, Usage
from clawctl.workspace.machine import processor

if TYPE_CHECKING:
    import numpy as np

log = logging.getLogger(__name__)
BATCH = 512  # tokens a call; a prompt longer than that is evaluated in pieces
EXTRA_BUFFERS = "CLAWCTL_LLAMA_EXTRA_BUFTS"
FLASH_ATTENTION_OFF = 0
# GNU OpenMP's threads wait for one another in a busy loop; on a machine that has other work to do, most of the time went there
# (measured: 5 tokens a second against 25). They give up after so many turns, unless the user has said otherwise.
SPIN = {"GOMP_SPINCOUNT": "10000"}


@lru_cache(maxsize=1)
def library() -> Any:
    """The module llama_cpp.llama_cpp, started once, its chatter sent to our debug log."""
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in SPIN.items():
            os.environ.setdefault(name, value)
    try:
        import llama_cpp.llama_cpp as native
    except ImportError:
        raise Missing("llama-cpp-python", "local") from None
    # The callback must outlive the library: ctypes does not keep it.
    library.callback = native.llama_log_callback(_heard)  # type: ignore[attr-defined]
    native.llama_log_set(library.callback, ctypes.c_void_p())  # type: ignore[attr-defined]
    native.llama_backend_init()
    return native


def _heard(_level: int, text: bytes, _data: Any) -> None:
    log.debug("%s", text.decode(errors="replace").rstrip())


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


class Weights:
    """A loaded GGUF and its vocabulary."""

    def __init__(self, path: Path) -> None:
        native = library()
        parameters = native.llama_model_default_params()
        override = os.environ.get(EXTRA_BUFFERS)
        parameters.use_extra_bufts = extra_buffers(native.llama_print_system_info().decode(), processor().amx, override)
        if not parameters.use_extra_bufts and not override:
            log.info("weights are not repacked: this build's AMX path crashes (%s=1 overrides)", EXTRA_BUFFERS)
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
            buffer = ctypes.create_string_buffer(256)
            count = library().llama_token_to_piece(self._vocabulary, token, buffer, 256, 0, False)
            found = self._pieces[token] = buffer.raw[: max(0, count)]
        return found

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


class DecodeFailed(RuntimeError):
    """llama_decode refused or broke off a batch; nothing of the sequences in it can be trusted."""


class Context:
    """A key-value cache of `streams` sequences with `length` cells each, and the batch that fills it.

    Every sequence has a stream of its own and flash attention is off, because then what a sequence computes does not depend on its
    neighbours, bit by bit: its cells stand in the order of its positions, and each sum runs over them in that order. A unified
    cache would also make each query attend over the cells of all. One condition remains: a batch has two tokens at least, since
    llama.cpp multiplies single vectors by other code; Streams sees to it.
    """

    def __init__(self, weights: Weights, adapter: Any, *, streams: int, length: int, threads: int) -> None:
        import numpy as np

        native = library()
        self._batch_size = max(BATCH, streams)
        parameters = native.llama_context_default_params()
        parameters.n_ctx = streams * length
        parameters.n_seq_max = streams
        parameters.n_batch = parameters.n_ubatch = self._batch_size
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.kv_unified = False
        parameters.flash_attn_type = FLASH_ATTENTION_OFF
        self.length, self.seconds, self._vocabulary = length, 0.0, weights.size
        self._context = native.llama_init_from_model(weights.model, parameters)
        if not self._context:
            raise ClawctlError(
                f"llama.cpp cannot hold {streams} sequences of {length} tokens", "fewer at once (--parallel), or a shorter --context"
            )
        self._memory = native.llama_get_memory(self._context)
        if adapter:
            one = (native.llama_adapter_lora_p_ctypes * 1)(adapter)
            native.llama_set_adapters_lora(self._context, one, 1, (ctypes.c_float * 1)(1.0))
        self._token = np.zeros(self._batch_size, np.int32)
        self._position = np.zeros(self._batch_size, np.int32)
        self._stream = np.zeros(self._batch_size, np.int32)
        self._wanted = np.zeros(self._batch_size, np.int8)
        self._batch = self._make_batch()

    def decode(self, tokens: Sequence[int], positions: Sequence[int], streams: Sequence[int], *, last_only: bool) -> np.ndarray:
        """Evaluate tokens. Gives the logits (n, vocabulary), or of the last token alone (1, vocabulary), as a view that the next
        call overwrites. Raises DecodeFailed.
        """
        import numpy as np

        native, n = library(), len(tokens)
        self._token[:n], self._position[:n], self._stream[:n] = tokens, positions, streams
        self._wanted[:n] = not last_only
        self._wanted[n - 1] = 1
        self._batch.n_tokens = n
        start = time.perf_counter()
        status = native.llama_decode(self._context, self._batch)
        native.llama_synchronize(self._context)
        self.seconds += time.perf_counter() - start
        if status:
            raise DecodeFailed(f"llama_decode gave {status} for {n} tokens")
        pointer = native.llama_get_logits(self._context)
        return np.ctypeslib.as_array(pointer, (1 if last_only else n, self._vocabulary))

    def copy(self, source: int, target: int) -> None:
        """Make the stream `target` a copy of `source`; done by the next decode."""
        native = library()
        native.llama_memory_seq_rm(self._memory, target, -1, -1)
        native.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def cut(self, stream: int, length: int) -> bool:
        """Forget what the stream holds from position `length` on; False where this model's memory cannot (it is recurrent)."""
        return bool(library().llama_memory_seq_rm(self._memory, stream, length, -1))

    def clear(self) -> None:
        """Forget everything."""
        library().llama_memory_clear(self._memory, True)

    def close(self) -> None:
        """Free the cache."""
        if self._context:
            library().llama_free(self._context)
            self._context = None

    def _make_batch(self) -> Any:
        """A llama_batch over our own arrays, so that a step is three array assignments and not a loop in Python."""
        import numpy as np

        native, n = library(), self._batch_size
        self._ones = np.ones(n, np.int32)
        addresses = self._stream.ctypes.data + np.arange(n, dtype=np.uintp) * self._stream.itemsize
        self._addresses = addresses.astype(np.uintp)
        batch = native.llama_batch()

        def pointer(array: np.ndarray, kind: Any) -> Any:
            return ctypes.cast(array.ctypes.data, ctypes.POINTER(kind))

        batch.token = pointer(self._token, native.llama_token)
        batch.pos = pointer(self._position, native.llama_pos)
        batch.n_seq_id = pointer(self._ones, ctypes.c_int32)
        batch.seq_id = pointer(self._addresses, ctypes.POINTER(native.llama_seq_id))
        batch.logits = pointer(self._wanted, ctypes.c_int8)
        return batch
