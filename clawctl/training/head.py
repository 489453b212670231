"""log softmax of the sampled tokens only: the one matrix over the vocabulary is made once and turned into its own gradient in place."""

from __future__ import annotations

from typing import Any

import torch


def token_logprobs(hidden: torch.Tensor, head: torch.Tensor, targets: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """hidden [n, width], head [vocabulary, width], targets [n], temperature [n] -> log softmax(hidden head^T / T)[target], [n] float32.

    Gradient flows to `hidden`; the head is frozen. Holds n * vocabulary float32: the caller cuts n.
    """
    return _TokenLogprobs.apply(hidden, head, targets, temperature)


class _TokenLogprobs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, head: torch.Tensor, targets: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
        inverse = temperature.float().reciprocal()[:, None]
        logits = ((hidden * inverse).to(head.dtype) @ head.t()).float()
        highest = logits.amax(1, keepdim=True)
        picked = logits.gather(1, targets[:, None]) - highest
        odds = logits.sub_(highest).exp_()
        total = odds.sum(1, keepdim=True)
        ctx.save_for_backward(odds, total, head, targets, inverse)
        ctx.dtype = hidden.dtype
        return (picked - total.log()).squeeze(1)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        odds, total, head, targets, inverse = ctx.saved_tensors
        outward = grads[0].float()[:, None]
        # d lp / d logit = onehot - softmax. The odds are not needed again.
        to_logits = odds.mul_(-outward / total)
        to_logits.scatter_add_(1, targets[:, None], outward)
        return ((to_logits.to(head.dtype) @ head).float() * inverse).to(ctx.dtype), None, None, None
