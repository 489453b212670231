"""Ids and seeds: the same input gives the same, other input gives another."""

from __future__ import annotations

from clawctl.records.ids import content_id, derive_seed, now


def test_an_id_depends_on_values_and_not_on_the_order_of_keys():
    assert content_id({"a": 1, "b": [2, None]}, "x") == content_id({"b": [2, None], "a": 1}, "x")
    seen = {content_id(*parts) for parts in [("a", "b"), ("b", "a"), ("ab",), ("a", "b", None), (["a", "b"],), (1,), ("1",), (1.0,)]}
    assert len(seen) == 8


def test_an_id_never_changes_between_versions():
    assert content_id("task", {"prompt": "2+2?"}, 3) == "ff6db61c07d3bed2"


def test_any_text_gets_an_id():
    assert len(content_id("\ud800", "\u2028", "é", "\0")) == 16


def test_seeds_differ_in_every_part_and_fit_a_sampler():
    seeds = {
        derive_seed(seed, task, round_, sample) for seed in (0, 1) for task in ("a", "b") for round_ in (0, 1) for sample in range(500)
    }
    assert len(seeds) == 4000
    assert all(0 < seed < 2**31 for seed in seeds)


def test_parts_of_a_seed_do_not_run_together():
    assert derive_seed(1, "1", 1, 11) != derive_seed(1, "1", 11, 1)
    assert derive_seed(1, "2", 3, 4) != derive_seed(12, "", 3, 4)


def test_now_is_rfc_3339():
    assert now().endswith("Z")
    assert len(now()) == len("2026-01-01T00:00:00.000Z")
