"""A key-value cache of many sequences, and the batches that fill it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clawctl.engines.llama.native import library
from clawctl.engines.llama.weights import Weights
from clawctl.errors import ClawctlError

if TYPE_CHECKING:
    import numpy as np

BATCH = 512  # tokens a call; a prompt longer than that is evaluated in pieces
FLASH_ATTENTION_OFF = 0


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
