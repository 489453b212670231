"""The step format: numbered `<step>`s, then one `<answer>`; how it is written, and how it is read back.

    <step>1. 14 + 22 = 36</step>
    <answer>36</answer>

Reading is tolerant of what small models really write (`<Step 2>`, tags left open, plain numbered lines), and it never guesses:
an answer is there only when its tag is open and closed, and two answers that differ are none. `strict` says whether the text is
exactly the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

# `<step>`, `</ Step 2 >`, `<step n="2">`, `<answer>`. Nothing longer: prose between angle brackets is not a tag.
TAG = re.compile(r"<[ \t]*(/?)[ \t]*(step|answer)[ \t]*(?:(?:n|no|id|number)?[ \t]*=?[ \t]*[\"']?\d+[\"']?[.:]?)?[ \t]*>", re.IGNORECASE)
NUMBER = re.compile(r"\s*(?:\*\*)?(?:step[ \t]*)?(\d+)[ \t]*[.):](?:\*\*)?(?!\d)[ \t]*", re.IGNORECASE)
NUMBERED_LINE = re.compile(r"^[ \t]*(?:\*\*)?(?:step[ \t]*)?(\d+)[ \t]*[.):](?:\*\*)?(?!\d)[ \t]*(?=\S)", re.IGNORECASE | re.MULTILINE)
STRICT_STEP = re.compile(r"\s*<step>(\d+)\. (?=\S)(?:[^<]|<(?!/?(?:step|answer)>))+</step>")
STRICT_ANSWER = re.compile(r"\s*<answer>(?:[^<]|<(?!/?(?:step|answer)>))*</answer>\s*\Z")


@dataclass(frozen=True)
class StepSpan:
    """One step: its text without tags and number, and where it stands (`end` is after the closing tag)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Parsed:
    """What a completion says. `strict`: it is one or more steps numbered from 1, all closed, then a non-empty answer, and nothing else."""

    steps: list[StepSpan]
    answer: str | None
    strict: bool


def parse(text: str) -> Parsed:
    """Read a completion. Offsets are characters of `text`."""
    steps, answers, tagged = _tagged(text)
    if not tagged:
        steps = list(_numbered_lines(text))
    answer = answers[0] if answers and all(a == answers[0] for a in answers) else None
    # A bent tag inside a step is caught by the tolerant reading.
    strict = answer is not None and 0 < len(steps) == _strict_steps(text)
    return Parsed(steps, answer, strict)


def format_solution(steps: Sequence[str], answer: str) -> str:
    """The text that `parse` reads back as these steps and this answer, strictly."""
    lines = [f"<step>{number}. {step}</step>" for number, step in enumerate(steps, 1)]
    return "\n".join([*lines, f"<answer>{answer}</answer>"])


def ends_in_tokens(steps: Sequence[StepSpan], token_ends: Sequence[int]) -> list[int] | None:
    """The index of each step's last token (inclusive), from the character at which every token ends.

    None where the tokens cannot tell the steps apart: two steps that end in one token.
    """
    ends: list[int] = []
    token = 0
    for step in steps:
        while token < len(token_ends) and token_ends[token] < step.end:
            token += 1
        if token == len(token_ends):
            return None
        ends.append(token)
    return None if any(b <= a for a, b in pairwise(ends)) else ends


def _tagged(text: str) -> tuple[list[StepSpan], list[str], bool]:
    """Steps and closed answers by their tags; whether there was any step tag. A step left open ends where the next tag opens."""
    steps: list[StepSpan] = []
    answers: list[str] = []
    tagged = False
    kind, start, inner = "", 0, 0  # the tag that is open, where it stands, where its content begins

    def close_step(content_end: int, end: int) -> None:
        body = text[inner:content_end]
        if number := NUMBER.match(body):
            body = body[number.end() :]
        if body.strip():
            steps.append(StepSpan(body.strip(), start, end))

    for tag in TAG.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        tagged = tagged or name == "step"
        if closing and name == kind:
            if kind == "step":
                close_step(tag.start(), tag.end())
            elif answer := text[inner : tag.start()].strip():
                answers.append(answer)
            kind = ""
        elif not closing:
            if kind == "step":
                close_step(tag.start(), _rstripped(text, inner, tag.start()))
            kind, start, inner = name, tag.start(), tag.end()
    if kind == "step":
        close_step(len(text), _rstripped(text, inner, len(text)))
    return steps, answers, tagged


def _numbered_lines(text: str) -> Iterator[StepSpan]:
    """Steps of a text without tags: lines numbered 1, 2, 3, ... as they come, up to an `<answer>`."""
    stop = next((tag.start() for tag in TAG.finditer(text)), len(text))
    marks = list(NUMBERED_LINE.finditer(text, 0, stop))
    if [int(mark[1][:9]) for mark in marks] != list(range(1, len(marks) + 1)):
        return
    for at, mark in enumerate(marks):
        until = marks[at + 1].start() if at + 1 < len(marks) else stop
        end = _rstripped(text, mark.end(), until)
        yield StepSpan(text[mark.end() : end], mark.start(), end)


def _strict_steps(text: str) -> int:
    """How many steps the text has if it is exactly the format, else 0."""
    at = number = 0
    while step := STRICT_STEP.match(text, at):
        number += 1
        if step[1] != str(number):
            return 0
        at = step.end()
    return number if STRICT_ANSWER.match(text, at) else 0


def _rstripped(text: str, start: int, end: int) -> int:
    """`end` moved back over white space, not before `start`."""
    return start + len(text[start:end].rstrip())
