"""From a candidate to a decision that is carried out: who may stand, the gate, the swap or the refusal, and the entry about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clawctl.adapters import history, serving, versions
from clawctl.adapters.gate import MIN_TASKS, compare, decide
from clawctl.adapters.versions import AdapterRef
from clawctl.errors import ClawctlError, No, Usage
from clawctl.workspace.paths import Workspace

Rates = Mapping[str, float | None]  # task id -> share of samples that passed
PROMOTED, REFUSED, SERVED = "promoted", "refused", "in service already"


@dataclass(frozen=True)
class Gate:
    """What a candidate must show. See gate.decide."""

    min_gain: float = 0.0
    confidence: float = 0.9
    min_tasks: int = MIN_TASKS
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.confidence <= 1:
            raise Usage(f"--confidence {self.confidence:g}: a probability above 0, at most 1")


@dataclass(frozen=True)
class Outcome:
    """What became of a candidate. `figures` is what the history says of it, or would say in a dry run."""

    decision: str
    version: str
    previous: str | None
    reason: str
    figures: dict[str, Any]

    def row(self) -> dict[str, Any]:
        """For scripts."""
        return {"decision": self.decision, "version": self.version, "previous": self.previous, **self.figures, "reason": self.reason}

    def sentence(self) -> str:
        """For people."""
        if self.decision == SERVED:
            return self.reason
        served = f"{self.previous or 'the base model'} stays in service" if self.decision == REFUSED else "in service now"
        return f"{self.version} {self.decision}: {self.reason}; {served}"


def candidate(ws: Workspace, name: str, base_sha256: str) -> AdapterRef:
    """The version called `name`, if it may be served on this base model.

    Raises No without any candidate, and for "latest" when someone rolled it back; ClawctlError when it is incomplete, of another base
    model, or not a version of this workspace.
    """
    ref = versions.resolve(ws, name)
    if ref is None:
        raise No("there is no candidate", "clawctl train makes one")
    if ref.path.parent != ws.adapters.resolve():
        raise Usage(f"{ref.path} is not in {ws.adapters}", "only versions of the workspace can be served: copy it there as vNNN")
    if ref.base_sha256 != base_sha256:
        was = (ref.base_sha256 or "unknown")[:12]
        raise ClawctlError(
            f"{ref.name} was trained on another base model (sha256 {was}, the model here has {base_sha256[:12]})",
            "--model NAME names the base that it was trained on",
        )
    if name == versions.LATEST and versions.current_name(ws) != ref.name:
        word = history.last_word(history.ledger(ws), ref.name, ref.sha256)
        if word and word["kind"] == history.ROLLBACK:
            raise No(f"{ref.name} was rolled back on {word['created']}", f"to try it again, name it: clawctl promote {ref.name}")
    return ref


def stand(ws: Workspace, ref: AdapterRef, rates: Callable[[AdapterRef | None], Rates], gate: Gate, *, write: bool = True) -> Outcome:
    """Compare `ref` with what is in service and serve it if it is measurably better; write the decision down.

    rates: the pass rates of a version, or of the bare base model, on the gate's tasks. write False: decide only.
    """
    if write:
        serving.repair(ws)
    current = versions.resolve(ws, versions.CURRENT)
    if current and current.name == ref.name:
        return Outcome(SERVED, ref.name, ref.name, f"{ref.name} is in service already", {})
    decision = decide(
        compare(rates(ref), rates(current), seed=gate.seed),
        min_gain=gate.min_gain,
        confidence=gate.confidence,
        min_tasks=gate.min_tasks,
    )
    previous = current.name if current else None
    figures: dict[str, Any] = {
        "verdict": decision.verdict,
        "reason": decision.reason,
        "compared_with": previous,
        "min_gain": gate.min_gain,
        "confidence": gate.confidence,
        **decision.comparison.figures(),
    }
    if write and decision.promote:
        serving.promote(ws, ref, previous, **figures)
    elif write:
        history.record(ws, history.REFUSAL, ref.name, adapter_sha256=ref.sha256, **figures)
    return Outcome(PROMOTED if decision.promote else REFUSED, ref.name, previous, decision.reason, figures)


def force(ws: Workspace, ref: AdapterRef, *, write: bool = True) -> Outcome:
    """Serve `ref` whatever the gate would say, nothing measured."""
    if write:
        serving.repair(ws)
    previous = versions.current_name(ws)
    if previous == ref.name:
        return Outcome(SERVED, ref.name, previous, f"{ref.name} is in service already", {})
    figures = {"verdict": None, "reason": "forced", "compared_with": previous}
    if write:
        serving.promote(ws, ref, previous, **figures)
    return Outcome(PROMOTED, ref.name, previous, "forced, nothing measured", figures)
