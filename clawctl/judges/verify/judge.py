"""The judge `verify`: is the answer right, by the task's own `verify`, and is the completion strictly in the step format?

Two parts: `format` is 1 or 0, `answer` is 0..1. An answer that is not there is a 0 for the kinds that judge answers, since not answering is a
way of being wrong; those that can judge any text (KINDS[...].whole) then judge a completion without the tag. What cannot be judged is
Unscorable: no task, no verify, a fault of the task, a library that is missing, a time-out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clawctl.errors import Usage
from clawctl.judges.protocol import Unscorable
from clawctl.judges.sandbox.process import Group
from clawctl.judges.verify.bounded import Workers
from clawctl.judges.verify.kinds import KINDS
from clawctl.judges.verify.mark import Mark, Row, Spec
from clawctl.records.rollout import Score
from clawctl.records.steps import parse
from clawctl.records.task import LONGEST_WAIT

WEIGHTS = {"format": 0.2, "answer": 0.8}
OPENED = "<answer"  # a completion that tried to answer, and did so twice or was cut, is not judged as a whole
MEGABYTE = 1 << 20
MOST_MEMORY = 1 << 30  # megabytes
OPTIONS = "timeout (seconds), memory (MB, of code)"


class Verify:
    """`timeout`: seconds, instead of each kind's own; the task's own `timeout` goes before both. `memory`: bytes, for kind code."""

    name = "verify"
    weights: Mapping[str, float] = WEIGHTS

    def __init__(self, timeout: float | None = None, memory: int = 1024 * MEGABYTE) -> None:
        self.timeout, self.memory = timeout, memory
        self._programs, self._workers = Group(), Workers()

    def score(self, row: Mapping[str, Any]) -> Score:
        """{reward, parts {format, answer}, rationale}; Unscorable carries the format part where the completion is known."""
        completion = row.get("completion")
        if not isinstance(completion, str):
            raise Unscorable("input", "the rollout has no completion")
        parsed = parse(completion)
        form = float(parsed.strict)
        answer = row.get("answer", parsed.answer)
        try:
            mark = self.verify((row.get("task") or {}).get("verify"), answer, row)
        except Unscorable as error:
            error.parts = {"format": form, "answer": None}
            raise
        reward = WEIGHTS["format"] * form + WEIGHTS["answer"] * mark.value
        score: Score = {"reward": round(reward, 10), "parts": {"format": form, "answer": mark.value}}
        if mark.note:
            score["rationale"] = mark.note
        return score

    def verify(self, spec: Spec | None, answer: str | None, row: Row) -> Mark:
        """How right `answer` is by a task's `verify`. Unscorable when that cannot be told."""
        if not spec:
            raise Unscorable("task", "the task has no verify")
        kind = KINDS.get(spec.get("kind", ""))
        if kind is None:
            raise Unscorable("task", f"no verify kind {spec.get('kind')!r:.40}; known: {', '.join(KINDS)}")
        timeout = float(spec.get("timeout") or self.timeout or kind.timeout)
        if spec["kind"] == "command":
            return kind.mark(spec, row, group=self._programs, timeout=timeout)
        text = answer
        if text is None and kind.whole and OPENED not in (row.get("completion") or "").lower():
            text = row.get("completion")
        if text is None or not text.strip():
            return Mark(0.0, "no answer")
        if kind.where == "worker":
            return self._workers.mark(spec["kind"], spec, text, timeout)
        if kind.where == "program":
            return kind.mark(spec, text, group=self._programs, timeout=timeout, memory=self.memory)
        return kind.mark(spec, text)

    def close(self) -> None:
        """End the programs that still run."""
        self._programs.close()
        self._workers.close()


def open_judge(options: Mapping[str, str]) -> Verify:
    """`--with verify:timeout=5,memory=512`."""
    values: dict[str, float] = {}
    for key, text in options.items():
        if key not in ("timeout", "memory"):
            raise Usage(f"verify has no option {key!r}", f"known: {OPTIONS}")
        try:
            values[key] = float(text)
        except ValueError:
            values[key] = math.nan
        if not 0 < values[key] <= (LONGEST_WAIT if key == "timeout" else MOST_MEMORY):
            raise Usage(f"verify:{key}={text} is no number above 0, or too large", f"known: {OPTIONS}")
    return Verify(values.get("timeout"), int(values.get("memory", 1024) * MEGABYTE))
