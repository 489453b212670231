"""exact, choice, contains, regex, json and math."""

from __future__ import annotations

import contextlib
import sys
import time

import pytest

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify import verify

CITIES = ["Rome", "Paris", "New York", "York"]
COMMANDS = ["ls -r", "ls -R", "ls", "ls -la"]


def refusal(marks, kind, text, **spec) -> Unscorable:
    with pytest.raises(Unscorable) as caught:
        marks(kind, text, **spec)
    return caught.value


def test_exact(marks):
    assert marks("exact", "  ls  -la\n", answer="ls -la") == 1.0
    assert marks("exact", "LS -la", answer="ls -la") == 0.0
    assert marks("exact", "LS -la", answer="ls -la", ignore_case=True) == 1.0
    assert marks("exact", "cafe\u0301", answer="caf\u00e9") == 1.0
    assert marks("exact", "36", answer=36) == 1.0
    assert refusal(marks, "exact", "x").kind == "task"


@pytest.mark.parametrize(
    "text", ["Paris", "paris", "B", "b", "(B)", "B.", "B)", "B) Paris", "(b) paris.", "option B", "Answer: B", "2", "2. Paris", "**Paris**"]
)
@pytest.mark.parametrize("right", ["Paris", "B"])
def test_choice_by_text_letter_or_number(marks, text, right):
    assert marks("choice", text, answer=right, choices=CITIES) == 1.0


@pytest.mark.parametrize(
    "text", ["", "Rome", "A", "B) Rome", "Paris or Rome", "not Paris", "Z", "7", "Parisian", "A and B", "It isn't Paris", "x" * 10**6]
)
def test_choice_is_not_guessed(marks, text):
    assert marks("choice", text, answer="Paris", choices=CITIES) == 0.0


def test_a_choice_inside_another_is_not_that_other(marks):
    assert marks("choice", "I would say New York, surely", answer="New York", choices=CITIES) == 1.0
    assert marks("choice", "I would say New York, surely", answer="York", choices=CITIES) == 0.0
    assert marks("choice", "New York and York", answer="York", choices=CITIES) == 0.0


def test_choices_that_differ_by_case_or_signs(marks):
    for right in COMMANDS:
        for given in COMMANDS:
            assert marks("choice", given, answer=right, choices=COMMANDS) == float(given == right)
            assert marks("choice", f"use `{given}`", answer=right, choices=COMMANDS) == float(given == right)
    assert marks("choice", "<", answer="<", choices=["<", ">", "="]) == 1.0
    assert marks("choice", "1", answer="1", choices=["2", "1"]) == 1.0


def test_choice_without_choices_compares_letters(marks):
    assert marks("choice", "(c) whatever", answer="C") == 1.0
    assert marks("choice", "Cat", answer="C") == 0.0
    assert refusal(marks, "choice", "C", answer="Paris").kind == "task"
    assert refusal(marks, "choice", "C", answer="Oslo", choices=CITIES).kind == "task"


def test_contains(marks):
    assert marks("contains", "red and blue", all=["red", "blue"]) == 1.0
    assert marks("contains", "red", all=["red", "blue"]) == 0.0
    assert marks("contains", "red", any=["red", "blue"]) == 1.0
    assert marks("contains", "green", any=["red", "blue"]) == 0.0
    assert marks("contains", "red", all=["red"], none=["blue"]) == 1.0
    assert marks("contains", "red blue", all=["red"], none=["blue"]) == 0.0
    assert marks("contains", "RED", all=["red"]) == 0.0
    assert marks("contains", "RED", all=["red"], ignore_case=True) == 1.0


def test_saying_nothing_contains_nothing_forbidden_but_is_no_answer(marks):
    assert marks("contains", "", none=["blue"]) == 0.0


@pytest.mark.parametrize("spec", [{}, {"all": []}, {"all": [""]}])
def test_contains_without_a_condition_is_no_score(marks, spec):
    assert refusal(marks, "contains", "x", **spec).kind == "task"


