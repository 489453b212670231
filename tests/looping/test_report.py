"""The table that a loop ends with."""

from __future__ import annotations

from clawctl.looping.report import progress_rows, seconds_by_stage, table_lines

LOG = [
    {"round": -1, "stage": "base", "seconds": 50.0, "pass_rate": 0.0, "format_rate": 0.0},
    {"round": 0, "stage": "train", "seconds": 60.0},
    {"round": 0, "stage": "promote", "seconds": 25.0, "candidate": "v001", "decision": "promoted", "pass_rate": 0.48, "format_rate": 1.0},
    {"round": 1, "stage": "generate", "seconds": 20.0},
    {"round": 1, "stage": "generate", "seconds": 3.0},
    {"round": 1, "stage": "train", "seconds": 10.0},
    {"round": 1, "stage": "promote", "seconds": 25.0, "candidate": "v002", "decision": "refused", "pass_rate": 0.5, "format_rate": 1.0},
    {"round": 2, "stage": "promote", "seconds": 0.0, "decision": None},
]


def test_one_row_for_the_base_and_for_every_round():
    rows = progress_rows(LOG)
    assert [row["round"] for row in rows] == [-1, 0, 1, 2]
    assert [row.get("pass_rate") for row in rows] == [0.0, 0.48, 0.5, None]
    assert [row["version"] for row in rows] == [None, "v001", "v002", None]


def test_time_is_told_by_stage():
    assert seconds_by_stage(progress_rows(LOG)) == {"base": 50.0, "generate": 3.0, "train": 70.0, "promote": 50.0}


def test_the_table_is_for_people():
    lines = table_lines(progress_rows(LOG))
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[1].split() == ["base", "model", "-", "0.000", "0.000", "-", "50"]
    assert "2.9 minutes" in lines[-1]
