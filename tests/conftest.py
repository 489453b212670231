"""Fixtures that several packages' tests share: a bare workspace, and hand-made adapter versions in it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from clawctl.adapters.versions import AdapterRef, read
from clawctl.workspace.atomic import new_folder
from clawctl.workspace.paths import Workspace

BASE = "b" * 64


@pytest.fixture
def ws(tmp_path) -> Workspace:
    (tmp_path / "clawctl.toml").touch()
    return Workspace(tmp_path)


@pytest.fixture
def make_version(ws) -> Callable[..., AdapterRef]:
    def make(name: str, *, card: bool = True, base: str = BASE, **more) -> AdapterRef | None:
        with new_folder(ws.adapters / name) as folder:
            (folder / "adapter.gguf").write_bytes(name.encode())
            if card:
                (folder / "card.json").write_text(json.dumps({"version": name, "base": {"sha256": base}, **more}))
        return read(ws.adapters / name) if card else None

    return make
