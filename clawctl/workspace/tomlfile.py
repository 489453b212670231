"""Where in a TOML file a key stands: `tomllib` gives values without lines, and a message without a line costs a search."""

from __future__ import annotations

import re
from pathlib import Path

HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]")
KEY = re.compile(r"""^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*[=.]""")


def line_of(path: Path, table: str | None, key: str | None = None) -> int | None:
    """The line of `key` in `[table]` (None: before the first table), or of the table's header; None when not found so."""
    at: str | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if header := HEADER.match(line):
            at = header[1].replace('"', "").replace("'", "").replace(" ", "")
            if key is None and at and table and (at == table or at.startswith(f"{table}.")):
                return number
        elif key is not None and at == table and (found := KEY.match(line)) and key in found.groups():
            return number
    return None
