"""Add rows: refuse what is not for training, put the rest on disk while the stream runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clawctl.buffering.arrivals import Arrival, arrival
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.rules import Rules, refusal
from clawctl.buffering.store import Store
from clawctl.records.files import open_append
from clawctl.records.streams import Reader, encode

CHUNK = 1000  # rows a transaction


def add(store: Store, rows: Iterable[dict[str, Any]], rules: Rules, lineage: Lineage, *, rejects: str | Path | None = None) -> Counter[str]:
    """Take in scored rollouts; how many were "kept", and how many were refused, by reason.

    rows: a Reader's are kept as the lines they are. A chunk is committed when it is full, or when the stream has nothing more
    ready; so a slow stream is as safe as a fast one is quick, and what came before an interruption stays.
    rejects: the rows that the rules refuse are appended to this file. Duplicates are not: they are in.
    """
    reader = rows if isinstance(rows, Reader) else None
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    chunk: list[Arrival] = []

    def commit() -> None:
        if chunk or refused:
            counts.update(store.add(chunk, refused))
            chunk.clear()
            refused.clear()

    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(open_append(rejects)) if rejects else None
        stack.callback(commit)
        for row in rows:
            line = reader.raw if reader else encode(row)
            reason = refusal(row, rules, lineage)
            if reason is None:
                chunk.append(arrival(row, line))
            else:
                refused[reason] += 1
                if kept:
                    kept.write(line + b"\n")
            if len(chunk) >= CHUNK or (reader and reader.idle):
                commit()
    return counts
