"""Do the trained policy and the GGUF that will serve say the same? Mean KL(trainer || llama.cpp) over real tokens.

The bare base has a gap of its own, since llama.cpp multiplies quantised weights with quantised activations. An adapter that arrived whole
leaves the gap where it was; one with a wrong name or a wrong row order widens it tenfold.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawctl.workspace.atomic import write_atomic

if TYPE_CHECKING:
    import torch

LEAST = 1e-3  # nats; an unquantised base has hardly a gap, and a multiple of nothing would refuse rounding errors
TOKENS = 128  # of each sequence
Logits = Callable[[list[int]], "torch.Tensor"]


def available() -> bool:
    """Whether llama-cpp-python is installed."""
    return importlib.util.find_spec("llama_cpp") is not None


def measure(
    bare: Logits, adapted: Logits, gguf: Path, adapter: Path, sequences: Sequence[list[int]], *, threads: int, memo: Path, trainer: str
) -> dict[str, Any]:
    """The adapter's gap and the bare base's, in nats, and how many tokens they are the mean of.

    bare, adapted: the trainer's logits [n, vocabulary] of a sequence, without and with the adapter. memo: a file that keeps the base's gap, which
    depends on nothing but the model, the library and `trainer` (device and type).
    """
    from clawctl.engines.llama.weights import Weights

    cut = [sequence[:TOKENS] for sequence in sequences]
    weights = Weights(gguf)
    try:
        gap = _gap(adapted, weights, weights.load_adapter(adapter), cut, threads)
        stamp = {"llama_cpp": importlib.metadata.version("llama-cpp-python"), "trainer": trainer}
        base = _remembered(memo, stamp)
        if base is None:
            base = _gap(bare, weights, None, cut, threads)
            write_atomic(memo, json.dumps({**stamp, "base_gap": base, "tokens": sum(map(len, cut))}))
    finally:
        weights.close()
    return {"gap": gap, "base_gap": base, "tokens": sum(map(len, cut))}


def within(figures: dict[str, Any], factor: float) -> bool:
    """Whether the gap is at most `factor` times the base's own (or LEAST, where that is more)."""
    return bool(figures["gap"] <= max(factor * figures["base_gap"], LEAST))


def _remembered(memo: Path, stamp: dict[str, Any]) -> float | None:
    try:
        kept = json.loads(memo.read_text())
    except (OSError, ValueError):
        return None
    return float(kept["base_gap"]) if stamp.items() <= kept.items() else None


def _gap(ours: Logits, weights: Any, adapter: Any, sequences: Sequence[list[int]], threads: int) -> float:
    import torch

    from clawctl.engines.llama.context import Context

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
