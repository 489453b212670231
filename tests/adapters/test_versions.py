"""Names of adapters: what they mean, and what is refused."""

from __future__ import annotations

import pytest

from clawctl.adapters import versions
from clawctl.errors import ClawctlError, Usage
from clawctl.workspace.atomic import replace_symlink


def test_without_adapters_every_general_name_is_the_base_model(ws):
    assert [versions.resolve(ws, name) for name in ("current", "latest", "none")] == [None, None, None]
    assert versions.next_version(ws) == "v001"


def test_latest_is_the_highest_complete_one_by_number(ws, make_version):
    for name in ("v002", "v999", "v1000"):
        make_version(name)
    make_version("v1001", card=False)
    assert versions.resolve(ws, "latest").name == "v1000"
    assert [ref.name for ref in versions.listing(ws)] == ["v002", "v999", "v1000"]
    assert versions.next_version(ws) == "v1002"


def test_current_is_resolved_once_and_a_later_promotion_does_not_move_it(ws, make_version):
    make_version("v001")
    make_version("v002")
    replace_symlink(ws.current, "v001")
    ref = versions.resolve(ws, "current")
    replace_symlink(ws.current, "v002")
    assert ref.name == "v001"
    assert ref.path == (ws.adapters / "v001").resolve()
    assert versions.resolve(ws, "current").name == "v002"
    assert ref.sha256 != versions.resolve(ws, "current").sha256


def test_a_path_works_where_a_name_does(ws, make_version):
    make_version("v001")
    assert versions.resolve(None, str(ws.adapters / "v001")).name == "v001"


def test_absent_and_incomplete_versions_are_told_apart(ws, make_version):
    make_version("v001")
    make_version("v002", card=False)
    with pytest.raises(Usage, match="no adapter v007") as absent:
        versions.resolve(ws, "v007")
    assert "v001" in absent.value.hint
    with pytest.raises(ClawctlError, match="not complete"):
        versions.resolve(ws, "v002")


def test_a_dangling_current_says_how_to_go_back(ws, make_version):
    make_version("v001")
    replace_symlink(ws.current, "v009")
    with pytest.raises(ClawctlError, match=r"current -> v009") as error:
        versions.resolve(ws, "current")
    assert "rollback" in error.value.hint
