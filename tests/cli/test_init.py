"""`clawctl init`: complete, repeatable, never over what is there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clawctl.records.streams import read_rows


def test_makes_what_the_design_lists(clawctl, tmp_path):
    done = clawctl("init", "agent")
    assert (done.returncode, done.stdout) == (0, "")
    root = tmp_path / "agent"
    for name in ("clawctl.toml", "SOUL.md", "AGENTS.md", "IDENTITY.md", "USER.md", "memory/items"):
        assert (root / name).exists(), name
    assert len(list(read_rows([root / "data/tasks/train.jsonl"], "task"))) >= 400
    assert len(list(read_rows([root / "data/tasks/heldout.jsonl"], "task"))) >= 120


def test_leaves_what_is_there_and_says_so(clawctl, agent):
    (agent.root / "SOUL.md").write_text("mine")
    (agent.root / "USER.md").unlink()
    done = clawctl("init", cwd=agent.root)
    assert done.returncode == 0
    assert (agent.root / "SOUL.md").read_text() == "mine"
    assert "left SOUL.md as it is" in done.stderr
    assert "made USER.md" in done.stderr


def test_does_not_write_through_a_dangling_link(clawctl, agent, tmp_path):
    (agent.root / "USER.md").unlink()
    os.symlink(tmp_path / "elsewhere", agent.root / "USER.md")
    assert clawctl("init", agent.root).returncode == 0
    assert not (tmp_path / "elsewhere").exists()


def test_dry_run_writes_nothing(clawctl, tmp_path):
    done = clawctl("init", "agent", "--dry-run")
    assert (done.returncode, (tmp_path / "agent").exists()) == (0, False)
    assert "would make clawctl.toml" in done.stderr


def test_json_lists_what_was_made(clawctl, tmp_path):
    told = json.loads(clawctl("init", "agent", "--json").stdout)
    assert told["workspace"] == str(tmp_path / "agent")
    assert told["left"] == []
    assert "clawctl.toml" in told["made"]
    again = json.loads(clawctl("init", "agent", "--json").stdout)
    assert (again["made"], again["left"]) == ([], told["made"])


def test_quiet_is_silent(clawctl):
    done = clawctl("init", "agent", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("place", ["agent/data/tasks", "agent/memory/items/deep", "agent/SOUL.md", "/", str(Path.home())])
def test_refuses_places_that_cannot_be_a_workspace(clawctl, agent, place):
    before = sorted(agent.root.rglob("*"))
    done = clawctl("init", place)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert sorted(agent.root.rglob("*")) == before


def test_a_workspace_may_lie_in_another(clawctl, agent):
    assert clawctl("init", "inner", cwd=agent.root).returncode == 0
    assert clawctl("config", "--path", cwd=agent.root / "inner").stdout.strip().endswith("inner/clawctl.toml")


def test_a_folder_that_may_not_be_written_is_one_plain_line(clawctl):
    done = clawctl("init", "/proc/agent")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "unexpected" not in done.stderr
