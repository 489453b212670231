"""The wheel alone, with the base dependencies alone: `init` finds what it carries, and every command that needs no model runs."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from clawctl.house.libraries import EXTRAS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(installed, tmp_path):
    def start(*args, code=0, stdin=""):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        done = subprocess.run([installed, *args], cwd=tmp_path, env=environment, input=stdin, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done

    return start


def test_carries_what_a_new_workspace_needs(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("tasks/train.jsonl", "tasks/heldout.jsonl"):
        assert f"clawctl/bundled/{name}" in names
    for folder in ("workflows", "patterns"):
        tracked = [p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file()]
        assert {f"clawctl/bundled/{p}" for p in tracked} <= set(names)
    assert "clawctl/workspace/starter/clawctl.toml" in names


def test_the_base_install_has_no_heavy_library(installed):
    (site,) = installed.parents[1].glob("lib/python*/site-packages")
    assert not {"torch", "transformers", "peft", "datasets", "llama_cpp", "gguf", "openai", "pandas"} & {p.name for p in site.iterdir()}


def test_every_command_that_needs_no_model_runs(run, tmp_path):
    run("init", "agent")
    assert (tmp_path / "agent/data/tasks/train.jsonl").stat().st_size > 10_000
    assert json.loads(run("schema", "rollout").stdout)["title"] == "clawctl.rollout/1"
    at = ("--workspace", "agent")
    assert "generate.seed" in run("config", *at).stdout
    assert json.loads(run("status", *at, "--json").stdout)["adapters"]["current"] is None
    told = json.loads(run("doctor", *at, "--json", code=1).stdout)
    assert "pip install 'clawctl-rl[local]'" in {check["remedy"] for check in told["checks"]}
    run("tasks", "make", "made", "--train", "12", "--heldout", "6", "--warmup", "3")


def test_a_scored_rollout_reaches_the_buffer(run, tmp_path):
    run("init", "agent")
    row = {
        "id": "r1",
        "task_id": "t1",
        "group_id": "g1",
        "sample": 0,
        "task": {"id": "t1", "prompt": "2 + 2?", "verify": {"kind": "number", "answer": "4"}},
        "completion": "<step>1. 2 + 2 = 4</step>\n<answer>4</answer>",
    }
    judged = run("judge", stdin=json.dumps(row) + "\n").stdout
    assert json.loads(judged)["reward"] == 1.0
    run("buffer", "--workspace", "agent", stdin=judged)
    assert json.loads(run("status", "--workspace", "agent", "--json").stdout)["buffer"]["rows"] == 1


@pytest.mark.parametrize("args", [("generate", "agent/data/tasks/heldout.jsonl"), ("train", "--next", "--workspace", "agent")])
def test_a_command_that_lacks_a_library_names_the_command_that_brings_it(run, args):
    run("init", "agent", "-q")
    done = run(*args, code=1 if args[0] == "generate" else 3)
    assert len(done.stderr.splitlines()) <= 3
    assert "Traceback" not in done.stderr


def test_the_optional_libraries_are_those_of_pyproject():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {extra: tuple(line.split(">")[0].split("[")[0] for line in lines) for extra, lines in declared.items()}
    assert named | EXTRAS == named
    assert f"clawctl-rl[{','.join(EXTRAS)}]" in declared["all"]


def test_every_dependency_is_pinned():
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    names = {line.split(">")[0].split("[")[0].lower() for line in lines} - {"clawctl-rl"}
    assert names <= pinned
