"""Data sets as tasks: every format gives the same rows, holes are named and left out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from clawctl.errors import ClawctlError, Usage
from clawctl.records.steps import parse
from clawctl.tasks.dataset import Mapping, Source
from clawctl.tasks.tables import rows

SAMPLE = Path(__file__).parents[1] / "data" / "gsm8k_sample.jsonl"
NESTED = Mapping(prompt="prompt", answer="verify.answer", id="id", type="math", verify="number")


def sample():
    return [json.loads(line) for line in SAMPLE.read_text().splitlines()]


def clawctl(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "clawctl", *map(str, arguments)], capture_output=True, text=True, check=False, **options)


@pytest.fixture
def written(tmp_path):
    """The sample in every format that `datasets` writes."""
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    table = datasets.Dataset.from_list(sample())
    table.to_parquet(str(tmp_path / "sample.parquet"))
    table.flatten().to_csv(str(tmp_path / "sample.csv"))
    table.save_to_disk(str(tmp_path / "saved"))
    datasets.DatasetDict({"train": table, "test": table.select(range(3))}).save_to_disk(str(tmp_path / "splits"))
    (tmp_path / "hub").mkdir()
    table.to_parquet(str(tmp_path / "hub" / "train.parquet"))
    (tmp_path / "sample.json").write_text(json.dumps(sample()))
    (tmp_path / "lines.json").write_bytes(SAMPLE.read_bytes())
    with gzip.open(tmp_path / "sample.jsonl.gz", "wb") as file:
        file.write(SAMPLE.read_bytes())
    return tmp_path


def test_to_any_format_and_back(written):
    for name in ("sample.parquet", "sample.csv", "saved", "splits", "hub", "sample.json", "lines.json", "sample.jsonl.gz"):
        assert list(Source(rows(str(written / name)), NESTED, "gsm8k")) == sample(), name
    assert len(list(rows(str(written / "splits"), split="test"))) == 3


def test_the_command_gives_the_same_and_ends_well_when_cut_short(written):
    columns = ["--prompt-column", "prompt", "--answer-column", "verify.answer", "--id-column", "id", "--verify", "number", "--type", "math"]
    done = clawctl("tasks", "from-dataset", written / "sample.parquet", *columns, "--limit", 5, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line) for line in done.stdout.splitlines()] == sample()[:5]


def made(table, **mapping):
    source = Source(table, Mapping(**{"prompt": "q", "answer": "a", **mapping}), "t")
    return list(source), source


def test_the_answer_is_the_last_match_and_lines_become_steps():
    text = "He sells 48/2 = 24.\nIn all 48 + 24 = 72.\n#### 72"
    (task,), _ = made([{"q": "How many?", "a": text}], answer_regex=r"#### (.+)", solution="a", verify="number")
    assert task["verify"] == {"kind": "number", "answer": "72"}
    parsed = parse(task["solution"])
    assert parsed.strict
    assert [step.text for step in parsed.steps] == ["He sells 48/2 = 24.", "In all 48 + 24 = 72."]
    assert parsed.answer == "72"


def test_holes_are_reported_by_row_and_left_out(caplog):
    table = [
        {"q": "one", "a": 1},
        {"q": None, "a": 2},
        {"q": "three", "a": float("nan")},
        {"q": "four", "a": {"x": 1}},
        {"q": "five", "a": 5.0},
    ]
    tasks, source = made(table)
    assert [task["verify"]["answer"] for task in tasks] == ["1", "5"]
    assert (source.made, source.skipped) == (2, 3)
    assert [record.message.partition(":")[0] for record in caplog.records] == ["row 2", "row 3", "row 4"]


@pytest.mark.parametrize("answer", ["dog", 1, "1", "B", "b"])
def test_choices_by_text_position_or_letter(answer):
    (task,), _ = made([{"q": "Which barks?", "a": answer, "c": {"text": ["cat", "dog"]}}], choices="c.text", verify="choice")
    assert task["verify"] == {"kind": "choice", "answer": "dog", "choices": ["cat", "dog"]}
    assert "cat | dog" in task["prompt"]


def test_every_verifier_gets_its_own_key():
    row = {"q": "x", "a": "t"}
    got = {kind: made([row], verify=kind)[0][0]["verify"] for kind in ("regex", "contains", "code", "math")}
    assert got["regex"]["pattern"] == "t"
    assert got["contains"]["all"] == ["t"]
    assert got["code"]["tests"] == "t"
    assert got["math"]["answer"] == "t"


def test_ids_are_made_where_none_are_given():
    tasks, _ = made([{"q": "same", "a": 1}, {"q": "same", "a": 1}])
    assert len({task["id"] for task in tasks}) == 2
    assert tasks == made([{"q": "same", "a": 1}, {"q": "same", "a": 1}])[0]


def test_a_csv_keeps_what_its_cells_say(tmp_path):
    pytest.importorskip("datasets")
    (tmp_path / "t.csv").write_text("id,q,a\n007,one,36\n008,two,\n009,NA,1\n")
    source = Source(rows(str(tmp_path / "t.csv")), Mapping("q", "a", id="id"), "t")
    assert [(task["id"], task["prompt"], task["verify"]["answer"]) for task in source] == [("007", "one", "36"), ("009", "NA", "1")]
    assert source.skipped == 1


def test_class_labels_are_read_by_name(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"q": datasets.Value("string"), "a": datasets.ClassLabel(names=["no", "yes"])})
    datasets.Dataset.from_dict({"q": ["is it?"], "a": [1]}, features=features).save_to_disk(str(tmp_path / "labels"))
    (task,) = Source(rows(str(tmp_path / "labels")), Mapping("q", "a"), "t")
    assert task["verify"]["answer"] == "yes"


def test_rows_with_other_keys_are_no_trouble(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"q":"a","a":1}\nnot json\n{"q":"b","a":"two","more":{"x":[1]}}\n')
    assert [task["prompt"] for task in Source(rows(str(tmp_path / "t.jsonl")), Mapping("q", "a"), "t")] == ["a", "b"]


def test_what_is_wrong_is_said_in_one_line(tmp_path):
    with pytest.raises(Usage, match="no column 'question'"):
        list(Source(iter([{"q": 1, "a": 1}]), Mapping("question", "a"), "t"))
    with pytest.raises(Usage, match="choices-column"):
        Source([], Mapping("q", "a", verify="choice"), "t")
    with pytest.raises(Usage, match="answer-regex"):
        Source([], Mapping("q", "a", answer_regex="("), "t")
    with pytest.raises(ClawctlError, match="no such file"):
        rows(str(tmp_path / "absent.parquet"))
    (tmp_path / "table.xls").write_text("x")
    with pytest.raises(ClawctlError, match="format"):
        rows(str(tmp_path / "table.xls"))
    pytest.importorskip("datasets")
    (tmp_path / "broken.parquet").write_text("x")
    with pytest.raises(ClawctlError, match=r"broken\.parquet"):
        list(rows(str(tmp_path / "broken.parquet")))


def test_no_network_is_one_line(tmp_path):
    pytest.importorskip("datasets")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = clawctl("tasks", "from-dataset", "openai/gsm8k", "--prompt-column", "question", "--answer-column", "answer", env=env)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) == 2, done.stderr
    assert lines[1].startswith("hint: ")


def test_nothing_made_is_a_no(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"q":"a","a":null}\n')
    done = clawctl(
        "tasks", "from-dataset", tmp_path / "t.jsonl", "--prompt-column", "q", "--answer-column", "a", "-o", tmp_path / "out.jsonl"
    )
    assert done.returncode == 3
    assert not (tmp_path / "out.jsonl").exists()
