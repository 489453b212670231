"""The loop as a shell pipeline: its numbers are the loop's. That it runs is tested with the demonstration (tests/looping/test_demo.py)."""

from __future__ import annotations

import re
from pathlib import Path

from clawctl.looping import defaults

SCRIPT = (Path(__file__).parents[2] / "examples" / "loop.sh").read_text()


def option(command: str, name: str) -> float:
    [line] = [line for line in SCRIPT.splitlines() if f"clawctl {command}" in line]
    found = re.search(rf"--{name} ([\d.e-]+)", line)
    return float(found[1])


def test_its_numbers_are_those_of_the_loop():
    assert option("generate", "temperature") == defaults.TEMPERATURE
    assert option("generate", "max-tokens") == defaults.MAX_TOKENS
    assert option("train --next", "lr") == defaults.LR
    assert option("train --next", "minibatch") == defaults.MINIBATCH
    assert option("train --next", "warmup") == defaults.LR_WARMUP
    assert f"--schedule {defaults.SCHEDULE}" in SCRIPT
    assert f"--old {defaults.OLD}" in SCRIPT
    assert option("train --next", "kl-coef") == defaults.KL_COEF
    assert option("train --algorithm sft", "lr") == defaults.WARMUP_LR
    assert option("train --algorithm sft", "epochs") == defaults.WARMUP_EPOCHS
    assert f"PER_ROUND:-{defaults.GROUPS}" in SCRIPT
    assert f"SAMPLES:-{defaults.SAMPLES}" in SCRIPT
