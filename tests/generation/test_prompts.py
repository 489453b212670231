"""From a task to its chat."""

from __future__ import annotations

import pytest

from clawctl.errors import Usage
from clawctl.generation.prompts import SYSTEM, messages_for, read_system
from clawctl.records.steps import parse


def test_a_prompt_is_asked_under_the_step_format():
    assert messages_for({"id": "a", "prompt": "2+2?"}) == [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "2+2?"},
    ]
    assert len(parse(SYSTEM).steps) == 2  # the prompt shows the format itself


def test_messages_keep_their_own_system_prompt():
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    assert messages_for({"id": "a", "messages": turns, "prompt": "not this"}) == turns
    assert messages_for({"id": "a", "messages": turns[1:]})[0]["content"] == SYSTEM


@pytest.mark.parametrize("none", [None, ""])
def test_the_system_prompt_can_be_left_out(none):
    assert messages_for({"id": "a", "prompt": "2+2?"}, none) == [{"role": "user", "content": "2+2?"}]


def test_system_option(tmp_path):
    (tmp_path / "s.txt").write_text("Be brief.\n")
    assert read_system(None) == SYSTEM
    assert read_system("none") is None
    assert read_system(str(tmp_path / "s.txt")) == "Be brief."
    with pytest.raises(Usage, match="No such file"):
        read_system(str(tmp_path / "absent"))
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    with pytest.raises(Usage, match="--system"):
        read_system(str(tmp_path / "b"))
