"""The policy that trains: a frozen base with a LoRA adapter, and the log-probabilities it gives to a pack's tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from clawctl.training import attention, base, lora
from clawctl.training.base import Base
from clawctl.training.device import Placement
from clawctl.training.head import token_logprobs
from clawctl.training.lora_config import LoRAConfig
from clawctl.training.packing import Pack

CHUNK_BYTES = 64 * 2**20  # logits held at once; small enough to stay near the processor's cache, large enough for full-speed products


class Policy:
    """Base weights in the placement's type, adapter in float32. `parameters` is what trains."""

    def __init__(self, of: Base, config: LoRAConfig, placement: Placement) -> None:
        self.base, self.config, self.placement = of, config, placement
        model = base.load(of)
        self.adapters = lora.inject(model, config)
        model.config._attn_implementation = attention.register()
        self.model = model.to(placement.device)
        for adapter in self.adapters.values():
            adapter.weight = torch.nn.Parameter(adapter.weight.to(placement.dtype), requires_grad=False)
            if adapter.bias is not None:
                adapter.bias = torch.nn.Parameter(adapter.bias.to(placement.dtype), requires_grad=False)
        self._body = model.get_decoder()
        self._head = model.get_output_embeddings().weight.to(placement.dtype)
        self.parameters = [p for adapter in self.adapters.values() for p in (adapter.lora_A, adapter.lora_B)]
        self.chunk = max(1, CHUNK_BYTES // (4 * self._head.shape[0]))

    @property
    def trainable(self) -> int:
        """How many numbers train."""
        return sum(p.numel() for p in self.parameters)

    def hidden(self, pack: Pack) -> torch.Tensor:
        """The hidden states from which the pack's targets are predicted, [targets, width], with gradient to the adapter."""
        device = self.placement.device
        states = self._body(
            input_ids=torch.tensor([pack.tokens], device=device),
            position_ids=torch.tensor([pack.positions], device=device),
            use_cache=False,
            plan=attention.Plan(pack, device),
        ).last_hidden_state[0]
        return states.index_select(0, torch.tensor(pack.sources, device=device))

    def logprobs(self, hidden: torch.Tensor, targets: list[int], temperature: torch.Tensor) -> torch.Tensor:
        """log softmax(logits / T) of each target, [n] float32. temperature: [n]."""
        return token_logprobs(hidden, self._head, torch.tensor(targets, device=hidden.device), temperature)

    def logits(self, tokens: list[int]) -> torch.Tensor:
        """All logits of one sequence, [n, vocabulary] float32, without gradient."""
        from clawctl.training.packing import Row, pack

        [whole] = pack([Row(tokens[:1], [*tokens[1:], 0], [1] * len(tokens), 0)], len(tokens) + 1)
        with torch.no_grad():
            hidden = self.hidden(whole)
            return (hidden.to(self._head.dtype) @ self._head.t()).float()

    @contextlib.contextmanager
    def without_adapter(self) -> Iterator[None]:
        """The bare base, for the block."""
        scales = {name: adapter.scale for name, adapter in self.adapters.items()}
        for adapter in self.adapters.values():
            adapter.scale = 0.0
        try:
            yield
        finally:
            for name, adapter in self.adapters.items():
                adapter.scale = scales[name]

    def state(self) -> dict[str, torch.Tensor]:
        """A copy of the adapter under PEFT's names."""
        return {name: tensor.clone() for name, tensor in lora.state_of(self.adapters).items()}

    def set_state(self, state: dict[str, Any], where: str) -> None:
        """Take over an adapter."""
        lora.set_state(self.adapters, state, where)
