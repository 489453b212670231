"""Do the trained policy and the GGUF that will serve say the same? Mean KL(trainer || llama.cpp) over real tokens, adapter on and off.

The bare base has a gap of its own, since llama.cpp multiplies quantised weights with quantised activations. An adapter that arrived whole
leaves the gap where it was; one with a wrong name or a wrong row order widens it tenfold.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

LEAST = 1e-3  # nats; an unquantised base has hardly a gap, and a multiple of nothing would refuse rounding errors
TOKENS = 160  # of each sequence
Logits = Callable[[list[int]], "torch.Tensor"]


def available() -> bool:
    """Whether llama-cpp-python is installed."""
    return importlib.util.find_spec("llama_cpp") is not None


def measure(bare: Logits, adapted: Logits, gguf: Path, adapter: Path, sequences: Sequence[list[int]], threads: int) -> dict[str, Any]:
    """Both gaps in nats, and how many tokens they are the mean of.

    bare, adapted: the trainer's logits [n, vocabulary] of a sequence, without and with the adapter.
    """
    from clawctl.engines.llama.native import Weights

    cut = [sequence[:TOKENS] for sequence in sequences]
    weights = Weights(gguf)
    try:
        base = _gap(bare, weights, None, cut, threads)
        with_adapter = _gap(adapted, weights, weights.load_adapter(adapter), cut, threads)
    finally:
        weights.close()
    return {"gap": with_adapter, "base_gap": base, "tokens": sum(map(len, cut))}


def within(figures: dict[str, Any], factor: float) -> bool:
    """Whether the gap is at most `factor` times the base's own (or LEAST, where that is more)."""
    return bool(figures["gap"] <= max(factor * figures["base_gap"], LEAST))


def _gap(ours: Logits, weights: Any, adapter: Any, sequences: Sequence[list[int]], threads: int) -> float:
    import torch

    from clawctl.engines.llama.native import Context

    context = Context(weights, adapter, streams=1, length=max(map(len, sequences)), threads=threads)
    total = 0.0
    try:
        for tokens in sequences:
            context.clear()
            theirs = context.decode(tokens, range(len(tokens)), [0] * len(tokens), last_only=False)
            mine = ours(tokens).cpu()
            for row, other in zip(mine.split(32), torch.from_numpy(theirs).split(32), strict=True):
                p, q = row.log_softmax(-1), other.log_softmax(-1)
                total += float((p.exp() * (p - q)).sum())
    finally:
        context.close()
    return total / sum(map(len, sequences))
