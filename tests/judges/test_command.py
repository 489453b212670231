"""Any program as the judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.judge import Verify


@pytest.fixture
def told(judge: Verify, rollout):
    """`told(python source, **verify)`: the mark that a program of this source gives."""

    def tell(source: str, **spec):
        row = rollout({"kind": "command", "argv": [sys.executable, "-c", source], **spec})
        return judge.verify(row["task"]["verify"], "36", row)

    return tell


def test_it_gets_the_row_and_gives_a_reward(told):
    source = "import json, sys\nrow = json.load(sys.stdin)\nprint(json.dumps({'reward': 0.5, 'rationale': row['completion'][:6]}))"
    assert told(source) == (0.5, "<step>")


def test_a_shell_line_is_enough(judge, rollout):
    row = rollout({"kind": "command", "argv": ["grep", "-q", 'answer>36</answer>"}$']})
    assert judge.score(row)["parts"]["answer"] == 1.0
    assert judge.score(row | {"completion": "37"})["parts"]["answer"] == 0.0


def test_the_exit_code_speaks_where_stdout_does_not(told):
    assert told("").value == 1.0
    assert told("print('fine')").value == 1.0
    assert told("raise SystemExit(1)").value == 0.0


def test_the_last_verdict_counts(told):
    assert told("print('loading'); print('{\"reward\": 1}'); print('{\"reward\": 0.25}')").value == 0.25
    assert told("import json; print(json.dumps({'reward': 1}, indent=2))").value == 1.0


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("raise SystemExit(2)", "command"),
        ("import os; os.kill(os.getpid(), 9)", "command"),
        ("print('{\"reward\": 2}')", "command"),
        ("print('{\"reward\": NaN}')", "command"),
        ("print('{\"reward\": null}')", "command"),
        ("print('{\"reward\": true}')", "command"),
        ("print('x' * (2 << 20))", "command"),
        ("import time; time.sleep(60)", "timeout"),
    ],
)
def test_what_cannot_be_told_is_no_score(told, source, kind):
    with pytest.raises(Unscorable) as caught:
        told(source, timeout=2)
    assert caught.value.kind == kind


@pytest.mark.parametrize("argv", [["/no/such/program"], ["a\0b"], ["/"]])
def test_a_program_that_cannot_start_is_no_score(judge, argv):
    with pytest.raises(Unscorable) as caught:
        judge.verify({"kind": "command", "argv": argv}, "x", {})
    assert caught.value.kind == "command"


def test_the_environment_is_small(told, monkeypatch):
    monkeypatch.setenv("CLAWCTL_TEST_SECRET", "x")
    assert told("import os; raise SystemExit('CLAWCTL_TEST_SECRET' in os.environ or 'PATH' not in os.environ)").value == 1.0


def test_a_program_that_reads_nothing_of_a_large_row_is_heard(judge, rollout):
    row = rollout({"kind": "command", "argv": [sys.executable, "-c", "print('{\"reward\": 1}')"]}, notes="x" * 5_000_000)
    assert judge.verify(row["task"]["verify"], "36", row).value == 1.0


def test_a_program_that_echoes_while_it_reads_does_not_lock_up(judge, rollout):
    row = rollout({"kind": "command", "argv": ["cat"]}, notes="x" * 500_000)
    assert judge.verify(row["task"]["verify"], "36", row).value == 1.0


def test_the_whole_family_ends_with_the_time_out(told, tmp_path):
    alive = tmp_path / "alive"
    child = f"import time; time.sleep(2); open({str(alive)!r}, 'w')"
    start = time.monotonic()
    with pytest.raises(Unscorable):
        told(f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(60)", timeout=1)
    assert time.monotonic() - start < 4
    time.sleep(2.5)
    assert not alive.exists()


def test_a_child_that_keeps_stdout_open_is_not_waited_for(told):
    start = time.monotonic()
    assert told("import subprocess\nsubprocess.Popen(['sleep', '30'])\nprint('{\"reward\": 1}')").value == 1.0
    assert time.monotonic() - start < 5


def test_sigterm_ends_the_programs_that_judge(tmp_path, rollout):
    """Interrupted in the middle of a row, nothing runs on."""
    pid_file = tmp_path / "pid"
    source = f"import os, time\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    line = json.dumps(rollout({"kind": "command", "argv": [sys.executable, "-c", source]})) + "\n"
    for jobs in ("1", "3"):
        pid_file.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-m", "clawctl", "judge", "-j", jobs], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        process.stdin.write(line.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 20
        while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.terminate()
        assert process.wait(10) == 143
        process.stdin.close()
        time.sleep(0.2)
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid_file.read_text()), 0)
