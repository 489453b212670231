"""The tasks that are really asked: each id once, and only so many."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from clawctl.records.streams import Reader

log = logging.getLogger(__name__)
SHOWN = 20


class Intake:
    """Iterate over the tasks of `reader`. A second task of the same id is passed over: its samples could not be told from the first's.

    limit: stop after so many. `tasks` and `repeated` count.
    """

    def __init__(self, reader: Reader, limit: int | None = None) -> None:
        self.reader, self.limit = reader, limit
        self.tasks = self.repeated = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()
        for task in self.reader:
            if self.tasks == self.limit:
                return
            if task["id"] in seen:
                self.repeated += 1
                if self.repeated <= SHOWN:
                    log.warning("%s: task %s again, passed over", self.reader.source, task["id"])
                continue
            seen.add(task["id"])
            self.tasks += 1
            yield task

    def drain(self) -> int:
        """Read all, for a dry run; how many tasks there are."""
        return sum(1 for _ in self)
