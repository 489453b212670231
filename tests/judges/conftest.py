"""What the tests of judges share: a rollout by its task's verify and its answer, and one judge that ends with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clawctl.judges.verify.judge import Verify

Row = dict[str, Any]


@pytest.fixture
def rollout() -> Callable[..., Row]:
    def make(verify: dict[str, Any] | None, answer: str = "36", at: int = 0, **more: Any) -> Row:
        completion = f"<step>1. think</step>\n<answer>{answer}</answer>"
        task = {"id": f"t{at}", "prompt": "How many?", "verify": verify}
        return {"id": f"r{at}", "task_id": f"t{at}", "group_id": f"g{at}", "sample": 0, "task": task, "completion": completion, **more}

    return make


@pytest.fixture(scope="module")
def judge() -> Iterator[Verify]:
    verify = Verify()
    yield verify
    verify.close()


@pytest.fixture
def marks(judge: Verify) -> Callable[..., float]:
    """`marks(kind, answer text, **the rest of verify)`: the value that the answer gets."""

    def value(kind: str, text: str | None, **spec: Any) -> float:
        return judge.verify({"kind": kind, **spec}, text, {"completion": text}).value

    return value
