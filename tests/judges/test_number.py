"""Numbers as people and models write them."""

from __future__ import annotations

import time

import pytest

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.quantity import read

SAME = [
    ("65960", ["65,960", "65 960", "65'960", "65’960", "65_960", "65\u00a0960", "65\u202f960", "65960.00", "65.960,0"]),
    ("65960", ["٦٥٩٦٠", "６５９６０", "6.596e4"]),
    ("1234567", ["1,234,567", "12,34,567", "1.234.567", "1,234,567.00", "1.234567 million"]),
    ("-5", ["−5", "–5", "－5", "- 5", "-5.0", "the result is -5"]),
    ("36", ["36.", "$36", "36 €", "36 apples", "The answer is 36.", "**36**", "`36`", "\\boxed{36}", "$36$", "\\text{36}"]),
    ("36", ["x = 36", "14 + 22 = 36", "≈ 36", "+36", "(36)", "US$36", "$36 per day", "036", "36th"]),
    ("36", ["36 m²", "36 m^2", "36 km/h", "36 g of CO2"]),
    ("0.75", ["3/4", "¾", "\\frac{3}{4}", "\\dfrac{3}{4}", ".75", "0,75", "75%", "75 percent"]),
    ("0.75", ["7.5e-1", "7.5 × 10⁻¹", "7.5*10**-1"]),
    ("1.75", ["1 3/4", "1¾", "1 and 3/4", "1\\frac{3}{4}", "7/4", "$1.75"]),
    ("100000", ["10^5", "10**5", "1 x 10^5", "1e5", "100k", "100 thousand", "0.1 million"]),
    ("0.125", ["0,125", "12.5%", "1/8"]),
]
DIFFERENT = [
    ("36", ["", "   ", "37", "3 6", "36 or 37", "36 and 37", "not 36", "it isn't 36", "less than 36", "thirty-six"]),
    ("36", ["36!", "36x", "36 + x", "sqrt(36)", "√36", "x36", "36^2", "36-37", "36:00", "36/0", "3.6.1", "x - 36"]),
    ("36", ["nan", "inf", "0x24", "10**10**10", "36" * 3000]),
    ("1234", ["1,2,3,4", "12,34", "1.234"]),
    ("1.234", ["1,234"]),
    ("2", ["2x", "2i", "2^3", "1/2/1"]),
    ("7/4", ["-1 3/4", "1.7"]),
]


@pytest.mark.parametrize(("right", "text"), [(right, text) for right, texts in SAME for text in texts])
def test_ways_to_write_it(marks, right, text):
    assert marks("number", text, answer=right) == 1.0


@pytest.mark.parametrize(("right", "text"), [(right, text) for right, texts in DIFFERENT for text in texts])
def test_what_it_is_not(marks, right, text):
    assert marks("number", text, answer=right) == 0.0


def test_every_answer_is_read_as_itself(marks):
    for number in (0, -1, 36, 999, 1000, 12345678901234567890, 0.1, -2.5, 1e-7, 1e21):
        assert marks("number", str(number), answer=number) == 1.0


@pytest.mark.parametrize(
    ("right", "text", "value"),
    [
        ("1.5 km", "1500 m", 1.0),
        ("1.5 km", "1.5", 1.0),
        ("1.5", "1.5 km", 1.0),
        ("5 kg", "5 km", 0.0),
        ("2 hours", "120 minutes", 1.0),
        ("$0.50", "50 cents", 1.0),
        ("$5", "€5", 0.0),
        ("5 apples", "5 pears", 1.0),
        ("50%", "0.5", 1.0),
        ("50%", "50", 1.0),
        ("50", "50%", 1.0),
        ("50%", "50 kg", 0.0),
    ],
)
def test_units_count_where_both_are_known(marks, right, text, value):
    assert marks("number", text, answer=right) == value


def test_tolerance(marks):
    assert marks("number", "3.15", answer="3.14") == 0.0
    assert marks("number", "3.15", answer="3.14", tolerance=0.01) == 1.0
    assert marks("number", "3.16", answer="3.14", tolerance=0.01) == 0.0
    assert marks("number", "99", answer="100", tolerance="1%") == 1.0
    assert marks("number", "98", answer="100", tolerance="1%") == 0.0
    assert marks("number", "1/3", answer="0.33", tolerance=0.005) == 1.0


def test_whole_numbers_are_exact_and_float_noise_is_not_held_against_an_answer(marks):
    assert marks("number", "12345678902", answer=12345678901) == 0.0
    assert marks("number", "0.3", answer=0.1 + 0.2) == 1.0


@pytest.mark.parametrize(
    "spec", [{}, {"answer": "many"}, {"answer": "1 or 2"}, {"answer": "1", "tolerance": "much"}, {"answer": "1", "tolerance": -1}]
)
def test_a_task_without_a_number_is_no_score(marks, spec):
    with pytest.raises(Unscorable) as caught:
        marks("number", "1", **spec)
    assert caught.value.kind == "task"


def test_no_answer_is_zero(marks):
    assert marks("number", None, answer="1") == 0.0


@pytest.mark.parametrize(
    "text", ["1" * 1_000_000, "1," * 500_000, "-" * 999 + "1", "$" * 999, "10^" * 300 + "1", "1e999999999", "9e9999", "a\x00" * 1000]
)
def test_hostile_numbers_end_soon(text):
    start = time.monotonic()
    read(text)
    assert time.monotonic() - start < 0.5
