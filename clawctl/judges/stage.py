"""The stage: rollouts in, rollouts with scores and a reward out, in the same order, each as soon as it is done."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from clawctl.errors import ClawctlError, Missing
from clawctl.judges.ordered import in_order
from clawctl.judges.protocol import Judge, Unscorable
from clawctl.judges.reward import default_weights, rewarded

log = logging.getLogger(__name__)
Row = dict[str, Any]


def judge(
    rollouts: Iterable[Row],
    judges: Sequence[Judge],
    *,
    weights: Mapping[str, float] | None = None,
    reduce: str = "product",
    jobs: int = 1,
    again: bool = False,
    reweigh: bool = False,
) -> Iterator[Row]:
    """Score every rollout by every judge and set `scores`, `reward`, `reward_parts` and `step_rewards`.

    weights: what each part weighs in the reward; each judge's own when None. reduce: a key of REDUCTIONS, for judges of steps.
    jobs: rows judged at once. again: judge also what these judges have scored before. reweigh: judge nothing, make the rewards
    anew from the stored scores. The judges are closed at the end.
    """
    weighing = dict(weights) if weights is not None else default_weights(judges)
    one = partial(judge_row, judges=judges, weights=weighing, reduce=reduce, again=again, reweigh=reweigh)
    try:
        yield from in_order(one, rollouts, jobs)
    finally:
        for each in judges:
            each.close()


def judge_row(row: Row, *, judges: Sequence[Judge], weights: Mapping[str, float], reduce: str, again: bool, reweigh: bool) -> Row:
    """One rollout, judged; the row that came in is left as it is. A row that failed before is passed on with reward null."""
    if row.get("error") or row.get("finish_reason") == "abort":
        return {**row, "reward": None}
    scores = dict(row.get("scores") or {})
    for each in judges:
        if not reweigh and (again or not scored(scores.get(each.name))):
            scores[each.name] = score(each, row)
    return rewarded({**row, "scores": scores}, judges, weights, reduce)


def scored(earlier: Mapping[str, Any] | None) -> bool:
    """Whether a stored score stands; one that ended in an error is worth another try."""
    return bool(earlier) and not (earlier or {}).get("error")


def score(judge: Judge, row: Row) -> Row:
    """The judge's score of a rollout as it goes into the row; a judge that cannot tell leaves an `error`, never a 0."""
    try:
        given: Row = dict(judge.score(row))
        _check_finite(given)
        return given | ({"rationale": writable(str(given["rationale"]))} if given.get("rationale") else {})
    except Unscorable as error:
        kind, message, parts = error.kind, str(error), error.parts
    except Missing as error:
        kind, message, parts = "missing", f"{error}; {error.hint}", None
    except ClawctlError as error:
        kind, message, parts = "failed", str(error), None
    except Exception as error:  # a judge may be anybody's code; its failure is the row's, not the stream's
        log.debug("%s: judge %s", row.get("id"), judge.name, exc_info=True)
        kind, message, parts = "internal", f"{type(error).__name__}: {error}"[:500], None
    failure = {"stage": "judge", "kind": kind, "message": writable(message)}
    return {"reward": None, "parts": parts or dict.fromkeys(judge.weights), "error": failure}


def writable(text: str) -> str:
    """The text without half characters: JSON can name them ("\\ud800"), UTF-8 cannot carry them, and one would end the stream."""
    return text.encode(errors="replace").decode()


def _check_finite(score: Mapping[str, Any]) -> None:
    numbers = [score.get("reward"), *(score.get("parts") or {}).values(), *(score.get("step_rewards") or [])]
    for number in numbers:
        if number is not None and not math.isfinite(number):
            raise Unscorable("value", f"the judge gave {number}, which is no finite number")
