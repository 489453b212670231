"""LoRA on the frozen projections (Hu et al. 2021, 2106.09685): y = W x + b + (alpha / r) B A x, in PEFT's file format.

One autograd function does the projection and its adapter, so that the low-rank product lands in the big one's output and no copy of it
is kept for the way back; PEFT's own module takes a third longer on a CPU. The files are PEFT's, byte for byte loadable by it (tested).
"""

from __future__ import annotations

import math
import re
from typing import Any

import torch
from torch import nn

from clawctl.errors import ClawctlError
from clawctl.training.lora_config import LoRAConfig

PREFIX = "base_model.model."


class _Project(torch.autograd.Function):
    """x [..., in], W [out, in], A [r, in], B [out, r] -> [..., out]; gradients for x, A and B."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, a: Any, b: Any, scale: float) -> Any:
        flat = x.reshape(-1, x.shape[-1]).to(weight.dtype)
        y = nn.functional.linear(flat, weight, bias)
        z = flat @ a.to(weight.dtype).t()
        y.addmm_(z, b.to(weight.dtype).t(), alpha=scale)
        ctx.save_for_backward(flat, weight, a, b, z)
        ctx.scale, ctx.shape, ctx.dtype = scale, x.shape, x.dtype
        return y.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        flat, weight, a, b, z = ctx.saved_tensors
        g = grads[0].reshape(-1, grads[0].shape[-1]).to(weight.dtype)
        u = (g @ b.to(weight.dtype)).mul_(ctx.scale)
        to_a = (u.t() @ flat).to(a.dtype)
        to_b = (g.t() @ z).mul_(ctx.scale).to(b.dtype)
        to_x = None
        if ctx.needs_input_grad[0]:
            to_x = (g @ weight).addmm_(u, a.to(weight.dtype)).view(ctx.shape).to(ctx.dtype)
        return to_x, None, None, to_a, to_b, None


class LoRALinear(nn.Module):
    """A frozen nn.Linear with an adapter, trainable in float32 whatever the weights' type."""

    def __init__(self, linear: nn.Linear, config: LoRAConfig) -> None:
        super().__init__()
        self.weight, self.bias, self.scale = linear.weight, linear.bias, config.scale
        device = linear.weight.device
        self.lora_A = nn.Parameter(torch.empty(config.rank, linear.in_features, device=device))
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, config.rank, device=device))

    def forward(self, x: Any) -> Any:
        return _Project.apply(x, self.weight, self.bias, self.lora_A, self.lora_B, self.scale)


def inject(model: nn.Module, config: LoRAConfig) -> dict[str, LoRALinear]:
    """Put an adapter on every target projection; module name -> adapter, in the model's order."""
    found: dict[str, LoRALinear] = {}
    lowest = 0 if config.layers is None else depth(model) - config.layers
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in config.targets and _layer(name) >= lowest:
            parent, _, last = name.rpartition(".")
            found[name] = LoRALinear(module, config)
            setattr(model.get_submodule(parent), last, found[name])
    if not found:
        raise ClawctlError("the model has none of the projections to train", f"looked for {', '.join(config.targets)}")
    return found


def depth(model: Any) -> int:
    """How many layers the model has."""
    return int(model.config.get_text_config().num_hidden_layers)


def _layer(name: str) -> int:
    """The layer that a module stands in, by its name; 0 outside of them."""
    found = re.search(r"\.layers\.(\d+)\.", name)
    return int(found[1]) if found else 0


def initialise(adapters: dict[str, LoRALinear], seed: int) -> None:
    """A fresh adapter: A uniform as PEFT does (Kaiming, a = sqrt 5), B zero, so that it changes nothing yet."""
    generator = torch.Generator().manual_seed(seed)
    for adapter in adapters.values():
        bound = math.sqrt(1 / adapter.lora_A.shape[1])
        fresh = torch.empty(adapter.lora_A.shape).uniform_(-bound, bound, generator=generator)
        adapter.lora_A.data.copy_(fresh)
        adapter.lora_B.data.zero_()


def state_of(adapters: dict[str, LoRALinear]) -> dict[str, torch.Tensor]:
    """The adapter's tensors under PEFT's names."""
    made = {}
    for name, adapter in adapters.items():
        made[f"{PREFIX}{name}.lora_A.weight"] = adapter.lora_A.detach().cpu().contiguous()
        made[f"{PREFIX}{name}.lora_B.weight"] = adapter.lora_B.detach().cpu().contiguous()
    return made


def set_state(adapters: dict[str, LoRALinear], state: dict[str, torch.Tensor], where: str) -> None:
    """Take over tensors under PEFT's names; ClawctlError when they are not this model's."""
    wanted = state_of(adapters)
    if set(wanted) != set(state) or any(wanted[k].shape != state[k].shape for k in wanted):
        odd = sorted(set(wanted) ^ set(state))
        raise ClawctlError(
            f"{where} does not fit this model and these projections" + (f": {odd[0]}" if odd else ""), "--from none starts afresh"
        )
    for name, adapter in adapters.items():
        adapter.lora_A.data.copy_(state[f"{PREFIX}{name}.lora_A.weight"])
        adapter.lora_B.data.copy_(state[f"{PREFIX}{name}.lora_B.weight"])
