"""Sampling 8 answers a task: clawctl's llama engine against llama-cpp-python's `create_chat_completion` in a loop.

The same tasks, prompts, sampling and token limit for all. Quality is the same where the weights are: once as they are shipped, once
expanded to f16 (clawctl's default for small models; the same values, nearer to what is trained). Each contender has a process of its
own. Tokens a second of the processor are given too, since they tell the truth on a machine that has other work to do.

    python bench/generate.py [TASKS] [SAMPLES]
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "data" / "tasks" / "heldout.jsonl"
MAX_TOKENS = 64


@dataclass
class Spent:
    """What a contender took for how many completion tokens; `outside` is its share of time outside llama_decode, where known."""

    tokens: int
    seconds: float
    processor: float
    outside: float | None = None

    @property
    def speed(self) -> float:
        return self.tokens / self.seconds

    def __str__(self) -> str:
        shown = f"{self.speed:6.1f} tokens/s {self.tokens / self.processor:6.1f} tokens/s of processor   {self.tokens} tokens"
        return shown + (f"   {self.outside:.1%} outside llama_decode" if self.outside is not None else "")


def loop(tasks: list[dict[str, Any]], samples: int, weights: str) -> Spent:
    """llama-cpp-python, one completion after another."""
    import llama_cpp

    from clawctl.engines.llama.requantize import chosen
    from clawctl.generation.prompts import messages_for

    path, _ = chosen(_starter().file, weights, _cache())
    model = llama_cpp.Llama(str(path), n_ctx=1024, n_threads=_cores(), n_threads_batch=_cores(), verbose=False)
    free = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
    model.create_chat_completion([{"role": "user", "content": "Hi"}], max_tokens=4)  # warm
    start, processor, tokens = time.perf_counter(), time.process_time(), 0
    for task, sample in itertools.product(tasks, range(samples)):
        reply = model.create_chat_completion(messages_for(task), max_tokens=MAX_TOKENS, seed=sample + 1, **free)
        tokens += reply["usage"]["completion_tokens"]
    return Spent(tokens, time.perf_counter() - start, time.process_time() - processor)


def clawctl(tasks: list[dict[str, Any]], samples: int, weights: str) -> Spent:
    """The llama engine behind `clawctl generate`, rows and all."""
    from clawctl.engines import SamplingParams, open_engine
    from clawctl.generation.stage import generate
    from clawctl.records.streams import encode_row

    engine = open_engine(_starter(), requantize=weights, cache=_cache())
    list(generate([{"id": "warm", "prompt": "Hi"}], engine, SamplingParams(max_tokens=4), samples=2))
    start, processor, tokens = time.perf_counter(), time.process_time(), 0
    for row in generate(tasks, engine, SamplingParams(max_tokens=MAX_TOKENS), samples=samples):
        encode_row(row)
        tokens += row["usage"]["completion_tokens"]
    spent = Spent(tokens, time.perf_counter() - start, time.process_time() - processor, engine.overhead())
    engine.close()
    return spent


def _starter() -> Any:
    from clawctl.workspace.models import resolve

    return resolve("starter")


def _cores() -> int:
    from clawctl.workspace.machine import physical_cores

    return physical_cores()


def _cache() -> Path:
    from clawctl.engines.llama.opening import default_cache

    return default_cache() / "bench"


def apart(contender: Callable[..., Spent], *args: Any) -> Spent:
    """Run it in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(contender, *args).result()


def main() -> None:
    """Print a line a contender, and the ratios to the loop."""
    from clawctl.records.streams import read_rows

    count, samples = [int(argument) for argument in sys.argv[1:3]] + [8, 8][len(sys.argv) - 1 :]
    tasks = list(itertools.islice(read_rows([FILE], "task"), count))
    print(f"{len(tasks)} tasks x {samples} answers of at most {MAX_TOKENS} tokens, {_cores()} threads")
    for weights, called in (("none", "as shipped (Q4_1)"), ("f16", "expanded to f16")):
        print(called)
        peer = apart(loop, tasks, samples, weights)
        print(f"  create_chat_completion  {peer}")
        ours = apart(clawctl, tasks, samples, weights)
        print(f"  clawctl                 {ours}   {ours.speed / peer.speed:.2f} times")
        if weights == "none":
            shipped = peer
    print(f"clawctl as it comes against create_chat_completion as it comes: {ours.speed / shipped.speed:.2f} times")


if __name__ == "__main__":
    main()
