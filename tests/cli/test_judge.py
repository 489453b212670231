"""`clawctl judge` as a process in a pipe: streams, counts, bad lines, settings, exit codes."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time

import pytest

JUDGE = [sys.executable, "-m", "clawctl", "judge"]
NUMBER = {"kind": "number", "answer": "36"}


def rollout(at: int = 0, answer: str = "36", verify: dict | None = NUMBER, **more) -> dict:
    task = {"id": f"t{at}", "prompt": "14 + 22?", "verify": verify}
    row = {"id": f"r{at}", "task_id": f"t{at}", "group_id": f"g{at}", "task": task, **more}
    return row | {"completion": f"<step>1. 14 + 22 = 36</step>\n<answer>{answer}</answer>"}


def jsonl(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


HALF = {"reward": 1, "rationale": "half \ud800 a character"}


@pytest.mark.parametrize(
    ("verify", "answer"),
    [
        ({"kind": "command", "argv": ["echo", json.dumps(HALF)]}, "36"),
        ({"kind": "json", "schema": {"additionalProperties": {"type": "string"}}}, r'{"\ud800": 1}'),
    ],
)
def test_no_text_that_is_judged_can_end_the_stream(clawctl, verify, answer):
    done = clawctl("judge", stdin=jsonl([rollout(0, answer, verify), rollout(1)]))
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in rows_of(done)] == ["r0", "r1"]
    assert rows_of(done)[1]["reward"] == 1.0


def test_a_wait_without_end_is_a_bad_line_and_shifts_no_verdict(clawctl):
    verify = {"kind": "regex", "pattern": "^36$"}
    asked = [rollout(0, "36", {**verify, "timeout": 1e10}), *(rollout(at, "36" if at % 2 else "37", verify) for at in range(1, 5))]
    done = clawctl("judge", stdin=jsonl(asked))
    assert [row["reward"] for row in rows_of(done)] == pytest.approx([1.0, 0.2, 1.0, 0.2])
    assert "<stdin>:1" in done.stderr
    assert clawctl("judge", "--with", "verify:timeout=1e10", stdin=jsonl(asked[1:])).returncode == 2


def test_files_of_the_current_folder_are_no_part_of_the_judge(clawctl, tmp_path):
    (tmp_path / "jsonschema.py").write_text("raise SystemExit(9)")
    done = clawctl("judge", stdin=jsonl([rollout(0, "{}", {"kind": "json", "schema": {}})]), PYTHONSAFEPATH="1")
    assert [row["reward"] for row in rows_of(done)] == [1.0]


def test_bad_lines_may_not_go_where_lines_come_from(clawctl, tmp_path):
    (tmp_path / "bad").write_text("oops\n")
    done = clawctl("judge", "bad", "--rejects", "bad")
    assert (done.returncode, (tmp_path / "bad").read_text()) == (2, "oops\n")
    assert "is an input" in done.stderr


def test_quiet_tells_of_bad_lines_all_the_same(clawctl):
    done = clawctl("judge", "-q", stdin="oops\n" + jsonl([rollout()]))
    assert done.returncode == 0
    assert "<stdin>:1" in done.stderr


@pytest.mark.parametrize("text", [jsonl([{"id": "t1", "prompt": "14 + 22?"}]), "oops\n\x00\n"])
@pytest.mark.parametrize("command", ["judge", "buffer"])
def test_a_file_without_a_single_rollout_is_a_failure(clawctl, tmp_path, command, text):
    (tmp_path / "clawctl.toml").touch()
    done = clawctl(command, "-", cwd=tmp_path, stdin=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is a rollout" in done.stderr
    assert "clawctl generate" in done.stderr


def rows_of(done) -> list[dict]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def test_a_pipe_without_a_workspace(clawctl):
    done = clawctl("judge", stdin=jsonl([rollout(0), rollout(1, "37"), rollout(2, verify=None)]))
    assert [row["reward"] for row in rows_of(done)] == [1.0, 0.2, None]
    assert done.stderr == "clawctl judge: 3 rows, mean reward 0.600, 1 of 2 pass (50.0%), 1 without a reward (task 1)\n"


def test_quiet_is_silent(clawctl):
    assert clawctl("judge", "-q", stdin=jsonl([rollout()])).stderr == ""


def test_an_empty_environment_is_enough(tmp_path):
    done = subprocess.run(JUDGE, input=jsonl([rollout()]), env={}, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert rows_of(done)[0]["reward"] == 1.0


def test_nothing_in_nothing_out(clawctl):
    done = clawctl("judge", stdin="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "clawctl judge: 0 rows\n")


def test_stdin_closed_is_an_error_in_words(tmp_path):
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m clawctl judge <&-"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "stdin is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_in_and_a_file_out(clawctl, tmp_path):
    (tmp_path / "a.jsonl").write_text(jsonl([rollout(0)]))
    (tmp_path / "b.jsonl").write_text(jsonl([rollout(1, "37")]))
    done = clawctl("judge", "a.jsonl", "b.jsonl", "-o", "out.jsonl.gz")
    assert (done.returncode, done.stdout) == (0, "")
    again = clawctl("judge", "--reweigh", "--weights", "answer=1", "out.jsonl.gz")
    assert [row["reward"] for row in rows_of(again)] == [1.0, 0.0]


def test_judging_twice_changes_nothing(clawctl):
    first = clawctl("judge", stdin=jsonl([rollout(0), rollout(1, "37"), rollout(2, finish_reason="abort")]))
    assert clawctl("judge", stdin=first.stdout).stdout == first.stdout


def test_again_judges_what_was_judged(clawctl):
    judged = rows_of(clawctl("judge", stdin=jsonl([rollout()])))[0]
    judged["task"]["verify"]["answer"] = "37"
    assert rows_of(clawctl("judge", stdin=jsonl([judged])))[0]["reward"] == 1.0
    assert rows_of(clawctl("judge", "--again", stdin=jsonl([judged])))[0]["reward"] == 0.2


def test_settings_and_variables_reach_the_options(clawctl, agent):
    agent.settings.write_text('[judge]\nwith = ["verify:timeout=3"]\nweights = "format=0.5,answer=0.5"\n')
    wrong = jsonl([rollout(0, "37")])
    assert rows_of(clawctl("judge", cwd=agent.root, stdin=wrong))[0]["reward"] == 0.5
    assert rows_of(clawctl("judge", cwd=agent.root, stdin=wrong, CLAWCTL_JUDGE_WEIGHTS="format=0.3,answer=0.7"))[0]["reward"] == 0.3
    assert rows_of(clawctl("judge", "--weights", "format=1", cwd=agent.root, stdin=wrong))[0]["reward"] == 1.0


@pytest.mark.parametrize(
    "args",
    [["--with", "vibes"], ["--with", "verify:x=1"], ["--weights", "style=1"], ["--weights", "answer=x"], ["--reduce", "sum"], ["-j", "0"]],
)
def test_wrong_usage(clawctl, args):
    done = clawctl("judge", *args, stdin=jsonl([rollout()]))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there(clawctl):
    done = clawctl("judge", "nowhere.jsonl")
    assert done.returncode == 1
    assert "nowhere.jsonl: no such file" in done.stderr


BAD = [
    lambda line: line[: len(line) // 2],
    lambda line: "null",
    lambda line: "[]",
    lambda line: '"text"',
    lambda line: "{}",
    lambda line: line.replace('"id": "r', '"id": 7, "x": "'),
    lambda line: line.replace('"group_id"', '"grp"'),
    lambda line: line.replace('"kind": "number"', '"kind": "poetry"'),
    lambda line: line.replace('"verify": {', '"verify": [{').replace("}}", "}]}"),
    lambda line: line[:-1] + ', "reward": NaN}',
    lambda line: line[:-1] + ', "reward": "much"}',
    lambda line: line[:-1] + ', "scores": [1]}',
    lambda line: line[:-1] + ', "completion_token_ids": [1, 2], "rollout_logprobs": [0.1]}',
    lambda line: line.replace('"completion": "', '"completion": ["').replace("</answer>", "</answer>\\ud800"),
    lambda line: "\x00\x01\x02",
    lambda line: "{" * 3000,
    lambda line: '{"id": ' + "9" * 5000 + "}",
]


@pytest.mark.parametrize("jobs", [1, 3])
def test_five_hundred_bad_lines_of_every_kind(clawctl, tmp_path, jobs):
    draw = random.Random(0)
    good, lines, bad = 0, [], 0
    while bad < 500:
        line = json.dumps(rollout(len(lines), draw.choice(["36", "37"])))
        if draw.random() < 0.3:
            good += 1
        else:
            line = BAD[bad % len(BAD)](line)
            bad += 1
        lines.append(line)
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    done = clawctl("judge", "in.jsonl", "--rejects", "bad.jsonl", "-j", jobs)
    assert "Traceback" not in done.stderr
    rows = rows_of(done)
    assert len(rows) == good
    assert [int(row["id"][1:]) for row in rows] == sorted(int(row["id"][1:]) for row in rows)
    assert done.stderr.splitlines()[-1].startswith(f"clawctl judge: {good} rows, ")
    assert done.stderr.splitlines()[-1].endswith(f", {bad} bad lines")
    assert len((tmp_path / "bad.jsonl").read_bytes().splitlines()) >= bad
    stopped = clawctl("judge", "in.jsonl", "--on-error", "stop", "-o", "out.jsonl", "-j", jobs)
    assert stopped.returncode == 1
    assert "in.jsonl:" in stopped.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_rows_come_out_one_by_one_as_they_go_in(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    for jobs in ("1", "2"):
        process = subprocess.Popen([*JUDGE, "-q", "-j", jobs], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=environment)
        for at in range(3):
            process.stdin.write(jsonl([rollout(at)]).encode())
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 20)[0]
            assert json.loads(process.stdout.readline())["id"] == f"r{at}"
        process.stdin.close()
        assert process.wait(20) == 0
        process.stdout.close()


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_reader_that_leaves_ends_it_quietly(tmp_path, jobs):
    (tmp_path / "in.jsonl").write_text(jsonl(rollout(at, pad="x" * 2000) for at in range(500)))
    script = f'{sys.executable} -m clawctl judge in.jsonl -j {jobs} | head -3; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    *rows, code = done.stdout.splitlines()
    assert (len(rows), code, done.stderr) == (3, "141", "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_signal_ends_it_with_what_was_judged_written(tmp_path, number, code, jobs):
    process = subprocess.Popen(
        [*JUDGE, "-j", str(jobs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    process.stdin.write(jsonl([rollout(0)]).encode())
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["reward"] == 1.0
    process.send_signal(number)
    assert process.wait(20) == code
    assert b"Traceback" not in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_jobs_overlap_and_keep_the_order(clawctl):
    rows = [rollout(at, verify={"kind": "command", "argv": ["sleep", "0.5" if at % 2 else "0.3"]}) for at in range(8)]
    start = time.monotonic()
    done = clawctl("judge", "-j", "8", stdin=jsonl(rows))
    assert [row["id"] for row in rows_of(done)] == [row["id"] for row in rows]
    assert time.monotonic() - start < 3.0


def test_one_bomb_does_not_hold_up_the_file(clawctl):
    bomb = rollout(0, "a" * 50 + "b", {"kind": "regex", "pattern": "(a|a)*$"})
    rows = rows_of(clawctl("judge", "--with", "verify:timeout=1", stdin=jsonl([bomb, rollout(1)])))
    assert rows[0]["scores"]["verify"]["error"]["kind"] == "timeout"
    assert [row["reward"] for row in rows] == [None, 1.0]


def test_large_and_odd_answers(clawctl):
    answers = ["x" * 1_000_000, "\x00", "1e999", "9" * 100_000, "\u202e36", "a\u2028b"]
    for kind in (
        {"kind": "number", "answer": 1},
        {"kind": "exact", "answer": "1"},
        {"kind": "choice", "answer": "A", "choices": ["1", "11"]},
    ):
        rows = rows_of(clawctl("judge", stdin=jsonl(rollout(at, answer, kind) for at, answer in enumerate(answers))))
        assert {row["reward"] for row in rows} == {0.2}
