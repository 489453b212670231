"""Which batch is next, and that none is trained on twice."""

from __future__ import annotations

import pytest

from clawctl.buffering import batches
from clawctl.buffering.adding import add
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.taking import take
from tests.buffering.conftest import SMALL, groups


@pytest.fixture
def three(ws, store):
    add(store, groups(*"abcdef"), SMALL, Lineage(ws))
    return [take(ws, store, SMALL) for _ in range(3)]


def test_batches_are_next_in_turn_until_they_are_trained_on(ws, three):
    assert batches.untrained(ws) == ["batch-000001", "batch-000002", "batch-000003"]
    assert batches.next_untrained(ws) == three[0].path
    batches.mark_trained(ws, "batch-000001", "v001")
    batches.mark_trained(ws, "batch-000001", "v001")
    assert batches.next_untrained(ws) == three[1].path
    for name in ("batch-000003", "batch-000002"):
        batches.mark_trained(ws, name, "v002")
    assert batches.next_untrained(ws) is None
    assert batches.untrained(ws) == []


def test_a_card_that_names_a_batch_counts_though_the_ledger_does_not_know_yet(ws, three, make_version):
    make_version("v001", batches=["batch-000001", "batch-000002"])
    assert batches.next_untrained(ws) == three[2].path


def test_a_batch_that_teaches_nothing_is_not_next_for_ever(ws, three):
    batches.pass_over(ws, "batch-000001", "no signal")
    assert batches.next_untrained(ws) == three[1].path


def test_a_batch_whose_file_is_gone_is_passed_over_aloud(ws, three, caplog):
    caplog.set_level("WARNING", logger="clawctl")
    three[0].path.unlink()
    assert batches.next_untrained(ws) == three[1].path
    assert "batch-000001 was taken, but its file is gone" in caplog.text


def test_a_file_that_was_not_taken_is_not_next(ws):
    ws.batches.mkdir(parents=True)
    (ws.batches / "batch-000001.jsonl").write_text("")
    assert batches.next_untrained(ws) is None


def test_a_batch_is_named_by_its_file(ws):
    assert batches.batch_id(batches.path_of(ws, "batch-000007")) == "batch-000007"
    assert batches.batch_id("elsewhere/batch-000007.jsonl.zst") == "batch-000007"
