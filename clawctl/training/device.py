"""Where and in which precision to train: a GPU when there is one; on a CPU what a short measurement says."""

from __future__ import annotations

import contextlib
import ctypes
import time
from dataclasses import dataclass

import torch

from clawctl.errors import Usage

WIN = 1.5  # bfloat16 must be this much faster to be worth its rounding


@dataclass(frozen=True)
class Placement:
    """Device and type of the frozen weights; `reason` says why, for people. The adapter itself is always float32."""

    device: torch.device
    dtype: torch.dtype
    reason: str

    @property
    def name(self) -> str:
        """For example "cpu float32"."""
        return f"{self.device.type} {str(self.dtype).removeprefix('torch.')}"


def choose(device: str = "auto", dtype: str = "auto") -> Placement:
    """device: auto, cpu, cuda (or cuda:1); dtype: auto, float32, bfloat16."""
    types = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    if dtype != "auto" and dtype not in types:
        raise Usage(f"--dtype {dtype}: auto, float32 or bfloat16")
    try:
        where = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
        torch.empty(1, device=where)
    except (RuntimeError, AssertionError) as error:
        raise Usage(f"--device {device}: {str(error).splitlines()[0]}", "auto, cpu or cuda") from None
    if dtype != "auto":
        return Placement(where, types[dtype], "as asked")
    if where.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
        return Placement(where, types["bfloat16" if fast else "float32"], "the GPU " + ("has" if fast else "lacks") + " bfloat16 units")
    speeds = {name: _speed(kind) for name, kind in types.items()}
    best = "bfloat16" if speeds["bfloat16"] > WIN * speeds["float32"] else "float32"
    measured = ", ".join(f"{name} {speed:.0f} GFLOP/s" for name, speed in speeds.items())
    return Placement(where, types[best], f"measured here: {measured}")


def keep_memory() -> None:
    """Let malloc keep what a step frees for the next one: a tenth of the time on a CPU is the kernel clearing the same pages again.

    glibc hands out large blocks by mmap and gives them back at once; elsewhere this does nothing.
    """
    trim_threshold, top_pad, mmap_max = -1, -2, -4  # M_* of malloc.h
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(mmap_max, 0)
        libc.mallopt(trim_threshold, 2**30)
        libc.mallopt(top_pad, 2**26)


def _speed(dtype: torch.dtype, n: int = 512) -> float:
    """GFLOP/s of a product as training does it; the best of four, the first of which lets oneDNN compile its kernel."""
    x, w = torch.ones(n, n, dtype=dtype), torch.ones(n, n, dtype=dtype)
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        torch.nn.functional.linear(x, w)
        best = min(best, time.perf_counter() - start)
    return 2 * n**3 / best / 1e9
