"""What people see of a training: the forecast, the bar, the summary. Everything on stderr but the version's name."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from clawctl.workspace.paths import Workspace

if TYPE_CHECKING:
    from clawctl.training.stage import Order, Outcome

log = logging.getLogger(__name__)


def forecast(ws: Workspace, order: Order) -> dict[str, Any]:
    """What a run would do: the resolved formula, counts, memory. Reads the input, loads no weights. Raises what the run would raise."""
    from clawctl.training.admission import refuse, set_advantages
    from clawctl.training.once import already
    from clawctl.training.packing import pack
    from clawctl.training.trainer import plan

    if ref := already(ws, order.inputs.batches):
        return {"already_trained": ref.name}
    sampled = order.inputs.read(ws, order)
    set_advantages(sampled, order.recipe)
    refuse(sampled, order)
    recipe, samples = order.recipe, sampled.samples
    rows = [s.row for s in samples]
    longest = max(len(p) for p in pack(rows, recipe.pack))
    return {
        "algorithm": recipe.algorithm,
        "formula": recipe.formula(),
        "from": order.start.name if order.start else "a fresh adapter",
        "reference": recipe.reference if getattr(recipe.settings, "kl_coef", 0) else None,
        "lora": f"rank {recipe.lora.rank}, alpha {recipe.lora.alpha:g}, {', '.join(recipe.lora.targets)}",
        "lr": recipe.lr,
        "rows": len(samples),
        "dropped": dict(sampled.dropped),
        "groups": len({s.group for s in samples}),
        "groups_with_signal": len({s.group for s in samples if s.advantage}),
        "optimiser_steps": len(plan(samples, recipe)),
        "completion_tokens": sum(s.length for s in samples),
        "tokens_unpacked": sum(len(r.prompt) + len(r.completion) for r in rows),
        "tokens_packed": sum(len(p) for p in pack(rows, recipe.pack)),
        "memory_gib": round(memory(order, longest) / 2**30, 2),
    }


def memory(order: Order, tokens: int) -> float:
    """An estimate of the peak in bytes: libraries, weights, and what a pack of `tokens` tokens keeps for the way back."""
    from clawctl.adapters.gguf_file import GGUFFile

    if order.model.file.is_dir():
        config = json.loads((order.model.file / "config.json").read_text())
        layers, width, inner = config["num_hidden_layers"], config["hidden_size"], config["intermediate_size"]
        weights = 4 * sum(f.stat().st_size for f in order.model.file.glob("*.safetensors")) / 2
    else:
        file = GGUFFile(order.model.file)
        layers, width, inner = (int(file.get(key)) for key in ("block_count", "embedding_length", "feed_forward_length"))
        weights = 4.0 * sum(_size(info.shape) for info in file.tensors.values())
    return 0.6 * 2**30 + weights + 4.0 * tokens * layers * (14 * width + 5 * inner)


def show(figures: dict[str, Any], as_json: bool) -> None:
    """A forecast on stdout."""
    if as_json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        if isinstance(value, dict):
            value = ", ".join(f"{n} {reason}" for reason, n in value.items()) or "none"
        print(f"{name.replace('_', ' '):<20}{value}")


class Bar:
    """A progress bar on a terminal; nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def step(self, figures: dict[str, Any]) -> None:
        """One step is done."""
        if not self._wanted:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=figures["steps"])
        self._bar.update(self._task, completed=figures["step"], description=f"loss {figures['loss']:.3f}")

    def __exit__(self, *_: Any) -> None:
        if self._bar:
            self._bar.stop()


def tell(outcome: Outcome, as_json: bool) -> None:
    """The version's name on stdout, the summary on stderr."""
    if outcome.already:
        log.info("trained already, as %s", outcome.ref.name)
    for line in summary(outcome):
        log.info("%s", line)
    if as_json:
        print(
            json.dumps({"version": outcome.ref.name, "path": str(outcome.ref.path), "seconds": outcome.seconds, "card": outcome.ref.card})
        )
    else:
        print(outcome.ref.name)


def summary(outcome: Outcome) -> Iterator[str]:
    """Sentences for people."""
    if not outcome.metrics:
        return
    first, last = outcome.metrics[0], outcome.metrics[-1]
    seconds = sum(outcome.seconds.values())
    loss = f"loss {first['loss']:.3f}" + (f" to {last['loss']:.3f}" if len(outcome.metrics) > 1 else "")
    signal = f", {last['groups_with_signal']} of {last['groups']} groups with signal" if "reward_mean" in last else ""
    reward = f", mean reward {last['reward_mean']:.3f}" if "reward_mean" in last else ""
    yield f"{outcome.ref.name}: {len(outcome.metrics)} steps, {loss}{reward}{signal}, {seconds:.0f} s"
    dropped = outcome.ref.card["rows"]["dropped"]
    if dropped:
        yield "not used: " + ", ".join(f"{n} {reason}" for reason, n in dropped.items())
    if agreed := outcome.ref.card.get("agreement"):
        yield f"adapter.gguf agrees with the policy: KL {agreed['gap']:.4f}, the bare base {agreed['base_gap']:.4f}"


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total
