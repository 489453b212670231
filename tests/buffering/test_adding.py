"""What comes in, what is refused and why, and that nothing comes in twice."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clawctl.buffering.adding import add
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.rules import seconds
from clawctl.buffering.status import status
from clawctl.buffering.store import open_store
from clawctl.buffering.taking import take
from clawctl.errors import ClawctlError, Usage
from clawctl.records.streams import Reader
from tests.buffering.conftest import SMALL, groups, read, scored, to_file


def ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reward": None}, "unscored"),
        ({"error": {"stage": "generate", "kind": "context", "message": "too long"}, "reward": None}, "errored"),
        ({"error": {"stage": "judge", "kind": "timeout", "message": "slow"}}, "errored"),
        ({"excluded": "truncated"}, "excluded"),
        ({"excluded": ""}, "excluded"),
        ({"created_at": ago(days=2)}, "stale"),
        ({"policy": {"adapter": "v007", "adapter_sha256": "no such"}}, "off-policy"),
    ],
)
def test_rows_that_must_not_train_are_refused_counted_and_kept_aside(ws, store, tmp_path, change, reason):
    bad = scored("a")[0] | change
    rules = replace(SMALL, max_age=86400.0)
    counts = add(store, [bad, scored("a")[1]], rules, Lineage(ws), rejects=tmp_path / "refused")
    assert counts == {"kept": 1, reason: 1}
    assert read(tmp_path / "refused") == [bad]
    assert status(ws, store, rules)["dropped"] == {reason: 1}


def test_no_reward_is_not_a_reward_of_nothing(ws, store):
    rows = [*scored("a", rewards=[0.0, 0.0]), scored("b")[0] | {"reward": None}]
    assert add(store, rows, SMALL, Lineage(ws)) == {"kept": 2, "unscored": 1}


def test_a_row_without_a_reward_key_is_unscored(ws, store):
    assert add(store, [{"id": "x", "task_id": "t", "group_id": "g"}], SMALL, Lineage(ws)) == {"unscored": 1}


def test_age_counts_from_the_sampling_with_any_offset_and_else_from_now(ws, store):
    rules = replace(SMALL, max_age=3600.0)
    east = datetime.fromtimestamp(time.time() - 60).astimezone().isoformat()
    rows = [scored("a")[0] | {"created_at": at, "id": str(n)} for n, at in enumerate([east, ago(seconds=59), None, "2026-99-99T00:00:00"])]
    old = [scored("a")[0] | {"created_at": at, "id": at} for at in ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00", ago(hours=2)]]
    assert add(store, rows + old, rules, Lineage(ws)) == {"kept": 4, "stale": 3}


def test_an_age_has_a_unit():
    assert [seconds(age) for age in ("", "90", "90s", "1.5m", "12h", "7d", "2w")] == [None, 90, 90, 90, 43200, 604800, 1209600]
    for wrong in ("soon", "-1h", "1y", "h"):
        with pytest.raises(Usage, match="not a time span"):
            seconds(wrong)


def test_an_id_comes_in_once_waiting_or_taken_in_this_group_or_another(ws, store):
    rows = groups("a", "b")
    assert add(store, rows + rows, SMALL, Lineage(ws)) == {"kept": 4, "duplicate": 4}
    assert add(store, [rows[0] | {"group_id": "c"}], SMALL, Lineage(ws)) == {"duplicate": 1}
    assert status(ws, store, SMALL)["groups"] == 2
    assert take(ws, store, SMALL)
    assert add(store, rows, SMALL, Lineage(ws)) == {"duplicate": 4}
    assert status(ws, store, SMALL)["rows"] == 0


def test_a_member_that_comes_after_its_group_left_is_late(ws, store):
    add(store, groups("a", "b"), SMALL, Lineage(ws))
    take(ws, store, SMALL)
    assert add(store, [scored("a")[0] | {"id": "new"}], SMALL, Lineage(ws)) == {"late": 1}


def test_a_group_has_one_policy(ws, store, make_version):
    ref = make_version("v001")
    newer = {"adapter": "v001", "adapter_sha256": ref.sha256}
    rows = [scored("a")[0], scored("a")[1] | {"policy": newer}]
    assert add(store, rows, SMALL, Lineage(ws)) == {"kept": 1, "mixed": 1}


def test_lines_are_kept_as_they_came(ws, store, tmp_path):
    line = b'{"id": "a/%d", "task_id":"t",  "group_id":"a","reward":1e0,"mine":{"big":123456789012345678901234567890,"f":0.10}}'
    (tmp_path / "rows.jsonl").write_bytes(b"\xef\xbb\xbf" + line % 0 + b"\r\n" + line % 1)
    add(store, Reader([tmp_path / "rows.jsonl"], "rollout"), SMALL, Lineage(ws))
    assert take(ws, store, SMALL, partial=True).path.read_bytes() == line % 0 + b"\n" + line % 1 + b"\n"


def test_what_came_before_a_bad_line_stays(ws, store, tmp_path):
    to_file(tmp_path / "rows.jsonl", groups("a"))
    with open(tmp_path / "rows.jsonl", "a") as file:
        file.write("oops\n")
    with pytest.raises(ClawctlError, match=r"rows\.jsonl:3"):
        add(store, Reader([tmp_path / "rows.jsonl"], "rollout", on_error="stop"), SMALL, Lineage(ws))
    assert status(ws, store, SMALL)["rows"] == 2


def test_a_store_that_was_removed_still_knows_what_was_taken(ws):
    rows = groups("a", "b", "c")
    with open_store(ws) as store:
        add(store, rows, SMALL, Lineage(ws))
        take(ws, store, SMALL)
    for file in ws.buffer.glob("pending.sqlite*"):
        file.unlink()
    with open_store(ws) as store:
        assert add(store, rows, SMALL, Lineage(ws)) == {"kept": 2, "duplicate": 4}
        assert add(store, [scored("a")[0] | {"id": "new"}], SMALL, Lineage(ws)) == {"late": 1}
        assert take(ws, store, SMALL, partial=True).name == "batch-000002"


def test_a_store_put_back_from_a_copy_learns_what_was_taken_since(ws):
    with open_store(ws) as store:
        add(store, groups("a", "b"), SMALL, Lineage(ws))
    copy = (ws.buffer / "pending.sqlite").read_bytes()
    with open_store(ws) as store:
        take(ws, store, SMALL)
    (ws.buffer / "pending.sqlite").write_bytes(copy)
    with open_store(ws) as store:
        assert status(ws, store, SMALL)["rows"] == 0
        assert take(ws, store, SMALL, partial=True) is None
        assert add(store, groups("a", "b"), SMALL, Lineage(ws)) == {"duplicate": 4}


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_store_is_told(ws, content):
    ws.buffer.mkdir(parents=True)
    (ws.buffer / "pending.sqlite").write_bytes(content)
    with pytest.raises(ClawctlError, match=r"pending\.sqlite: ") as error:
        open_store(ws)
    assert "move it away" in error.value.hint
