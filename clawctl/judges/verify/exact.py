"""exact: the answer is this text. White space at the ends and its amount inside do not count; case does, unless `ignore_case`."""

from __future__ import annotations

import unicodedata

from clawctl.judges.verify.mark import RIGHT, WRONG, Mark, Spec, needed


def mark(spec: Spec, text: str) -> Mark:
    """1 when `text` is the `answer`."""
    fold = bool(spec.get("ignore_case"))
    return RIGHT if plain(text, fold) == plain(str(needed(spec, "answer")), fold) else WRONG


def plain(text: str, fold: bool = False) -> str:
    """`text` in one Unicode form, its white space single; `fold` drops case as well."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return text.casefold() if fold else text
