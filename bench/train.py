"""One GRPO gradient on the starter model: clawctl's packed groups against transformers and PEFT on padded rows.

The same rows, the same loss, an adapter on the same projections, float32. The peer does what trainers of the TRL kind do: every row has
its prompt, rows of a group are padded to one length, logits are computed from the last prompt token on. Both gradients are compared, so
that the figure is of the same work. Each contender has a process of its own.

    python bench/train.py [GROUPS] [SAMPLES]
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "data" / "tasks" / "train.jsonl"
RANK, ALPHA = 16, 32.0
Rows = list[dict[str, Any]]


@dataclass
class Spent:
    """What a gradient took; `gradient` maps parameter names to arrays, `memory` is the process's peak in bytes."""

    seconds: float
    processor: float
    tokens: int
    memory: int
    gradient: dict[str, Any]

    def __str__(self) -> str:
        speeds = f"{self.tokens / self.seconds:5.0f} completion tokens/s {self.tokens / self.processor:5.0f} tokens/s of processor"
        return f"{self.seconds:6.1f} s {speeds}   peak {self.memory / 2**30:.1f} GiB"


def rows(groups: int, samples: int) -> Rows:
    """Rollouts in groups: a worked answer of a task, every second time with a wrong result."""
    from clawctl.generation.prompts import messages_for
    from clawctl.records.streams import read_rows
    from clawctl.training.inputs import tokenizer
    from clawctl.workspace.models import resolve

    made = []
    tasks = [task for task in read_rows([FILE], "task") if task.get("solution")][:groups]
    with tokenizer(resolve("starter")) as (weights, template, end):
        for task in tasks:
            prompt = weights.tokenize(template.render(messages_for(task)))
            for sample in range(samples):
                text = task["solution"].replace("<answer>", f"<answer>{sample}") if sample % 2 else task["solution"]
                row = {"id": f"{task['id']}/{sample}", "group_id": task["id"], "reward": 0.2 if sample % 2 else 1.0}
                made.append({**row, "prompt_token_ids": prompt, "completion_token_ids": [*weights.tokenize(text), end]})
    return made


def packed(found: Rows, cache: Path) -> Spent:
    """clawctl's trainer."""
    from clawctl.training.admission import set_advantages
    from clawctl.training.recipe import make
    from clawctl.training.rows import read
    from clawctl.training.trainer import Trainer

    policy, recipe = _policy(cache), make("grpo", {})
    sampled = read(found, vocabulary=10**9)
    set_advantages(sampled, recipe)
    trainer = Trainer(policy, sampled.samples, recipe, fresh=True)
    names = [f"{module}.{half}" for module in policy.adapters for half in ("lora_A", "lora_B")]

    def gradient() -> dict[str, Any]:
        trainer.gradient(sampled.samples)
        return {name: p.grad for name, p in zip(names, policy.parameters, strict=True)}

    return _spent(gradient, found)


def padded(found: Rows, cache: Path) -> Spent:
    """transformers and PEFT, a group a micro-batch."""
    import torch
    from peft import LoraConfig, get_peft_model

    from clawctl.algorithms import grpo
    from clawctl.training import base

    ours = _policy(cache)
    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=list(ours.config.targets), task_type="CAUSAL_LM")
    model = get_peft_model(base.load(ours.base), config)
    parameters = {_plain(name): p for name, p in model.named_parameters() if p.requires_grad}
    for name, tensor in ours.state().items():
        parameters[_plain(name)].data.copy_(tensor)

    def gradient() -> dict[str, Any]:
        for _, group in groupby(found, lambda row: row["group_id"]):
            members = list(group)
            prompt, longest = members[0]["prompt_token_ids"], max(len(row["completion_token_ids"]) for row in members)
            ids, mask = torch.zeros(len(members), len(prompt) + longest, dtype=torch.long), torch.zeros(len(members), longest)
            for i, row in enumerate(members):
                whole = prompt + row["completion_token_ids"]
                ids[i, : len(whole)] = torch.tensor(whole)
                mask[i, : len(row["completion_token_ids"])] = 1
            seen = torch.cat([torch.ones(len(members), len(prompt)), mask], 1)
            logits = model(input_ids=ids, attention_mask=seen, logits_to_keep=longest + 1, use_cache=False).logits[:, :-1]
            lp = logits.log_softmax(-1).gather(2, ids[:, len(prompt) :, None]).squeeze(2)
            advantage = grpo.advantages([row["reward"] for row in members], ["g"] * len(members), grpo.Settings())
            loss = -((lp - lp.detach()).exp() * torch.tensor(advantage, dtype=torch.float32)[:, None])
            ((loss * mask).sum(1) / mask.sum(1)).sum().div(len(found)).backward()
        return {name: p.grad for name, p in parameters.items()}

    return _spent(gradient, found)


def _plain(name: str) -> str:
    """PEFT's name of a parameter without its wrapping."""
    return name.removeprefix("base_model.model.").replace(".default", "").removesuffix(".weight")


def _policy(cache: Path) -> Any:
    import torch

    from clawctl.training import base, lora
    from clawctl.training.device import Placement, keep_memory
    from clawctl.training.lora_config import LoRAConfig
    from clawctl.training.policy import Policy
    from clawctl.workspace.machine import cores
    from clawctl.workspace.models import resolve

    keep_memory()
    torch.set_num_threads(cores())
    made = Policy(base.prepare(resolve("starter"), cache), LoRAConfig(RANK, ALPHA), Placement(torch.device("cpu"), torch.float32, ""))
    lora.initialise(made.adapters, 0)
    generator = torch.Generator().manual_seed(1)
    for adapter in made.adapters.values():
        adapter.lora_B.data.normal_(0, 0.01, generator=generator)
    return made


def _spent(gradient: Callable[[], dict[str, Any]], found: Rows) -> Spent:
    """The first gradient, as a round of the loop pays for it."""
    start, processor = time.perf_counter(), time.process_time()
    tensors = gradient()
    seconds, spent = time.perf_counter() - start, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tokens = sum(len(row["completion_token_ids"]) for row in found)
    return Spent(seconds, spent, tokens, memory, {name: tensor.numpy().copy() for name, tensor in tensors.items()})


def main() -> None:
    """Print both contenders and the ratio; exit 1 when their gradients differ."""
    import numpy as np

    groups, samples = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 4), (2, 8)))
    found = rows(groups, samples)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, contender in {"packed (clawctl)": packed, "padded (transformers, PEFT)": padded}.items():
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                results[name] = pool.submit(contender, found, Path(folder)).result()
            print(f"{name:<28} {results[name]}", flush=True)
    ours, theirs = results.values()
    a, b = (np.concatenate([r.gradient[name].ravel() for name in sorted(ours.gradient)]).astype(float) for r in (ours, theirs))
    error = float(np.linalg.norm(a - b) / np.linalg.norm(b))
    print(f"{theirs.seconds / ours.seconds:.1f} times as fast; relative difference of the gradients {error:.1e}")
    sys.exit(error > 1e-3)


if __name__ == "__main__":
    main()
