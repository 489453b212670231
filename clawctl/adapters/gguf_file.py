"""Read a GGUF model: its metadata and its tensors, without the minutes that a vocabulary of 262,144 entries costs otherwise.

gguf-py's GGUFReader makes an array object of every token and every merge (8 s for 49,152 tokens); here long arrays are stepped over.
Dequantisation is gguf-py's. Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawctl.errors import ClawctlError, Missing

MAGIC = b"GGUF"
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
LONGEST_KEPT = 4096  # arrays beyond this are vocabulary


@dataclass(frozen=True)
class TensorInfo:
    """Where a tensor stands. `shape` is numpy's order (rows first), `kind` a ggml type number, `offset` from the file's start."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int


class GGUFFile:
    """A GGUF opened for reading. `metadata` holds scalars, strings and short arrays; `tensors` the index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 4
        if self._data[:4] != MAGIC or (version := self._scalar("I")) not in (2, 3):
            raise ClawctlError(f"{path}: not a GGUF model of version 2 or 3")
        self.version = version
        tensors, pairs = self._scalar("Q"), self._scalar("Q")
        try:
            self.metadata: dict[str, Any] = dict(self._pair() for _ in range(pairs))
            infos = [self._tensor() for _ in range(tensors)]
        except (struct.error, IndexError, KeyError, UnicodeDecodeError):
            raise ClawctlError(f"{path}: the GGUF is damaged or cut short") from None
        alignment = int(self.metadata.get("general.alignment", 32))
        start = -(-self._at // alignment) * alignment
        self.tensors = {i.name: TensorInfo(i.name, i.shape, i.kind, start + i.offset) for i in infos}

    @property
    def architecture(self) -> str:
        """llama, qwen2, gemma3, ..."""
        return str(self.metadata.get("general.architecture", "unknown"))

    def get(self, key: str, default: Any = None) -> Any:
        """A value of the architecture's own section, e.g. `get("block_count")` for llama.block_count."""
        return self.metadata.get(f"{self.architecture}.{key}", default)

    def tensor(self, name: str) -> Any:
        """The tensor as float32 (numpy, [rows, columns]), dequantised where needed."""
        try:
            import gguf
            import numpy as np
        except ImportError:
            raise Missing("gguf", "train") from None
        info = self.tensors[name]
        kind = gguf.GGMLQuantizationType(info.kind)
        block, size = gguf.GGML_QUANT_SIZES[kind]
        rows = math.prod(info.shape[:-1])
        width = info.shape[-1] // block * size
        raw = np.frombuffer(self._data, np.uint8, rows * width, info.offset).reshape(rows, width)
        if kind == gguf.GGMLQuantizationType.F32:
            return raw.view(np.float32).reshape(info.shape)
        if kind == gguf.GGMLQuantizationType.F16:
            return raw.view(np.float16).astype(np.float32).reshape(info.shape)
        return gguf.quants.dequantize(raw, kind).reshape(info.shape)

    def _scalar(self, code: str) -> Any:
        value = struct.unpack_from("<" + code, self._data, self._at)[0]
        self._at += struct.calcsize("<" + code)
        return value

    def _string(self) -> str:
        length = self._scalar("Q")
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def _pair(self) -> tuple[str, Any]:
        return self._string(), self._value(self._scalar("I"))

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            return self._scalar(SCALARS[kind])
        of, count = self._scalar("I"), self._scalar("Q")
        if count <= LONGEST_KEPT:
            return [self._value(of) for _ in range(count)]
        if of != STRING:
            self._at += count * struct.calcsize("<" + SCALARS[of])
            return None
        for _ in range(count):
            self._at += 8 + struct.unpack_from("<Q", self._data, self._at)[0]
        return None

    def _tensor(self) -> TensorInfo:
        name = self._string()
        shape = tuple(self._scalar("Q") for _ in range(self._scalar("I")))[::-1]
        return TensorInfo(name, shape, self._scalar("I"), self._scalar("Q"))
