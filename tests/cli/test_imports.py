"""Starting is quick because nothing heavy is imported before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "peft", "datasets", "llama_cpp", "openai", "gguf", "sklearn", "pandas", "numpy", "pyarrow", "jinja2"}

EVERY_HELP = """
import contextlib, io
from clawctl.cli import walk
with contextlib.redirect_stdout(io.StringIO()):
    for name, command in walk.leaves(walk.root()):
        with contextlib.suppress(SystemExit):
            command.main(["--help"], prog_name=f"clawctl {name}")
"""


def imported(code: str, *args: str) -> set[str]:
    """Top-level modules in sys.modules after `code`."""
    show = "import json, sys; print('\\n' + json.dumps(sorted({m.partition('.')[0] for m in sys.modules})))"
    program = f"import atexit\natexit.register(lambda: exec({show!r}))\n{code}"
    done = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_imports_nothing_heavy():
    modules = imported("from clawctl.cli import main; main()", "--help")
    assert "typer" in modules
    assert not modules & (HEAVY | {"msgspec", "pydantic", "rich"})


def test_the_help_of_every_command_imports_nothing_heavy():
    modules = imported(EVERY_HELP)
    assert not modules & HEAVY


@pytest.mark.parametrize("command", [["schema", "task"], ["status", "--json"], ["config"]])
def test_commands_of_the_house_import_nothing_heavy(agent, command):
    modules = imported(
        "from clawctl.cli import main; main()", *command, *(["--workspace", str(agent.root)] if command[0] != "schema" else [])
    )
    assert not modules & HEAVY


def test_completion_imports_nothing_heavy(monkeypatch):
    monkeypatch.setenv("_CLAWCTL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "clawctl gen")
    monkeypatch.setenv("COMP_CWORD", "1")
    modules = imported("from clawctl.cli import main; main()")
    assert not modules & HEAVY
