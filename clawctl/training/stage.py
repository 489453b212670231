"""Train: a batch in, a new adapter version out, complete or absent.

The version's folder appears whole, its card naming the batch; only then is the batch marked as trained. Killed between the two, the next
run finds the card and mends the ledger, so a batch is trained once or not yet, never twice.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clawctl.adapters import versions
from clawctl.adapters.versions import AdapterRef
from clawctl.records.ids import content_id
from clawctl.training.admission import refuse, set_advantages
from clawctl.training.inputs import Inputs
from clawctl.training.once import already, mark
from clawctl.training.recipe import Recipe
from clawctl.training.rows import Sampled
from clawctl.workspace.locks import lock
from clawctl.workspace.models import Model
from clawctl.workspace.paths import Workspace

if TYPE_CHECKING:
    from clawctl.training.trainer import Trainer

log = logging.getLogger(__name__)
MAX_GAP = 6.0  # times the base's own; adapters that arrived whole were seen at 1.1 to 3.3, a wrong row order at 12


@dataclass(frozen=True)
class Order:
    """What to train and from where. start: the adapter to continue, None for a fresh one. max_gap: how many times the base's own gap the GGUF may be
    from the trained policy. off_policy: accept rows of another adapter, against the sampler's log-probabilities."""

    inputs: Inputs
    recipe: Recipe
    model: Model
    start: AdapterRef | None = None
    off_policy: bool = False
    max_gap: float = MAX_GAP
    resume: bool = False
    checkpoint_every: int = 0
    device: str = "auto"
    dtype: str = "auto"
    threads: int | None = None
    wait: float = 0.0


@dataclass
class Outcome:
    """The version that came of it; `metrics` one dict an optimiser step. `already`: the batch had been trained before."""

    ref: AdapterRef
    metrics: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    already: bool = False


class Stopped(SystemExit):
    """A signal ended the run after a whole step; the code is 128 + its number."""


def train(ws: Workspace, order: Order, progress: Callable[[dict[str, Any]], None] = lambda figures: None) -> Outcome:
    """Train and publish. Raises No where the batch has no signal, Busy while another training runs here, Stopped on SIGTERM and Ctrl-C."""
    with lock(ws.lock_file("train"), wait=order.wait):
        if ref := already(ws, order.inputs.batches):
            return Outcome(ref, already=True)
        clock = _Clock()
        sampled = order.inputs.read(ws, order)
        set_advantages(sampled, order.recipe)
        refuse(sampled, order)
        clock.lap("read")
        trainer, placement = _trainer(ws, order, sampled)
        clock.lap("load")
        run = _run_folder(ws, order, sampled)
        _resume_or_begin(run, trainer, order.resume)
        with _signals() as stopped:
            for figures in trainer.run(lambda: not stopped):
                run.record(figures)
                progress(figures)
                every = order.checkpoint_every
                if stopped or (every and trainer.done % every == 0 and trainer.done < len(trainer.steps)):
                    run.save(trainer)
            if stopped and trainer.done < len(trainer.steps):
                log.warning("stopped after step %d of %d; the same command with --resume goes on", trainer.done, len(trainer.steps))
                raise Stopped(128 + stopped[0])
        clock.lap("train")
        from clawctl.training.publishing import publish

        ref = publish(ws, order, trainer, sampled, run, placement)
        clock.lap("publish")
        mark(ws, order.inputs.batches, ref.name)
        metrics = run.history()
        run.remove()
        return Outcome(ref, metrics, clock.laps)


def _trainer(ws: Workspace, order: Order, sampled: Sampled) -> tuple[Trainer, Any]:
    """Base and adapter loaded, everything planned."""
    try:
        import torch
    except ImportError:
        from clawctl.errors import Missing

        raise Missing("torch", "train") from None
    from clawctl.training import base, device, lora, momentum
    from clawctl.training.policy import Policy
    from clawctl.training.trainer import Trainer
    from clawctl.workspace.machine import cores

    torch.set_num_threads(order.threads or cores())
    device.keep_memory()
    placement = device.choose(order.device, order.dtype)
    log.info("training on %s (%s)", placement.name, placement.reason)
    policy = Policy(base.prepare(order.model, ws.models), order.recipe.lora, placement)
    if order.start:
        from safetensors.torch import load_file

        policy.set_state(load_file(order.start.path / versions.WEIGHTS), f"adapter {order.start.name}")
    else:
        lora.initialise(policy.adapters, order.recipe.seed)
    sampled_old = order.off_policy or order.recipe.old == "sampler"
    trainer = Trainer(policy, sampled.samples, order.recipe, fresh=order.start is None, sampled_old=sampled_old)
    if order.start:
        momentum.restore(trainer, order.start)
    return trainer, placement


def _run_folder(ws: Workspace, order: Order, sampled: Sampled) -> Any:
    from clawctl.training.checkpoints import Run

    rows = [(s.row.completion, s.reward) for s in sampled.samples]
    start = order.start.sha256 if order.start else None
    return Run(ws.data / "training" / content_id(order.inputs.batches, rows, start, order.recipe.card()))


def _resume_or_begin(run: Any, trainer: Trainer, resume: bool) -> None:
    if resume and run.restore(trainer):
        log.info("going on after step %d of %d", trainer.done, len(trainer.steps))
        return
    if run.checkpoints():
        log.warning("an interrupted run of this training is given up; --resume would have gone on with it")
    elif resume:
        log.info("no interrupted run of this training here: it starts from the beginning")
    run.begin()


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """The signals that came, for a run that ends after a whole step; a second one ends it at once."""
    came: list[int] = []

    def note(number: int, _frame: Any) -> None:
        if came:
            raise Stopped(128 + number)
        came.append(number)
        log.warning("finishing this step, then stopping")

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(now - self._last, 2)
        self._last = now
