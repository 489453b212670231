"""Field types that several records share. The bounds are checked in C by msgspec, so they cost nothing."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

# NaN fails both comparisons, infinity one of them: a finite number, without a loop over the row.
Finite = Annotated[float, Meta(ge=-1.7e308, le=1.7e308)]
Unit = Annotated[float, Meta(ge=0.0, le=1.0)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Name = Annotated[str, Meta(min_length=1)]
Timestamp = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")]


class Message(TypedDict):
    """One chat turn."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    name: NotRequired[str]
