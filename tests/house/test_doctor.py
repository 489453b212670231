"""`clawctl doctor`: whatever is wrong is a row with a remedy, never a crash."""

from __future__ import annotations

import os

import pytest

from clawctl.house import doctor, libraries
from clawctl.workspace import machine


def checks(workspace=None, model="starter"):
    return {check["name"]: check for check in doctor.examine(workspace, model)}


@pytest.fixture
def bare(monkeypatch):
    """An environment where no optional library is installed."""
    monkeypatch.setattr(libraries, "version_of", lambda name: None)
    monkeypatch.setattr(doctor, "version_of", lambda name: None)


def test_a_full_installation_can_run_the_loop(ws):
    found = checks(ws)
    assert not [name for name, check in found.items() if check["ok"] is False]
    assert found["training"]["value"].startswith(("cpu ", "cuda "))
    assert "llama.cpp" in found["sampling"]["value"]
    assert len(found["starter"]["value"].rpartition("sha256 ")[2]) == 64
    assert [p.name for p in ws.root.iterdir()] == ["clawctl.toml"]


def test_a_missing_library_comes_with_the_command_that_brings_it(bare):
    found = checks()
    assert (found["torch"]["ok"], found["torch"]["remedy"]) == (False, "pip install 'clawctl-rl[train]'")
    assert (found["llama-cpp-python"]["ok"], found["llama-cpp-python"]["remedy"]) == (False, "pip install 'clawctl-rl[local]'")
    assert (found["datasets"]["ok"], found["datasets"]["remedy"]) == (None, "pip install 'clawctl-rl[datasets]'")


@pytest.mark.parametrize(("text", "says"), [("", "no model or file"), ('[models.mine]\nengine = "openai"\n', "no weights here")])
def test_a_model_that_cannot_be_trained_is_no(ws, bare, text, says):
    ws.settings.write_text(text)
    found = checks(ws, "mine")["mine"]
    assert found["ok"] is False
    assert says in found["value"]


def test_a_full_disk_is_no(monkeypatch, bare, ws):
    monkeypatch.setattr(machine, "disk_free", lambda folder: 10**6)
    assert checks(ws)["disk"]["ok"] is False


def test_a_broken_current_is_no(bare, ws):
    ws.adapters.mkdir(parents=True)
    os.symlink("v009", ws.current)
    found = checks(ws)["in service"]
    assert (found["ok"], "v009" in found["value"]) == (False, True)


def test_a_library_that_does_not_start_is_no(monkeypatch, ws):
    def broken():
        raise OSError("libllama.so: undefined symbol")

    monkeypatch.setattr("clawctl.engines.llama.native.library", broken)
    found = checks(ws)["sampling"]
    assert (found["ok"], "undefined symbol" in found["value"], "reinstall" in found["remedy"]) == (False, True, True)


def test_no_workspace_is_worth_knowing_only(bare):
    assert checks(None)["root"]["ok"] is None