def test_regex(marks):
    assert marks("regex", "order 66", pattern=r"\b66\b") == 1.0
    assert marks("regex", "order 667", pattern=r"\b66\b") == 0.0
    assert marks("regex", "Yes", pattern="^yes$", ignore_case=True) == 1.0
    assert refusal(marks, "regex", "x", pattern="(").kind == "task"
    assert refusal(marks, "regex", "x").kind == "task"


def test_a_pattern_that_explodes_is_stopped_and_the_next_row_is_judged(marks):
    start = time.monotonic()
    assert refusal(marks, "regex", "a" * 50 + "b", pattern="(a|a)*$", timeout=0.5).kind == "timeout"
    assert time.monotonic() - start < 5
    assert marks("regex", "aaa", pattern="(a|a)*$", timeout=0.5) == 1.0


def test_regex_over_a_long_text(marks):
    assert marks("regex", "x" * 1_000_000 + "\x00end", pattern="\x00end$") == 1.0


SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "n": {"type": "integer", "minimum": 0}}}


@pytest.mark.parametrize(
    "text", ['{"name": "x"}', '```json\n{"name": "x", "n": 3}\n```', 'Here it is:\n```\n{"name": "x"}\n```\nDone.', ' {"name":"x"} ']
)
def test_json_that_is_valid(marks, text):
    assert marks("json", text, schema=SCHEMA) == 1.0


@pytest.mark.parametrize(
    "text", ["", "name: x", '{"name": 3}', '{"n": 1}', '{"name": "x", "n": -1}', '{"name": "x"', "[]", '{"name": NaN}', "[" * 100_000]
)
def test_json_that_is_not(marks, text):
    assert marks("json", text, schema=SCHEMA) == 0.0


def test_json_without_a_schema_is_any_json(marks):
    assert marks("json", "[1, 2]") == 1.0
    assert marks("json", "NaN") == 0.0


def test_a_bad_schema_is_no_score_and_none_is_fetched(marks):
    assert refusal(marks, "json", "{}", schema={"type": "nonsense"}).kind == "task"
    assert refusal(marks, "json", "{}", schema={"$ref": "https://example.invalid/schema.json"}).kind == "task"


def test_a_schema_pattern_that_explodes_is_stopped(marks):
    schema = {"type": "string", "pattern": "^(a|a)*$"}
    assert refusal(marks, "json", '"' + "a" * 50 + 'b"', schema=schema, timeout=0.5).kind == "timeout"


def test_math(marks):
    pytest.importorskip("math_verify")
    for right, text in [
        ("1/2", "0.5"),
        ("\\frac{1}{2}", "$0.5$"),
        ("(x+1)^2", "x^2+2x+1"),
        ("\\sqrt{8}", "2\\sqrt{2}"),
        ("36", "\\boxed{36}"),
    ]:
        assert marks("math", text, answer=right) == 1.0
    assert marks("math", "x^2+1", answer="(x+1)^2") == 0.0
    assert marks("math", "no idea", answer="1/2") == 0.0
    assert marks("math", "1" * 1_000_000, answer="1/2") == 0.0


@pytest.mark.parametrize("text", ["10^{10^{10}}", "9^{9^{9^{9}}}", "(x+y+z)^{100000}", "1000000!"])
def test_algebra_that_explodes_is_stopped(judge, text):
    pytest.importorskip("math_verify")
    start = time.monotonic()
    with contextlib.suppress(Unscorable):
        assert judge.verify({"kind": "math", "answer": "x^2+1", "timeout": 1}, text, {}).value == 0.0
    assert time.monotonic() - start < 20


def test_math_without_the_library_says_which_extra_brings_it(marks, monkeypatch):
    from clawctl.errors import Missing
    from clawctl.judges.verify import math

    monkeypatch.setitem(sys.modules, "math_verify", None)
    with pytest.raises(Missing) as caught:
        math.warm()
    assert "clawctl-rl[math]" in caught.value.hint


def test_unknown_kinds_and_no_verify_are_no_score(judge):
    for spec in (None, {}, {"kind": "poetry"}):
        with pytest.raises(Unscorable) as caught:
            judge.verify(spec, "x", {})
        assert caught.value.kind == "task"


def test_verify_in_short():
    assert verify({"kind": "number", "answer": "36"}, "36.0", {}) == 1.0
    assert verify({"kind": "number"}, "36.0", {}) is None
