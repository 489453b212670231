"""The help is true: the table says what the commands say, every command has an example, and every example runs."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from clawctl.cli import Root, walk
from clawctl.workspace.new import create

EXAMPLE = re.compile(r"^\s*Example: (clawctl .+)$", re.MULTILINE)
LEAVES = dict(walk.leaves(walk.root()))
TOP = {name: walk.root().load(name) for name in Root.entries}
EXAMPLES = sorted({line for command in [*LEAVES.values(), *TOP.values()] for line in EXAMPLE.findall(command.help or "")})
WITH_MODEL = re.compile(r"clawctl (generate|train|eval|promote|loop|demo)\b")

# Everything small, so that an example takes seconds: the settings do here what they do for users.
SMALL = """\
[generate]
samples = 2
max_tokens = 48

[buffer]
batch_size = 2
group_size = 2

[eval]
limit = 4

[loop]
groups = 2
samples = 2

[demo]
groups = 2
samples = 2
"""


@pytest.mark.parametrize("name", TOP)
def test_the_table_says_what_the_command_says(name):
    assert Root.entries[name].help == inspect.cleandoc(TOP[name].help).splitlines()[0]


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_says_what_it_does_and_how_to_call_it(name):
    text = inspect.cleandoc(LEAVES[name].help)
    first, *rest = text.splitlines()
    assert first.endswith(".")
    assert any(re.match(rf"Example: .*clawctl {name}\b", line) for line in rest), "an example of this very command"


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_is_explained(name):
    for parameter in LEAVES[name].params:
        assert parameter.help, f"{name} {parameter.opts}"
        assert not parameter.show_envvar


@pytest.mark.parametrize("name", ["generate", "tasks", "tasks make"])
def test_h_is_help(clawctl, name):
    done = clawctl(*name.split(), "-h")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Usage: clawctl {name}" in done.stdout


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_can_be_copied(clawctl, line):
    name = next(n for n, command in {**LEAVES, **TOP}.items() if line in (command.help or ""))
    assert f"Example: {line}\n" in clawctl(*name.split(), "-h", TERM="dumb", COLUMNS="60").stdout


@pytest.fixture(scope="session")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace in which a round has been done, with the files that the examples name."""
    root = create(tmp_path_factory.mktemp("examples") / "agent").root
    (root / "clawctl.toml").write_text(SMALL)
    for file in (root / "data/tasks").glob("*.jsonl"):
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:8]))
    shutil.copytree(root / "data/tasks", root / "demo/data/tasks")  # the demo completes what is there
    shell("clawctl train --algorithm sft data/tasks/warmup.jsonl --epochs 1 --from none", root)
    shell("clawctl promote latest --eval data/tasks/heldout.jsonl --force", root)
    shell("clawctl generate data/tasks/train.jsonl -o rollouts.jsonl && clawctl judge rollouts.jsonl -o scored.jsonl", root)
    shell("clawctl train --algorithm sft data/tasks/warmup.jsonl --epochs 1", root)
    return root


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Where an example runs: a copy of the used workspace for those that run a model, a new one for the others."""
    root = tmp_path / "agent"
    if request.node.get_closest_marker("slow"):
        used = request.getfixturevalue("used")
        shutil.copytree(used, root, symlinks=True, ignore=shutil.ignore_patterns("models"))
        for data in (root / "data", root / "demo/data"):
            (data / "models").symlink_to(used / "data/models")  # half a gigabyte that every example may share
        return root
    create(root)
    (root / "rollouts.jsonl").write_bytes(msgspec.json.encode(ROLLOUT) + b"\n")
    return root


ROLLOUT = {
    "id": "r1",
    "task_id": "t1",
    "group_id": "g1",
    "sample": 0,
    "task": {"id": "t1", "prompt": "2 + 2?", "verify": {"kind": "number", "answer": "4"}},
    "completion": "<step>1. 2 + 2 = 4</step>\n<answer>4</answer>",
}


@pytest.mark.parametrize("line", [pytest.param(x, marks=pytest.mark.slow) if WITH_MODEL.search(x) else x for x in EXAMPLES])
def test_every_example_runs(place, line):
    shell(line, place, allowed=(0, 3))


def shell(line: str, cwd: Path, allowed: tuple[int, ...] = (0,)) -> str:
    """Run a line as a user's script does, `clawctl` being this environment's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAWCTL_")}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode in allowed, f"{line}\nexit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout
