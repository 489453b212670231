"""flag > environment > clawctl.toml > default, and what is wrong is told with its place."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from clawctl.cli import walk
from clawctl.errors import Usage
from clawctl.workspace.paths import Workspace


def value(clawctl, agent, key, *, cwd=None, **variables):
    done = clawctl("config", key, "--json", cwd=cwd or agent.root, **variables)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    return row["value"], row["origin"], row["where"]


def test_a_default_has_no_place(clawctl, agent):
    assert value(clawctl, agent, "tasks.make.train") == (480, "default", None)


def test_the_file_beats_the_default_and_the_environment_the_file(clawctl, agent):
    agent.settings.write_text("seed = 1\n\n[tasks.make]\ntrain = 30\n")
    assert value(clawctl, agent, "tasks.make.train") == (30, "clawctl.toml", f"{agent.settings}:4")
    assert value(clawctl, agent, "tasks.make.seed") == (1, "clawctl.toml", f"{agent.settings}:1")
    given = {"CLAWCTL_TASKS_MAKE_TRAIN": "40"}
    assert value(clawctl, agent, "tasks.make.train", **given) == (40, "environment", "CLAWCTL_TASKS_MAKE_TRAIN")


def test_the_own_table_beats_the_general_key_and_the_own_variable_the_general_one(clawctl, agent):
    agent.settings.write_text("seed = 1\n[tasks.make]\nseed = 2\n")
    assert value(clawctl, agent, "tasks.make.seed")[0] == 2
    assert value(clawctl, agent, "tasks.make.seed", CLAWCTL_SEED="3")[0] == 3
    assert value(clawctl, agent, "tasks.make.seed", CLAWCTL_SEED="3", CLAWCTL_TASKS_MAKE_SEED="4")[0] == 4


def test_the_real_command_obeys_the_same_order(clawctl, agent):
    agent.settings.write_text("[tasks.make]\ntrain = 12\nheldout = 0\nwarmup = 0\n")

    def made(*flags, **variables):
        done = clawctl("tasks", "make", "out", *flags, cwd=agent.root, **variables)
        assert done.returncode == 0, done.stderr
        return len((agent.root / "out" / "train.jsonl").read_text().splitlines())

    assert made() == 12
    assert made(CLAWCTL_TASKS_MAKE_TRAIN="18") == 18
    assert made("--train", 24, CLAWCTL_TASKS_MAKE_TRAIN="18") == 24


def test_settings_are_found_from_a_folder_below_and_by_name(clawctl, agent, tmp_path):
    agent.settings.write_text("seed = 9\n")
    assert value(clawctl, agent, "tasks.make.seed", cwd=agent.tasks)[0] == 9
    done = clawctl("config", "--workspace", agent.root, "tasks.make.seed", cwd=tmp_path)
    assert done.stdout.split()[1] == "9"
    assert value(clawctl, agent, "tasks.make.seed", cwd=tmp_path, CLAWCTL_WORKSPACE=str(agent.root))[0] == 9
    assert clawctl("config", "--path", cwd=agent.tasks).stdout == f"{agent.settings}\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("sed = 3\n", 1, "no command has the setting `sed`"),
        ("\n[generat]\n", 2, "no command has the table [generat]"),
        ("[tasks.make]\ntrian = 3\n", 2, "[tasks.make] has no setting `trian`"),
        ("[tasks]\ntrain = 3\n", 2, "[tasks] has no setting `train`"),
        ('[tasks.make]\n\ntrain = "x"\n', 3, "train: expected a whole number, got 'x'"),
        ("[tasks.make]\ntrain = true\n", 2, "train: expected a whole number, got True"),
        ("[tasks.make]\nkinds = [1]\n", 2, "kinds: expected one value"),
        ("[tasks.make]\nkinds = 4\n", 2, "kinds: expected text in quotes, got 4"),
        ("[tasks.make]\ntrain = -1\n", 2, "train: Input should be greater than or equal to 0"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_line(clawctl, agent, text, line, says):
    agent.settings.write_text(text)
    with pytest.raises(Usage) as error:
        list(walk.settings(agent))
    assert str(error.value).startswith(f"{agent.settings}:{line}: {says}")
    done = clawctl("tasks", "make", "out", cwd=agent.root)
    assert (done.returncode, done.stdout, (agent.root / "out").exists()) == (2, "", False)
    assert f"{agent.settings}:{line}: {says}" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_what_is_no_toml_is_told(clawctl, agent):
    agent.settings.write_text("[generate\n")
    done = clawctl("config", cwd=agent.root)
    assert (done.returncode, "line 1" in done.stderr) == (2, True)


def test_help_works_whatever_the_settings_are(clawctl, agent):
    agent.settings.write_text("[generate\n")
    assert clawctl("generate", "-h", cwd=agent.root).returncode == 0


def test_a_slip_gets_a_suggestion(clawctl, agent):
    agent.settings.write_text("[tasks.make]\nheld-out = 3\n")
    assert "hint: did you mean heldout?" in clawctl("config", cwd=agent.root).stderr
    assert "did you mean CLAWCTL_SEED?" in clawctl("config", CLAWCTL_SEEED="3").stderr


@pytest.mark.parametrize("command", [["config"], ["tasks", "make", "out"]])
def test_a_wrong_variable_is_named(clawctl, agent, command):
    done = clawctl(*command, cwd=agent.root, CLAWCTL_TASKS_MAKE_TRAIN="many")
    assert done.returncode == 2
    assert "CLAWCTL_TASKS_MAKE_TRAIN" in done.stderr


def test_a_foreign_general_key_is_no_error_where_it_does_not_apply(clawctl, agent):
    agent.settings.write_text('model = "starter"\n')
    assert clawctl("schema", "task", cwd=agent.root).returncode == 0


def test_an_unknown_key_asked_for_is_usage(clawctl, agent):
    done = clawctl("config", "no.such", cwd=agent.root)
    assert (done.returncode, done.stdout) == (2, "")


def test_the_starter_file_shows_the_real_defaults(agent):
    """Every line that can be uncommented is a setting, and shows its default."""
    before = {(row["command"], row["key"]): row["value"] for row in walk.settings(agent)}
    shown, _, models = agent.settings.read_text().partition("# Models by name")
    (agent.root / "shown").mkdir()
    other = Workspace(agent.root / "shown")
    other.settings.write_text(re.sub(r"^#(?=\w)", "", shown, flags=re.MULTILINE))
    after = list(walk.settings(other))
    assert len([row for row in after if row["origin"] == "clawctl.toml"]) > 20
    assert {(row["command"], row["key"]): row["value"] for row in after} == before
    assert tomllib.loads(re.sub(r"^#(?=[\w\[])", "", models.partition("\n")[2], flags=re.MULTILINE))["models"]["mine"]
