"""Any data set as task records: which column asks, which one answers, and how an answer is verified.

    mapping = Mapping(prompt="question", answer="answer", verify="number", answer_regex=r"#### (.+)")
    source = Source(rows("gsm8k.parquet"), mapping, "gsm8k")
    for task in source: ...
    source.skipped                                  # rows without a prompt or an answer, each reported with its number

Rows come one at a time, so memory stays flat however large the data set.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from clawctl.errors import Usage
from clawctl.records import InvalidRecord, Task, check, content_id
from clawctl.records.steps import format_solution, parse

log = logging.getLogger(__name__)
SHOWN = 20  # skipped rows spelt out on stderr; the rest are counted

# Where each kind of verifier keeps what the answer column says.
ANSWER_KEY = {
    "number": "answer",
    "exact": "answer",
    "choice": "answer",
    "math": "answer",
    "regex": "pattern",
    "contains": "all",
    "code": "tests",
    "json": "schema",
}


class Skip(ValueError):
    """A row that makes no task; the sentence says why."""


@dataclass(frozen=True)
class Mapping:
    """Columns by name; dots go inside (`verify.answer`, `answers.text.0`). `type` and `verify` are the task's own."""

    prompt: str
    answer: str
    id: str | None = None
    solution: str | None = None
    choices: str | None = None
    answer_regex: str | None = None
    type: str | None = None
    verify: str = "exact"


class Source:
    """The tasks of `rows`, made by `mapping`; `name` begins the ids where no column gives them."""

    def __init__(self, rows: Iterable[dict[str, Any]], mapping: Mapping, name: str) -> None:
        if mapping.verify not in ANSWER_KEY:
            raise Usage(f"--verify {mapping.verify}: no answer column can fill it", f"one of {', '.join(ANSWER_KEY)}")
        if mapping.verify == "choice" and not mapping.choices:
            raise Usage("--verify choice needs --choices-column", "the column that lists the options")
        self.rows, self.mapping, self.name = rows, mapping, name
        self.made = self.skipped = 0
        self._pattern = _compiled(mapping.answer_regex)

    def __iter__(self) -> Iterator[Task]:
        for number, row in enumerate(self.rows, 1):
            if number == 1:
                self._columns_exist(row)
            try:
                task = self._task(row, number)
            except Skip as reason:
                self.skipped += 1
                if self.skipped <= SHOWN:
                    log.warning("row %d: %s", number, reason)
                continue
            self.made += 1
            yield task
        if self.skipped > SHOWN:
            log.warning("%d rows skipped in all, %d of them shown", self.skipped, SHOWN)

    def _columns_exist(self, row: dict[str, Any]) -> None:
        m = self.mapping
        for column in filter(None, (m.prompt, m.answer, m.id, m.solution, m.choices)):
            if column not in row and column.partition(".")[0] not in row:
                raise Usage(f"no column {column!r} in {self.name}", f"columns: {', '.join(map(str, row))}")

    def _task(self, row: dict[str, Any], number: int) -> Task:
        m = self.mapping
        prompt = _text(_required(row, m.prompt))
        answer = self._answer(_required(row, m.answer))
        verify: dict[str, Any] = {"kind": m.verify}
        if m.verify == "choice":
            verify["choices"] = _options(_required(row, m.choices or ""))
            answer = _chosen(answer, verify["choices"])
            prompt = f"{prompt}\n{' | '.join(verify['choices'])}"
        verify[ANSWER_KEY[m.verify]] = _shaped(m.verify, answer)
        given = _at(row, m.id) if m.id else None
        task: dict[str, Any] = {
            "schema": "clawctl.task/1",
            "id": _text(given) if given is not None else f"{self.name}-{number:06d}-{content_id(prompt)[:6]}",
            "prompt": prompt,
            **({"type": m.type} if m.type else {}),
            "verify": verify,
        }
        worked = _at(row, m.solution) if m.solution else None
        if isinstance(worked, str) and worked.strip():
            task["solution"] = self._solution(worked, _text(answer))
        try:
            check(task, "task")
        except InvalidRecord as error:
            raise Skip(str(error)) from None
        return cast(Task, task)

    def _answer(self, cell: Any) -> Any:
        if self._pattern is None:
            return cell
        found = list(self._pattern.finditer(_text(cell)))
        if not found:
            raise Skip(f"`{self.mapping.answer}` does not match --answer-regex")
        last = found[-1]
        return (last.group(1) if self._pattern.groups else last.group()).strip()

    def _solution(self, text: str, answer: str) -> str:
        """A worked answer in the step format: as it is, or each line a step, without the line the answer was found in."""
        if parse(text).strict:
            return text
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        kept = [line for line in lines if not (self._pattern and self._pattern.search(line))]
        return format_solution(kept or lines, answer)


def _at(row: Any, path: str) -> Any:
    """The cell at a dotted path; None where it, or anything on the way, is missing. A column may itself have dots in its name."""
    if isinstance(row, dict) and path in row:
        return row[path]
    for key in path.split("."):
        if isinstance(row, dict):
            row = row.get(key)
        elif isinstance(row, list) and key.isdigit() and int(key) < len(row):
            row = row[int(key)]
        else:
            return None
    return row


def _required(row: dict[str, Any], path: str) -> Any:
    cell = _at(row, path)
    if cell is None or cell == "" or cell != cell:  # NaN is how a table spells a hole
        raise Skip(f"no `{path}`")
    return cell


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, str | int | float):
        return str(cell)
    raise Skip(f"a {type(cell).__name__} where text was expected; name what is inside it with a dot")


def _options(cell: Any) -> list[str]:
    if not isinstance(cell, list) or len(cell) < 2:
        raise Skip("the choices are not a list of two or more")
    return [_text(option) for option in cell]


def _chosen(answer: Any, choices: list[str]) -> str:
    """The right option's text, from its text, its position from 0, or its letter."""
    text = _text(answer).strip()
    if text in choices:
        return text
    at = int(text) if text.isdigit() else ord(text.upper()) - ord("A") if len(text) == 1 and text.isalpha() else -1
    if not 0 <= at < len(choices):
        raise Skip(f"answer {text!r} is none of the choices")
    return choices[at]


def _shaped(kind: str, answer: Any) -> Any:
    if kind == "contains":
        return [_text(part) for part in answer] if isinstance(answer, list) else [_text(answer)]
    if kind == "json":
        return answer
    if kind == "code" and isinstance(answer, list):
        return [_text(test) for test in answer]
    return _text(answer)


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern) if pattern else None
    except re.error as error:
        raise Usage(f"--answer-regex: {error}") from None
