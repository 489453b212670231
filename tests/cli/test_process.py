"""What scripts rely on: exit codes, quiet ends, plain words off a terminal, panels on one."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

CLAWCTL = [sys.executable, "-m", "clawctl"]


def on_terminal(args, cwd, **variables):
    """Everything a person would see, and the exit code."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAWCTL_") and k != "NO_COLOR"} | {"TERM": "xterm"} | variables
    process = subprocess.Popen([*CLAWCTL, *args], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while block := os.read(ours, 65536):
            seen += block
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return seen.decode(), process.wait()


def test_version(clawctl):
    from clawctl import __version__

    assert clawctl("--version").stdout == f"clawctl {__version__}\n"


@pytest.mark.parametrize("args", [[], ["nope"], ["schema"], ["schema", "nope"], ["schema", "task", "--nope"], ["--nope"]])
def test_wrong_usage_is_2_with_nothing_on_stdout(clawctl, args):
    done = clawctl(*args)
    assert done.returncode == 2
    if args:
        assert done.stdout == ""
        assert not re.search(r"[│╭╰]|\x1b|Traceback", done.stderr)


def test_an_error_is_one_line_and_a_hint(clawctl):
    assert clawctl("nope").stderr == "clawctl nope: No such command 'nope'.\nhint: clawctl -h\n"
    said = clawctl("schema", "nope").stderr
    assert said.startswith("clawctl schema: Invalid value for 'record': 'nope' is not one of 'task', 'rollout'")
    assert said.endswith("hint: clawctl schema -h\n")


def test_a_near_miss_is_guessed(clawctl):
    assert "'status'" in clawctl("statsu").stderr


def test_without_a_workspace_the_hint_says_how_to_make_one(clawctl):
    done = clawctl("status")
    assert done.returncode == 1
    assert "hint: clawctl init DIR" in done.stderr


def test_a_traceback_only_when_asked_for(clawctl):
    assert "Traceback" not in clawctl("status").stderr
    assert "Traceback" in clawctl("status", CLAWCTL_DEBUG="1").stderr


def test_a_closed_pipe_is_141_and_silent(agent):
    """`clawctl config | true`: the reader may be gone before the first byte, or after it."""
    for reader in ("true", "head -1 >/dev/null"):
        script = f"{' '.join(CLAWCTL)} config 2>err | {reader}; echo ${{PIPESTATUS[0]}}"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        done = subprocess.run(["bash", "-c", script], cwd=agent.root, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.strip() in (("141",) if reader == "true" else ("141", "0"))
        assert (agent.root / "err").read_text() == ""


def test_closed_streams_and_a_full_disk_are_no_crash(agent):
    def code(redirection):
        return subprocess.run(["bash", "-c", f"{' '.join(CLAWCTL)} schema task {redirection}"], capture_output=True, text=True, check=False)

    assert code("<&- 2>&-").returncode == 0
    assert "Traceback" not in code(">&-").stderr
    full = code(">/dev/full")
    assert (full.returncode, full.stderr) == (1, "clawctl schema: No space left on device\n")


def test_works_without_any_environment(agent):
    done = subprocess.run(["env", "-i", *CLAWCTL, "status"], cwd=agent.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_filter_with_their_code(agent, number, code):
    process = subprocess.Popen([*CLAWCTL, "judge"], cwd=agent.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2)  # long enough to be reading stdin
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in said


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_has_panels_on_a_terminal_and_none_in_a_pipe(clawctl, tmp_path, flag):
    seen, code = on_terminal([flag], tmp_path)
    assert code == 0
    assert re.search(r"╭─.* The loop .*─╮", seen)
    piped = clawctl(flag)
    assert piped.returncode == 0
    assert "The loop:\n  generate" in piped.stdout
    assert not re.search(r"[│╭╰]|\x1b", piped.stdout)


def test_no_color_means_no_colour(tmp_path):
    colour = re.compile(r"\x1b\[[\d;]*3\dm")
    assert colour.search(on_terminal(["schema", "nope"], tmp_path)[0])
    seen, code = on_terminal(["schema", "nope"], tmp_path, NO_COLOR="1")
    assert code == 2
    assert not colour.search(seen)


def test_a_filter_on_a_terminal_without_a_file_is_usage_not_a_wait(agent):
    seen, code = on_terminal(["judge"], agent.root)
    assert code == 2
    assert "nothing to read" in seen
