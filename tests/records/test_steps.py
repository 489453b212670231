"""The step format: what a trained model writes, what small models write instead, and what must never be taken for an answer."""

from __future__ import annotations

import pytest

from clawctl.records.steps import ends_in_tokens, format_solution, parse

GOOD = "<step>1. 14 + 22 = 36</step>\n<step>2. So it is 36</step>\n<answer>36</answer>"


def texts(text: str) -> list[str]:
    return [step.text for step in parse(text).steps]


def test_what_is_formatted_is_read_back_strictly():
    steps, answer = ["3 < 5, so 5 is larger", "done: <b>5</b>\nreally", "<b>"], "5"
    parsed = parse(format_solution(steps, answer))
    assert ([s.text for s in parsed.steps], parsed.answer, parsed.strict) == (steps, answer, True)


def test_spans_are_the_tags_with_their_content():
    parsed = parse("Well. " + GOOD)
    assert [("Well. " + GOOD)[s.start : s.end] for s in parsed.steps] == [
        "<step>1. 14 + 22 = 36</step>",
        "<step>2. So it is 36</step>",
    ]


def test_white_space_around_and_between_is_strict_too():
    assert parse("\n " + GOOD.replace("\n", "\n\n  ") + " \n").strict
    assert parse(GOOD.replace("\n", "")).strict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "36",
        GOOD + "x",
        "x" + GOOD,
        "<answer>36</answer>",
        GOOD.replace("<answer>36</answer>", ""),
        GOOD.replace("36</answer>", "</answer>"),
        GOOD.replace("36</answer>", " \n</answer>"),
        GOOD.replace("</answer>", ""),
        GOOD.replace("2. So", "3. So"),
        GOOD.replace("1. 14", "0. 14"),
        GOOD.replace("1. 14", "01. 14"),
        GOOD.replace("2. So", "So"),
        GOOD.replace("2. So", "2) So"),
        GOOD.replace("So it is 36", ""),
        GOOD.replace("</step>\n<step>2", "\n<step>2"),
        GOOD.replace("<step>", "<Step>"),
        GOOD.replace("<step>2. So", "<step 2> So"),
        GOOD + GOOD,
        GOOD + "<answer>36</answer>",
        "<answer>36</answer>\n" + GOOD,
        "<step>1. a</step>\nand then\n<step>2. b</step>\n<answer>1</answer>",
        "<step>1. a <step>b</step></step><answer>1</answer>",
        "<step>1. a <answer>1</answer></step><answer>1</answer>",
        "<step>1. a <ANSWER>2</ANSWER></step><answer>1</answer>",
        "<step>1. a <step 2>b</step><answer>1</answer>",
    ],
)
def test_anything_else_is_not_strict(text):
    assert not parse(text).strict


@pytest.mark.parametrize(
    ("text", "steps", "answer"),
    [
        # tags as small models bend them
        ("<step 1>add\n</step 1>\n<Step 2 >carry</STEP>\n< answer > 7 </ answer >", ["add", "carry"], "7"),
        ("<step1>add</step1><step2>carry</step2><Answer>7</Answer>", ["add", "carry"], "7"),
        ('<step n="1">add</step><step number=2>carry</step>', ["add", "carry"], None),
        ("<step>Step 1: add</step><step>**2.** carry</step>", ["add", "carry"], None),
        ("<step>add</step><step>carry</step>", ["add", "carry"], None),
        # tags left open
        ("<step>1. add\n<step>2. carry\n<answer>7</answer>", ["add", "carry"], "7"),
        ("<step>1. add</step>\n<step>2. car", ["add", "car"], None),
        ("<step>1. the answer is <answer>7</answer></step>", ["the answer is"], "7"),
        # wrong order, stray ends, empty steps
        ("<answer>7</answer>\n<step>1. add</step>", ["add"], "7"),
        ("</step>\n<step>1. add</step></step>", ["add"], None),
        ("<step>1. add</step><step></step><step>2. </step><answer>7</answer>", ["add"], "7"),
        ("<steps><step>1. add</step></steps>", ["add"], None),
        # numbers that belong to the text
        ("<step>1. 1.5 litres</step>", ["1.5 litres"], None),
        ("<step>1.5 litres</step>", ["1.5 litres"], None),
        # no tags: numbered lines
        ("1. add\n2. carry\nand on\n<answer>7</answer>", ["add", "carry\nand on"], "7"),
        ("Step 1: add\nStep 2: carry", ["add", "carry"], None),
        ("Let us see.\n1) add\n2) carry", ["add", "carry"], None),
        ("3. add\n4. carry", [], None),
        ("1. add\n1. carry", [], None),
        ("1.5 litres\n2.5 litres", [], None),
        ("It is 36.", [], None),
    ],
)
def test_small_models_are_understood(text, steps, answer):
    parsed = parse(text)
    assert ([s.text for s in parsed.steps], parsed.answer) == (steps, answer)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 36.",
        "<answer>36",  # cut off by the token limit: it may have become 360
        "<answer>36\n<step>1. so</step></answer>",
        "<answer></answer>",
        "<answer> \n </answer>",
        "</answer>36</answer>",
        "<answer>36</step>",
        "<answer>36</answer> no, <answer>37</answer>",  # which one?
        "\\boxed{36} Answer: 36 answer>36</answer",
        "&lt;answer&gt;36&lt;/answer&gt;",
        "<answering>36</answering>",
        "<answer is 36>",
    ],
)
def test_no_answer_is_guessed(text):
    assert parse(text).answer is None


def test_an_answer_that_is_repeated_or_opened_twice_is_that_answer():
    assert parse("<answer>36</answer> again: <answer> 36 </answer>").answer == "36"
    assert parse("<answer>so <answer>36</answer>").answer == "36"


def test_an_answer_may_hold_any_text():
    code = "def f(x):\n    return x < 3 and x > 1  # </b>"
    assert parse(f"<step>1. write it</step>\n<answer>{code}</answer>") == parse(format_solution(["write it"], code))
    assert parse(format_solution(["write it"], code)).answer == code


def test_hostile_text_is_read_in_linear_time():
    for piece in ("<answer>", "<step>", "<step>1. ", "<", "< ", "1. x\n", "<step>1. a</step>", "<answer>1</answer>", " " * 50):
        parse(piece * 20_000)


def test_step_ends_are_the_tokens_that_complete_a_step():
    parsed = parse("<step>1. a</step>\n<step>2. b</step>\n<answer>c</answer>")
    assert [s.end for s in parsed.steps] == [17, 35]
    assert ends_in_tokens(parsed.steps, [6, 12, 17, 20, 36, 40, 53]) == [2, 4]
    assert ends_in_tokens(parsed.steps, list(range(1, 54))) == [16, 34]
    assert ends_in_tokens(parsed.steps, [16, 18, 36, 53]) == [1, 2]


def test_step_ends_are_unknown_where_tokens_do_not_tell():
    parsed = parse("<step>1. a</step><step>2. b</step>")
    assert ends_in_tokens(parsed.steps, [34]) is None
    assert ends_in_tokens(parsed.steps, [17, 20]) is None
    assert ends_in_tokens([], [3, 6]) == []
