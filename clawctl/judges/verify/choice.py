"""choice: the answer picks the right one of `choices`, by its text, its letter (A, B, ...) or its number (1, 2, ...).

`answer` in the task is a text or a letter likewise. Without `choices` (they stand in the prompt) only the letters are compared.
An answer that names two choices, or denies one, picks none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.exact import plain
from clawctl.judges.verify.mark import RIGHT, WRONG, Mark, Spec, needed

LABEL = re.compile(r"(?:(?:option|choice|answer)\b[ :]*)?[(\[]?([A-Za-z]|\d{1,2})(?:[)\].:]+[ ]*|$)(.*)", re.DOTALL | re.IGNORECASE)
DRESS = " *`\"'“”"
DENIAL = re.compile(r"\b(?:not|never|neither|nor|or|either|except)\b|n['’]t\b", re.IGNORECASE)
LONGEST = 2000  # characters; nobody picks a choice in more


def mark(spec: Spec, text: str) -> Mark:
    """1 when `text` picks the choice that `answer` names."""
    choices = [plain(choice) for choice in spec.get("choices") or []]
    answer = plain(str(needed(spec, "answer")))
    if not choices:
        label = label_of(answer)
        if label is None:
            raise Unscorable("task", "verify of kind choice without `choices` needs a letter as `answer`")
        return RIGHT if label_of(plain(text[:LONGEST])) == label else WRONG
    picked = pick(answer, choices)
    if picked is None:
        raise Unscorable("task", f"verify.answer {answer!r:.60} is none of the choices")
    given = pick(plain(text), choices) if len(text) <= LONGEST else None
    # Two choices with one text are one choice.
    return RIGHT if given is not None and choices[given] == choices[picked] else WRONG


def pick(text: str, choices: Sequence[str]) -> int | None:
    """Which choice `text` means: one that it is, one that its label and its text agree on, or the only one that it mentions."""
    text = text.strip()
    for form in (text, text.strip(DRESS), text.strip(DRESS).rstrip(".")):
        if (same := _same(form, choices)) is not None:
            return same
    label = LABEL.fullmatch(text.strip(DRESS))
    if label and (at := _index(label[1], len(choices))) is not None:
        rest = label[2].strip(DRESS).rstrip(".")
        return at if not rest or _same(rest, choices) == at else None
    return _mentioned(text, choices)


def label_of(text: str) -> str | None:
    """The letter or number that an answer starts with, in upper case: `(b) Paris` is B. A word is no label."""
    label = LABEL.fullmatch(text.strip(DRESS))
    return label[1].upper() if label else None


def _same(text: str, choices: Sequence[str]) -> int | None:
    """The choice that `text` is, first as it is written, then in any case if only one is meant then."""
    if text in choices:
        return choices.index(text)
    folded = {choice for choice in choices if choice.casefold() == text.casefold()}
    return choices.index(folded.pop()) if len(folded) == 1 else None


def _index(label: str, count: int) -> int | None:
    at = int(label) - 1 if label.isdigit() else ord(label.upper()) - ord("A")
    return at if 0 <= at < count else None


def _mentioned(text: str, choices: Sequence[str]) -> int | None:
    """The only choice that stands in `text` as words of its own; one inside a longer one that stands there too does not count."""
    spans = [
        (found.start(), found.end(), at)
        for at, choice in enumerate(choices)
        if choice
        for found in re.finditer(rf"(?<![\w+#-]){re.escape(choice)}(?![\w+#-])", text, re.IGNORECASE)
    ]
    outer = [(s, e, at) for s, e, at in spans if not any(a <= s and e <= b and b - a > e - s for a, b, _ in spans)]
    found = {choices[at].casefold() for _, _, at in outer}
    rest = "".join(c for i, c in enumerate(text) if not any(s <= i < e for s, e, _ in outer))
    if len(found) != 1 or DENIAL.search(rest):
        return None
    # Choices that differ by case only are told apart by it.
    exact = {choices[at] for s, e, at in outer if text[s:e] == choices[at]} or {choices[at] for _, _, at in outer}
    return choices.index(exact.pop()) if len(exact) == 1 else None
