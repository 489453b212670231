"""How far behind a policy is, over the cards of its line."""

from __future__ import annotations

import pytest

from clawctl.buffering.lineage import Lineage


@pytest.fixture
def policy(make_version):
    """Make a version and give the policy that a row sampled with it has."""

    def make(name: str, parent: str | None = None, **card):
        ref = make_version(name, parent=parent, **card)
        return {"base_sha256": ref.base_sha256, "adapter": name, "adapter_sha256": ref.sha256}

    return make


BARE = {"base_sha256": "b" * 64, "adapter": None, "adapter_sha256": None}


def test_without_adapters_the_base_model_is_the_newest(ws):
    lineage = Lineage(ws)
    assert [lineage.lag(policy) for policy in (BARE, {}, {"base_sha256": "other"})] == [0, 0, 0]
    assert lineage.lag({"adapter": "v001", "adapter_sha256": "x"}) is None


def test_lag_counts_versions_down_the_line_of_current_to_the_base_model(ws, policy):
    one, two, three = policy("v001"), policy("v002", "v001"), policy("v003", "v002")
    ws.current.symlink_to("v003")
    lineage = Lineage(ws)
    assert [lineage.lag(p) for p in (three, two, one, BARE, {})] == [0, 1, 2, 3, 3]


def test_a_candidate_that_is_newer_than_current_is_the_newest_of_its_own_line(ws, policy):
    one, two, three = policy("v001"), policy("v002", "v001"), policy("v003", "v002")
    ws.current.symlink_to("v001")
    lineage = Lineage(ws)
    assert [lineage.lag(p) for p in (three, two, one)] == [0, 1, 0]
    assert lineage.lag(BARE) == 1, "by the line of current, the shorter way"


def test_with_no_adapter_in_service_the_base_model_is_on_policy(ws, policy):
    one = policy("v001")
    assert [Lineage(ws).lag(p) for p in (one, BARE)] == [0, 0]


def test_a_branch_that_was_given_up_is_off_policy(ws, policy):
    policy("v001")
    given_up = policy("v002", "v001")
    three = policy("v003", "v001")
    ws.current.symlink_to("v003")
    lineage = Lineage(ws)
    assert [lineage.lag(given_up), lineage.lag(three)] == [None, 0]


def test_the_same_name_with_another_hash_is_another_adapter(ws, policy):
    one = policy("v001")
    ws.current.symlink_to("v001")
    lineage = Lineage(ws)
    assert lineage.lag(one | {"adapter_sha256": "f" * 64}) is None
    assert lineage.lag(one | {"adapter_sha256": None}) == 0
    assert lineage.lag(one | {"adapter": "my-copy"}) == 0, "the same weights under another name"


def test_a_parent_whose_folder_was_removed_still_counts_and_ends_the_line(ws, policy):
    two = policy("v002", "v001", parent_sha256="a" * 64)
    ws.current.symlink_to("v002")
    lineage = Lineage(ws)
    assert lineage.lag(two) == 0
    assert lineage.lag({"base_sha256": "b" * 64, "adapter": "v001", "adapter_sha256": "a" * 64}) == 1
    assert lineage.lag(BARE) is None


def test_each_base_model_has_lines_of_its_own(ws, policy):
    one = policy("v001")
    other = policy("v002", base="c" * 64)
    ws.current.symlink_to("v001")
    lineage = Lineage(ws)
    assert [lineage.lag(p) for p in (one, BARE, other)] == [0, 1, 0]
    assert lineage.lag(BARE | {"base_sha256": "c" * 64}) == 0, "nothing of the other model is in service"
    assert lineage.lag(BARE | {"base_sha256": "d" * 64}) == 0
    assert lineage.lag(one | {"base_sha256": "c" * 64}) is None


def test_cards_that_go_in_a_circle_end(ws, policy):
    one = policy("v001", "v002")
    policy("v002", "v001")
    assert Lineage(ws).lag(one) == 1
