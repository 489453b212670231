"""The kinds of verification, by the name that a task gives in `verify.kind`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from clawctl.judges.verify import choice, code, command, contains, exact, json, math, number, regex


class Kind(NamedTuple):
    """How a kind is run. `whole`: it looks at the whole completion where that has no answer of its own; the others then give 0.

    needs: keys of `verify` without which a task of this kind cannot be judged.

    where: "here" in this process, "worker" in one that is killed after `timeout` seconds, "program" if it starts a program itself.
    """

    mark: Callable[..., Any]
    where: Literal["here", "worker", "program"] = "here"
    whole: bool = False
    timeout: float = 0.0
    warm: Callable[[], None] | None = None
    needs: tuple[str, ...] = ("answer",)


KINDS: dict[str, Kind] = {
    "exact": Kind(exact.mark),
    "number": Kind(number.mark),
    "choice": Kind(choice.mark),
    "contains": Kind(contains.mark, whole=True, needs=()),
    "regex": Kind(regex.mark, "worker", whole=True, timeout=2.0, needs=("pattern",)),
    "json": Kind(json.mark, "worker", whole=True, timeout=5.0, warm=json.warm, needs=()),
    "math": Kind(math.mark, "worker", timeout=5.0, warm=math.warm),
    "code": Kind(code.mark, "program", whole=True, timeout=10.0, needs=("tests",)),
    "command": Kind(command.mark, "program", whole=True, timeout=30.0, needs=("argv",)),
}
