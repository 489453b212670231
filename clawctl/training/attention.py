"""Attention over a pack's tree, without a dense mask: each segment attends to the segments above it and to itself.

The work is that of the visible pairs only; a dense block mask over N tokens costs N * N, which passes the rest of the model at a few
thousand. Registered with transformers as an attention implementation, so any of its decoders can use it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from clawctl.errors import ClawctlError
from clawctl.training.packing import Pack

NAME = "clawctl_tree"
Span = tuple[int, int]


def register() -> str:
    """Make the implementation known to transformers; its name."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attend)
    return NAME


class Plan:
    """A pack's tree as calls: the spans above, and the sibling spans that look up at them. Masks are kept, one a shape."""

    def __init__(self, made: Pack) -> None:
        self.calls: list[tuple[list[Span], list[Span]]] = []
        self.masks: dict[tuple[int, int, int | None], torch.Tensor] = {}
        branched = {i for branch in made.branches for i in branch}
        alone = [[i] for i in range(len(made.segments)) if i not in branched]
        for siblings in alone + made.branches:
            self.calls.append((_above(made, siblings[0]), [(made.segments[i].start, made.segments[i].end) for i in siblings]))

    def mask(self, above: int, own: int, window: int | None, repeat: int, like: torch.Tensor) -> torch.Tensor:
        """Additive mask [repeat * own, above + own]; the queries are the last `own` of the keys. `window`: how far back they see."""
        key = (above, own, window)
        if key not in self.masks:
            query = torch.arange(above, above + own)[:, None]
            keys = torch.arange(above + own)[None, :]
            visible = keys <= query
            if window is not None:
                visible &= query - keys < window
            mask = torch.zeros(own, above + own).masked_fill_(~visible, float("-inf"))
            self.masks[key] = mask.repeat(repeat, 1).to(like)
        return self.masks[key]


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
    return _Tree.apply(query[0], key[0], value[0], plan, scaling, sliding_window)[None], None


class _Tree(torch.autograd.Function):
    """The calls of a plan, each with a small graph of its own.

    Slices of one big tensor would each get a gradient as big as the tensor; here every call's gradient is added where it belongs.
    """

    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Plan, scale: float | None, window: int | None
    ) -> torch.Tensor:
        ctx.plan, ctx.graphs = plan, []
        ctx.like = q, k
        out = q.new_empty(q.shape[1], q.shape[0], q.shape[2])
        for above, spans in plan.calls:
            blocks = [_blocks(q, [], spans), _blocks(k, above, spans), _blocks(v, above, spans)]
            with torch.set_grad_enabled(any(ctx.needs_input_grad)):
                seen = _one_call(*(block.requires_grad_(torch.is_grad_enabled()) for block in blocks), plan, scale, window)
            if seen.requires_grad:
                ctx.graphs.append((blocks, seen))
            for i, (start, end) in enumerate(spans):
                out[start:end] = seen.detach()[i, :, : end - start].transpose(0, 1)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        q, k = ctx.like
        to_q, to_k, to_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(k)
        for (above, spans), (blocks, seen) in zip(ctx.plan.calls, ctx.graphs, strict=True):
            inward = _blocks(grads[0].transpose(0, 1), [], spans)
            for total, part in zip((to_q, to_k, to_v), torch.autograd.grad(seen, blocks, inward), strict=True):
                at = 0
                for start, end in [] if total is to_q else above:
                    total[:, start:end] += part[:, :, at : at + end - start].sum(0)
                    at += end - start
                for i, (start, end) in enumerate(spans):
                    total[:, start:end] += part[i, :, at : at + end - start]
        ctx.graphs = None
        return to_q, to_k, to_v, None, None, None


def _one_call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Plan, scale: float | None, window: int | None) -> torch.Tensor:
    """q [n, heads, own, d], k and v [n, kv heads, above + own, d] -> [n, heads, own, d]."""
    n, heads, own, size = q.shape
    repeat = heads // k.shape[1]
    mask = plan.mask(k.shape[2] - own, own, window, repeat, q)
    # The query heads that share a key head stand below one another: no copy of the keys, one mask.
    seen = scaled_dot_product_attention(q.reshape(n, k.shape[1], repeat * own, size), k, v, attn_mask=mask, scale=scale)
    return seen.reshape(n, heads, own, size)


def _blocks(x: torch.Tensor, above: list[Span], spans: list[Span]) -> torch.Tensor:
    """[heads, N, d] -> [n, heads, above + longest, d]: what is above before each span, zeros after the shorter ones.

    A zero key stands after every query that is used, so the causal mask hides it.
    """
    length = sum(end - start for start, end in above)
    longest = max(end - start for start, end in spans)
    made = x.new_zeros(len(spans), x.shape[0], length + longest, x.shape[2])
    at = 0
    for start, end in above:
        made[:, :, at : at + end - start] = x[:, start:end]
        at += end - start
    for i, (start, end) in enumerate(spans):
        made[i, :, at : at + end - start] = x[:, start:end]
    return made


def _above(made: Pack, i: int) -> list[Span]:
    spans = []
    while (i := made.segments[i].parent) >= 0:
        spans.append((made.segments[i].start, made.segments[i].end))
    return spans[::-1]
