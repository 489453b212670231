"""Attention over a pack's tree, without a dense mask: each segment attends to the segments above it and to itself.

The work is that of the visible pairs only; a dense block mask over N tokens costs N * N, which passes the rest of the model at a few
thousand. Segments of like size go into one call, so that a layer costs a handful of calls however many answers a pack holds.
Registered with transformers as an attention implementation, so any of its decoders can use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from clawctl.errors import ClawctlError
from clawctl.training.packing import Pack

NAME = "clawctl_tree"
PADDED = 1.5  # how many times the work of its segments a call may be, for the sake of fewer calls


def register() -> str:
    """Make the implementation known to transformers; its name."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attend)
    return NAME


class Call:
    """n segments attended together. All index tensors speak of the pack's tokens.

    queries [n * own], keys [n * (above + own)]: padded with the segment's last token, which nobody sees. slots: the places in `queries` that are not
    padding, tokens: the tokens at those places.
    """

    def __init__(self, chains: Sequence[tuple[list[int], list[int]]], device: Any) -> None:
        self.above = [len(above) for above, _ in chains]
        self.own = [len(own) for _, own in chains]
        longest, most = max(self.own), max(a + o for a, o in zip(self.above, self.own, strict=True))
        self.shape = len(chains), longest, most
        queries: list[int] = []
        keys, slots, tokens = queries[:], queries[:], queries[:]
        for i, (above, own) in enumerate(chains):
            queries += own + own[-1:] * (longest - len(own))
            keys += above + own + own[-1:] * (most - len(above) - len(own))
            slots += range(i * longest, i * longest + len(own))
            tokens += own
        self.queries, self.keys, self.slots, self.tokens = (torch.tensor(x, device=device) for x in (queries, keys, slots, tokens))
        self._masks: dict[tuple[int | None, int], torch.Tensor] = {}

    def mask(self, window: int | None, repeat: int, like: torch.Tensor) -> torch.Tensor:
        """Additive mask [n, 1, repeat * own, above + own]. `window`: how many positions back a query sees, itself included."""
        if (window, repeat) not in self._masks:
            n, own, most = self.shape
            above = torch.tensor(self.above)[:, None, None]
            real = torch.tensor([a + o for a, o in zip(self.above, self.own, strict=True)])[:, None, None]
            query, key = above + torch.arange(own)[None, :, None], torch.arange(most)[None, None, :]
            visible = (key <= query) & (key < real)
            if window is not None:
                # A padded query may have left its window's last real key behind: it must still see something.
                visible &= (query - key < window) | (query >= real)
            mask = torch.zeros(n, own, most).masked_fill_(~visible, float("-inf"))
            self._masks[window, repeat] = mask.repeat(1, repeat, 1)[:, None].to(like)
        return self._masks[window, repeat]


class Plan:
    """The calls of a pack."""

    def __init__(self, made: Pack, device: Any = None) -> None:
        chains = []
        for segment in made.segments:
            above: list[int] = []
            parent = segment.parent
            while parent >= 0:
                up = made.segments[parent]
                above = [*range(up.start, up.end), *above]
                parent = up.parent
            chains.append((above, list(range(segment.start, segment.end))))
        self.calls = [Call(bucket, device) for bucket in _buckets(chains)]


def attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    plan: Plan | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """query [1, heads, N, d], key and value [1, kv heads, N, d] -> [1, N, heads, d], as transformers asks of an implementation."""
    if plan is None or softcap is not None or attention_mask is not None:
        raise ClawctlError("this model's attention has a part that training here does not know")
    # Rotary positions are float32; values come straight from a projection, in the type that the base is held in.
    q, k, v = (x[0].transpose(0, 1).to(value.dtype) for x in (query, key, value))
    return _Tree.apply(q, k, v, plan, scaling, sliding_window)[None], None


class _Tree(torch.autograd.Function):
    """q [N, heads, d], k and v [N, kv heads, d] -> [N, heads, d]. Each call has a small graph of its own, and its gradients are added where its
    tokens stand; slices of the big tensors would each cost a gradient as big as the tensor."""

    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Plan, scale: float | None, window: int | None
    ) -> torch.Tensor:
        ctx.plan, ctx.graphs, ctx.shapes = plan, [], (q.shape, k.shape)
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        out = torch.empty_like(q)
        for call in plan.calls:
            n, own, _ = call.shape
            blocks = [x.index_select(0, at).view(n, -1, *x.shape[1:]) for x, at in ((q, call.queries), (k, call.keys), (v, call.keys))]
            with torch.set_grad_enabled(any(ctx.needs_input_grad)):
                bq, bk, bv = (block.requires_grad_(torch.is_grad_enabled()) for block in blocks)
                seen = _one_call(bq, bk, bv, call, scale, window)
            ctx.graphs.append((blocks, seen))
            out.index_copy_(0, call.tokens, seen.detach().reshape(n * own, *q.shape[1:]).index_select(0, call.slots))
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        to_q, to_k, to_v = (grads[0].new_zeros(ctx.shapes[i]) for i in (0, 1, 1))
        for call, (blocks, seen) in zip(ctx.plan.calls, ctx.graphs, strict=True):
            n, own, _ = call.shape
            inward = grads[0].new_zeros(n * own, *ctx.shapes[0][1:])
            inward.index_copy_(0, call.slots, grads[0].index_select(0, call.tokens))
            of_q, of_k, of_v = torch.autograd.grad(seen, blocks, inward.view_as(seen))
            to_q.index_copy_(0, call.tokens, of_q.flatten(0, 1).index_select(0, call.slots))
            to_k.index_add_(0, call.keys, of_k.flatten(0, 1))
            to_v.index_add_(0, call.keys, of_v.flatten(0, 1))
        ctx.graphs = None
        return to_q, to_k, to_v, None, None, None


def _one_call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, call: Call, scale: float | None, window: int | None) -> torch.Tensor:
    """q [n, own, heads, d], k and v [n, most, kv heads, d] -> [n, own, heads, d]."""
    n, own, heads, size = q.shape
    kv_heads = k.shape[2]
    repeat = heads // kv_heads
    # The query heads that share a key head stand below one another: no copy of the keys, one mask.
    stacked = q.view(n, own, kv_heads, repeat, size).permute(0, 2, 3, 1, 4).reshape(n, kv_heads, repeat * own, size)
    mask = call.mask(window, repeat, q)
    seen = scaled_dot_product_attention(stacked, k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask, scale=scale)
    return seen.view(n, kv_heads, repeat, own, size).permute(0, 3, 1, 2, 4).reshape(n, own, heads, size)


def _buckets(chains: Sequence[tuple[list[int], list[int]]]) -> Iterator[list[tuple[list[int], list[int]]]]:
    """Chains sorted by size and cut where padding would cost more than a call saves."""
    bucket: list[tuple[list[int], list[int]]] = []
    work = 0
    for chain in sorted(chains, key=lambda c: (len(c[0]) > 0, len(c[1]), len(c[0]))):
        size = len(chain[1]) * (len(chain[0]) + len(chain[1]))
        longest = max(len(own) for _, own in [*bucket, chain])
        most = max(len(above) + len(own) for above, own in [*bucket, chain])
        if bucket and (len(bucket) + 1) * longest * most > PADDED * (work + size):
            yield bucket
            bucket, work = [], 0
        bucket.append(chain)
        work += size
    if bucket:
        yield bucket
