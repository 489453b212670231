"""The line of a key, for messages."""

from __future__ import annotations

import pytest

from clawctl.workspace.tomlfile import line_of

TEXT = """\
# seed = 1
seed = 2
"model" = "starter"

[ generate ]  # comment
seed = 3
max-tokens = 5
[tasks.make]
seed = 4
[models."a b"]
path = "x"
"""


@pytest.mark.parametrize(
    ("table", "key", "line"),
    [
        (None, "seed", 2),
        (None, "model", 3),
        ("generate", "seed", 6),
        ("generate", "max-tokens", 7),
        ("tasks.make", "seed", 9),
        ("generate", None, 5),
        ("tasks", None, 8),
        ("generate", "top_p", None),
        (None, "max-tokens", None),
        ("absent", None, None),
    ],
)
def test_finds_the_line(tmp_path, table, key, line):
    (tmp_path / "x.toml").write_text(TEXT)
    assert line_of(tmp_path / "x.toml", table, key) == line
