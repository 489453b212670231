"""The one number that a text states, exactly, as people and models write it.

Read are: thousands in groups (65,960  65 960  65'960  65_960, also 12,34,567), decimals with point or comma, signs in any Unicode form,
fractions (3/4, 1 3/4, ¾, \\frac{3}{4}), 1.2e5, 1.2 x 10^5, "3 million", units and currency around it, LaTeX and Markdown dress, and
"x = 36" by its right side. What commas and points mean where it is not plain: a single comma before exactly three digits separates thousands
(1,234 is 1234), any other single comma is a decimal one (3,5 is 3.5; 0,125 is 0.125); a single point is always decimal (1.234);
where both occur, the last one is decimal. Nothing is guessed: two numbers, or a number in a formula or a comparison, are none.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import NamedTuple

from clawctl.judges.verify.units import unit_of

LONGEST = 1000  # characters; no answer that states one number is longer
DASHES = dict.fromkeys(map(ord, "−‐‑‒–﹣－"), "-")
SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
SCALES = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12}
DIGITS = r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d[\d,.'_]*\d|\d|(?<!\d)\.\d+"
POWER = r"(?:\^|\*\*)[ ]*[({]?[ ]*(?P<NAME>[-+]?\d{1,4})(?!\d)[ ]*[)}]?"
NUMBER = re.compile(
    rf"(?:(?P<sign>[-+])[ ]*)?(?:(?P<before>[$€£¥₹])[ ]*)?(?P<inner>[-+])?(?:"
    rf"10[ ]*{POWER.replace('NAME', 'power')}"
    rf"|(?:(?P<whole>\d+)(?:[ ]+and)?[ ]+)?(?P<top>\d+)[ ]*/[ ]*(?P<bottom>\d+)"
    rf"|(?P<digits>{DIGITS})(?:[eE](?P<e>[-+]?\d{{1,4}})(?!\d)|[ ]*[x×·*][ ]*10[ ]*{POWER.replace('NAME', 'times')})?"
    rf")(?:[ ]?(?P<scale>{'|'.join(SCALES)})(?![a-z]))?",
    re.IGNORECASE,
)
DRESS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\\(?:text|mathrm|mbox|boxed|mathbf)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\\[dt]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}"), r" \1/\2"),
    (re.compile(r"\\(?:times|cdot)"), "×"),
    (re.compile(r"\\[,;! ]"), ""),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"\$([^$]*)\$"), r" \1 "),
    (re.compile(r"(?<![\d)])\*\*(.+?)\*\*(?![\d(])"), r"\1"),
)
# A digit that is not part of a word or a unit (CO2, m^2).
ANOTHER = re.compile(r"(?<![A-Za-z])(?<![A-Za-z]\^)\d")
FORMULA_BEFORE = re.compile(r"[-+*/^√×÷π<>≤≥±]\s*$|\b(?:sqrt|log|ln|exp|sin|cos|tan|abs)\s*\(?\s*$|\w-?$")
FORMULA_AFTER = re.compile(r"\s*(?:[+*^×÷√π!<>≤≥±]|/(?!\s*[A-Za-z])|-\s*\w)")
WORD = re.compile(r"[ ]*([^\W\d_]+|[%$€£¥₹¢])(?![\w^/])")
LETTER = re.compile(r"[A-Za-z](?![A-Za-z])")
DENIAL = re.compile(r"\b(?:not|never|neither|nor|or|either|between|than|least|most|except)\b|n['’]t\b", re.IGNORECASE)


class Quantity(NamedTuple):
    """A number, and its unit as units.unit_of gives it."""

    value: Fraction
    unit: tuple[str, Fraction] | None


def read(text: str) -> Quantity | None:
    """The number that `text` states; None when it states none, more than one, or none in plain terms."""
    if len(text) > LONGEST:
        return None
    text = undressed(text).rpartition("=")[2].strip()
    found = NUMBER.search(text)
    if found is None or DENIAL.search(text):
        return None
    before, after = text[: found.start()], text[found.end() :]
    if ANOTHER.search(before) or ANOTHER.search(after) or FORMULA_AFTER.match(after):
        return None
    if FORMULA_BEFORE.search(before) and not found["before"]:
        return None
    if before and found["sign"] and found[0][1] == " ":
        return None  # x - 3 is no number
    value = _value(found)
    word = WORD.match(after)
    unit = unit_of(found["before"] or (word[1] if word else ""))
    if value is None or (unit is None and LETTER.match(after)):
        return None  # 2x is no number
    return Quantity(value, unit)


def undressed(text: str) -> str:
    """`text` with ASCII digits, signs and fractions, without the LaTeX and Markdown around a number."""
    text = SUPERSCRIPT.sub(lambda m: "^" + m[0].translate(SUPERSCRIPTS), text.translate(DASHES))
    text = "".join(_plain(c) for c in text).replace("⁄", "/").replace("’", "'").replace("≈", "=")
    for pattern, plain in DRESS:
        text = pattern.sub(plain, text)
    return " ".join(text.split()).strip(" *`\"'")


def decimal(digits: str) -> Fraction | None:
    """Digits with separators as a number; None where they are none (1.2.3, 1,2,3)."""
    for separator in " '_":
        if separator in digits:
            sides = re.split("[.,]", digits)
            return _joined(sides[0].split(separator), "".join(sides[1:])) if len(sides) < 3 else None
    if "," in digits and "." in digits:
        last = "," if digits.rfind(",") > digits.rfind(".") else "."
        whole, _, rest = digits.rpartition(last)
        return _joined(whole.split("," if last == "." else "."), rest)
    groups = re.split("[.,]", digits)
    if len(groups) > 2 or ("," in digits and _grouped(groups)):
        return _joined(groups, "")
    return _joined(groups[:1], "".join(groups[1:]))


def _joined(groups: list[str], rest: str) -> Fraction | None:
    """The groups of the whole part and the decimals as one number."""
    if not _grouped(groups) or not (rest or "0").isdigit():
        return None
    return Fraction(int("".join(groups) + rest or "0"), 10 ** len(rest))


def _grouped(groups: list[str]) -> bool:
    """Whether these are thousands: one group of any length, or one to three digits and then threes; Indian twos before the last."""
    first, *others = groups
    if not others:
        return first.isdigit() or not first
    if not 1 <= len(first) <= 3 or first[0] == "0" or len(others[-1]) != 3:
        return False
    return {len(g) for g in others[:-1]} <= {3} or ({len(g) for g in others[:-1]} <= {2} and len(first) <= 2)


def _plain(character: str) -> str:
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.digit(character))
    simple = unicodedata.normalize("NFKC", character)
    return f" {simple}" if len(simple) > 1 and "⁄" in simple else simple


def _value(found: re.Match[str]) -> Fraction | None:
    value: Fraction | None
    if found["power"]:
        value = Fraction(10) ** int(found["power"])
    elif found["top"]:
        bottom = int(found["bottom"])
        value = int(found["whole"] or 0) + Fraction(int(found["top"]), bottom) if bottom else None
    else:
        value = decimal(found["digits"])
    if value is None:
        return None
    exponent = int(found["e"] or found["times"] or 0) + SCALES.get((found["scale"] or "").lower(), 0)
    sign = -1 if (found["sign"] or found["inner"]) == "-" else 1
    return sign * value * Fraction(10) ** exponent
