"""The README names every command, and what it tells people to type is understood."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from clawctl.cli import walk

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
LEAVES = dict(walk.leaves(walk.root()))


def calls() -> list[str]:
    """Every `clawctl ...` of the shell blocks and of the table, one a pipeline's part."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL))
    lines = [re.sub(r"\s#\s.*", "", line) for line in blocks.splitlines()] + re.findall(r"`(clawctl \w[^`]*)`", README)
    parts = [part.strip() for line in lines for part in re.split(r"\||&&", line)]
    return sorted({part[part.index("clawctl ") :] for part in parts if re.match(r"(\w+=\S+ )*clawctl\s+\w", part)})


@pytest.mark.parametrize("name", LEAVES)
def test_names_every_command(name):
    assert f"| `{name}` |" in README
    assert any(call.startswith(f"clawctl {name}") for call in calls())


@pytest.mark.parametrize("call", calls())
def test_every_call_is_understood(call):
    words = shlex.split(call)[1:]
    name = max((n for n in LEAVES if words[: len(n.split())] == n.split()), key=len, default=None)
    assert name, f"no such command: {call}"
    command = LEAVES[name]
    command.parse_args(typer.Context(command, info_name=name), words[len(name.split()) :])
