"""Units that an answer may carry: which are the same, and how many of one make another."""

from __future__ import annotations

from fractions import Fraction

# dimension -> spellings -> how many of the first one. What means two things (pound, in, M) is not here: it is never held against an answer.
UNITS: dict[str, dict[str, int | str]] = {
    "length": {
        "m meter metre": 1,
        "km kilometer kilometre": 1000,
        "cm centimeter centimetre": "1/100",
        "mm millimeter millimetre": "1/1000",
        "inch inches": "254/10000",
        "ft foot feet": "3048/10000",
        "yd yard": "9144/10000",
        "mi mile": "1609344/1000",
    },
    "mass": {
        "g gram": 1,
        "kg kilogram kilo": 1000,
        "mg milligram": "1/1000",
        "tonne": 1000000,
        "lb lbs": "45359237/100000",
        "oz ounce": "45359237/1600000",
    },
    "time": {
        "s sec second": 1,
        "ms millisecond": "1/1000",
        "min minute": 60,
        "h hr hour": 3600,
        "day": 86400,
        "week": 604800,
    },
    "volume": {"l liter litre": 1, "ml milliliter millilitre": "1/1000", "cl centiliter centilitre": "1/100"},
    "dollar": {"$ usd dollar buck": 1, "cent ¢": "1/100"},
    "euro": {"€ eur euro": 1},
    "pound sterling": {"£ gbp": 1},
    "yen": {"¥ jpy yen": 1},
    "rupee": {"₹ inr rupee": 1},
    "percent": {"% percent percentage pct": 1},
}

BY_NAME: dict[str, tuple[str, Fraction]] = {
    name: (dimension, Fraction(factor))
    for dimension, table in UNITS.items()
    for spellings, factor in table.items()
    for name in spellings.split()
}


def unit_of(word: str) -> tuple[str, Fraction] | None:
    """(dimension, factor) of a unit's name or sign, in the plural too; None for any other word."""
    word = word.strip(".").casefold()
    return BY_NAME.get(word) or (BY_NAME.get(word[:-1]) if word.endswith("s") and len(word) > 3 else None)
