"""From token losses to one number: the weight of a token in the loss of a whole optimiser step.

The denominators are counted over the step before its first backward pass, so that it makes no difference how the rows are split into
micro-batches. Every token of a row has the same weight, and the loss is the plain sum of weight times token loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

Aggregation = Literal["seq-mean-token-mean", "token-mean", "dr-grpo", "seq-mean-token-sum"]
AGGREGATIONS = get_args(Aggregation)


def row_weights(lengths: Sequence[int], mode: Aggregation, length: int | None = None) -> np.ndarray:
    """One weight a row; float64. lengths: trainable tokens of each row; a row of 0 counts nowhere and gets 0.

    seq-mean-token-mean   1 / (N n_i)      GRPO (2402.03300)
    token-mean            1 / sum n_i      DAPO as implemented everywhere (2503.14476)
    dr-grpo               1 / (N L)        Dr. GRPO (2503.20783); L = `length`, a constant of the run, never the longest row at hand
    seq-mean-token-sum    1 / N
    A step without any trainable token has only zeros: the caller skips it.
    """
    n = np.asarray(lengths, dtype=np.float64)
    counted = n > 0
    rows = max(int(counted.sum()), 1)
    if mode == "seq-mean-token-mean":
        weights = 1.0 / (rows * np.maximum(n, 1))
    elif mode == "token-mean":
        weights = np.full(len(n), 1.0 / max(n.sum(), 1.0))
    elif mode == "seq-mean-token-sum":
        weights = np.full(len(n), 1.0 / rows)
    elif mode == "dr-grpo":
        if not length or length < 1:
            raise ValueError("dr-grpo needs the constant length L")
        weights = np.full(len(n), 1.0 / (rows * length))
    else:
        raise ValueError(f"no aggregation {mode!r}")
    return np.where(counted, weights, 0.0)
