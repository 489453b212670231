"""Which tasks are asked."""

from __future__ import annotations

import json

from clawctl.generation.intake import Intake
from clawctl.records.streams import Reader


def test_each_id_once_and_no_more_than_the_limit(tmp_path, caplog):
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(json.dumps({"id": i, "prompt": i}) + "\n" for i in ("a", "b", "a", "c", "d")))
    intake = Intake(Reader([file], "task"), limit=3)
    assert [task["id"] for task in intake] == ["a", "b", "c"]
    assert (intake.tasks, intake.repeated) == (3, 1)
    assert f"{file}:3: task a again" in caplog.text
