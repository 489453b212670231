"""OUT.part: nothing that was finished is drawn again, nothing torn is kept, nothing foreign is mixed in."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from clawctl.engines import SamplingParams
from clawctl.errors import Busy, ClawctlError, Usage
from clawctl.generation.prompts import SYSTEM
from clawctl.generation.resume import Part, Settings, sink
from clawctl.generation.stage import generate
from clawctl.records.streams import Reader, Writer, encode_row

TASKS = [{"id": f"t{n}", "prompt": f"What is {n}?"} for n in range(3)]
PARAMS = SamplingParams(max_tokens=20)


@pytest.fixture
def settings(engine) -> Settings:
    return Settings(engine.policy, PARAMS, 0, 0, SYSTEM)


@pytest.fixture
def whole(engine) -> list[dict]:
    return list(generate(TASKS, engine, PARAMS, samples=4))


def run(out, engine, settings, samples=4) -> int:
    """Generate into `out` as --resume does; how many rows were drawn."""
    drawn = 0
    with Part(out, settings) as part:
        for row in generate(TASKS, engine, PARAMS, samples=samples, seed=settings.seed, owed=part.owed):
            part.write(row)
            drawn += 1
    return drawn


def timeless(rows):
    return [{key: value for key, value in row.items() if key != "created_at"} for row in rows]


@pytest.mark.parametrize("torn", [0, 1, 200])
@pytest.mark.parametrize("done", [0, 1, 6, 12])
def test_it_goes_on_where_it_was_killed(tmp_path, engine, settings, whole, done, torn):
    out = tmp_path / "out.jsonl"
    data = b"".join(map(encode_row, whole))
    kept = sum(len(encode_row(row)) for row in whole[:done])
    (tmp_path / "out.jsonl.part").write_bytes(data[: kept + torn])
    assert run(out, engine, settings) == 12 - done
    assert timeless(Reader([out], "rollout")) == timeless(whole)
    assert list(tmp_path.iterdir()) == [out]


def test_a_whole_output_is_gone_on_with_too(tmp_path, engine, settings, whole):
    out = tmp_path / "out.jsonl"
    assert run(out, engine, settings) == 12
    before = out.read_bytes()
    assert run(out, engine, settings) == 0
    assert out.read_bytes() == before
    assert run(out, engine, settings, samples=5) == 3
    assert out.read_bytes().startswith(before)


def test_killed_while_a_whole_output_was_taken_over(tmp_path, engine, settings, whole):
    out = tmp_path / "out.jsonl"
    run(out, engine, settings)
    (tmp_path / "out.jsonl.part").write_bytes(out.read_bytes()[:3000])
    assert run(out, engine, settings) == 0
    assert timeless(Reader([out], "rollout")) == timeless(whole)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"seed": 1}, "seed or round"),
        ({"round_": 1}, "seed or round"),
        ({"system": "Be brief."}, "system"),
        ({"params": replace(PARAMS, temperature=0.5, top_k=3)}, "sampling.temperature, sampling.top_k"),
        ({"params": replace(PARAMS, stop=("x",))}, "sampling.stop"),
        ({"policy": {"adapter_sha256": "f" * 64}}, "policy.adapter_sha256"),
    ],
)
def test_rows_made_otherwise_are_refused_by_name(tmp_path, engine, settings, other, named):
    out = tmp_path / "out.jsonl"
    run(out, engine, settings)
    before = out.read_bytes()
    changed = {**settings.__dict__, **other}
    if "policy" in other:
        changed["policy"] = settings.policy | other["policy"]
    with pytest.raises(Usage, match=rf"out\.jsonl:1: made with another {named}$"), Part(out, Settings(**changed)):
        pass
    assert out.read_bytes() == before
    assert list(tmp_path.iterdir()) == [out]


def test_what_is_no_rollout_is_refused(tmp_path, settings):
    (tmp_path / "out.jsonl.part").write_text('{"my": "notes"}\n')
    with pytest.raises(ClawctlError, match=r"out\.jsonl\.part:1"), Part(tmp_path / "out.jsonl", settings):
        pass
    assert json.loads((tmp_path / "out.jsonl.part").read_text()) == {"my": "notes"}


def test_an_interrupted_run_leaves_its_part(tmp_path, engine, settings, whole, caplog):
    out = tmp_path / "out.jsonl"

    def interrupted():
        yield whole[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Part(out, settings) as part:
        part.write_all(interrupted())
    assert not out.exists()
    assert "--resume goes on from there" in caplog.text
    assert run(out, engine, settings) == 11


def test_only_one_process_writes_a_file(tmp_path, settings):
    with Part(tmp_path / "out.jsonl", settings), pytest.raises(Busy, match="another process"):
        Part(tmp_path / "out.jsonl", settings).__enter__()


def test_sink(tmp_path, settings):
    assert isinstance(sink(None, None), Writer)
    assert isinstance(sink(str(tmp_path / "x.jsonl"), settings), Part)
    with pytest.raises(Usage, match="--resume needs a file"):
        sink(None, settings)
    with pytest.raises(Usage, match="packed file"):
        sink("x.jsonl.gz", settings)
