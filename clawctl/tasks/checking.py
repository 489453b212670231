"""Are these task files fit to be used? Valid records, ids once each, worked answers that score full marks."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clawctl.judges.verify import verify
from clawctl.judges.verify.kinds import KINDS
from clawctl.records import content_id
from clawctl.records.steps import parse
from clawctl.records.streams import Reader

log = logging.getLogger(__name__)


@dataclass
class Report:
    """What was found: tasks, worked answers and tasks that cannot be verified by type, and how many things are wrong."""

    tasks: Counter[str] = field(default_factory=Counter)
    worked: Counter[str] = field(default_factory=Counter)
    unverified: Counter[str] = field(default_factory=Counter)
    wrong: int = 0


def check_files(paths: Sequence[str]) -> Report:
    """Read task files, an error line a fault. The same task in two files (a warm-up subset) is no fault; another task by its id is."""
    report = Report()
    asked: dict[str, str] = {}
    for path in paths:
        reader = Reader([path], "task")
        here: set[str] = set()
        for row in reader:
            kind = row.get("type") or "-"
            report.tasks[kind] += 1
            report.worked[kind] += bool(row.get("solution"))
            report.unverified[kind] += not row.get("verify")
            question = content_id(row.get("prompt"), row.get("messages"), row.get("verify"))
            repeated = row["id"] in here or asked.setdefault(row["id"], question) != question
            here.add(row["id"])
            for fault in [*(["this id was used before"] if repeated else []), *_faults_of_verify(row), *_faults_of_solution(row)]:
                report.wrong += 1
                log.error("%s: %s: %s", reader.source, row["id"], fault)
        report.wrong += reader.bad
    return report


def _faults_of_verify(row: dict[str, Any]) -> list[str]:
    """What `verify` lacks to be judged by."""
    spec = row.get("verify") or {}
    return [f"verify of kind {spec['kind']} has no `{key}`" for key in (KINDS[spec["kind"]].needs if spec else ()) if spec.get(key) is None]


def _faults_of_solution(row: dict[str, Any]) -> list[str]:
    """What is wrong with the worked answer; nothing when there is none."""
    if not row.get("solution"):
        return []
    parsed = parse(row["solution"])
    if not parsed.strict:
        return ["the solution is not in the step format"]
    if not row.get("verify"):
        return []
    reward = verify(row["verify"], parsed.answer, {"task": row})
    return [] if reward == 1.0 else [f"the solution's answer {parsed.answer!r} does not verify (reward {reward})"]
