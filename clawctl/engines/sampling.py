"""Drawing tokens from a matrix of logits, all sequences at once, each with a random number of its own.

A row's result depends on that row and its number alone, so a sequence gets the same token in whatever company it is sampled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawctl.engines.protocol import SamplingParams

if TYPE_CHECKING:
    import numpy as np

BLOCK = 256  # a cumulative sum over a vocabulary is done block by block: sums first, then inside one block


def uniforms(seed: int, count: int) -> np.ndarray:
    """The `count` numbers in [0, 1) that a sequence with this seed draws with: PCG64, one a token."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed)).random(count)


def draw(logits: np.ndarray, numbers: np.ndarray, params: SamplingParams) -> tuple[np.ndarray, np.ndarray]:
    """One token a row. logits: float32 (n, vocabulary), unchanged; numbers: (n,) in [0, 1).

    Gives the token ids (n,) and their natural log-probabilities (n,) at the temperature (at 1 for greedy), over the whole
    vocabulary, before top-k, top-p and min-p.
    """
    import numpy as np

    rows = np.arange(len(logits))
    highest = logits.max(axis=1)
    scaled = logits - highest[:, None]
    if params.temperature > 0 and params.temperature != 1:
        scaled *= np.float32(1 / params.temperature)
    weights = np.exp(scaled)
    starts = np.arange(0, logits.shape[1], BLOCK)
    blocks = np.add.reduceat(weights, starts, axis=1)
    log_total = np.log(blocks.sum(axis=1, dtype=np.float64))
    if params.temperature == 0:
        tokens = logits.argmax(axis=1)
    else:
        if params.top_k or params.top_p < 1 or params.min_p:
            for weight in weights:
                truncate(weight, params)
            blocks = np.add.reduceat(weights, starts, axis=1)
        tokens = _invert(weights, blocks, numbers)
    return tokens, scaled[rows, tokens] - log_total


def truncate(weights: np.ndarray, params: SamplingParams) -> None:
    """Set to 0, in place, what top-k, then top-p, then min-p cut off one row of weights; the likeliest token always stays."""
    import numpy as np

    order = np.flatnonzero(weights >= weights.max() * max(params.min_p, 0.0))
    if params.top_k and params.top_k < len(order):
        order = order[np.argpartition(-weights[order], params.top_k - 1)[: params.top_k]]
    if params.top_p < 1:
        order = order[np.argsort(-weights[order], kind="stable")]
        before = np.cumsum(weights[order], dtype=np.float64)
        total = before[-1]
        order = order[: int(np.searchsorted(before, params.top_p * total)) + 1]
    kept = weights[order]
    weights[:] = 0
    weights[order] = kept


def _invert(weights: np.ndarray, blocks: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The token at which the cumulative distribution passes each number."""
    import numpy as np

    rows = np.arange(len(weights))
    passed = np.cumsum(blocks, axis=1, dtype=np.float64)
    target = numbers * passed[:, -1]
    block = (passed <= target[:, None]).sum(axis=1)
    block = np.minimum(block, blocks.shape[1] - 1 - np.argmax(blocks[:, ::-1] > 0, axis=1))
    inside = block[:, None] * BLOCK + np.arange(BLOCK)
    within = np.where(inside < weights.shape[1], weights[rows[:, None], np.minimum(inside, weights.shape[1] - 1)], 0)
    reached = np.cumsum(within, axis=1, dtype=np.float64)
    rest = np.maximum(target - (passed[rows, block] - blocks[rows, block]), 0)
    at = (reached <= rest[:, None]).sum(axis=1)
    # Rounding can carry the target past the block's last possible token; that token it is, never one of weight 0.
    last = BLOCK - 1 - np.argmax(within[:, ::-1] > 0, axis=1)
    return block * BLOCK + np.minimum(at, last)
