"""An exam: the same questions, seeds and sampling for whoever sits it, and the answers kept on disk.

A gate asks the version in service the same questions for every new candidate. Its answers cannot change, so they are looked up in
data/evals/<key>.jsonl, where the key covers whatever could change them. The folder is a cache and may be deleted.
"""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from clawctl import __version__
from clawctl.adapters.promotion import Rates
from clawctl.adapters.versions import AdapterRef
from clawctl.engines import SamplingParams, open_engine
from clawctl.errors import ClawctlError
from clawctl.evaluation.figures import pass_rates
from clawctl.evaluation.ticker import counted
from clawctl.generation.prompts import SYSTEM
from clawctl.records.ids import content_id
from clawctl.records.streams import Reader
from clawctl.workspace.models import Model, base_sha256
from clawctl.workspace.paths import Workspace

log = logging.getLogger(__name__)
Row = dict[str, Any]
FORM = 1  # raise when rows of the same key would come out differently


@dataclass(frozen=True)
class Exam:
    """What is asked, and how. `samples` 1 at temperature 0 is the greedy answer."""

    model: Model
    tasks: Sequence[Row]
    params: SamplingParams = field(default_factory=lambda: SamplingParams(temperature=0.0))
    samples: int = 1
    seed: int = 0

    def key(self, base_sha256: str, adapter: AdapterRef | None) -> str:
        """What the answers depend on, in one name."""
        asked = [dict(task) for task in self.tasks]
        return content_id(
            asked, base_sha256, adapter and adapter.sha256, asdict(self.params), self.samples, self.seed, SYSTEM, __version__, FORM
        )


def questions(paths: Sequence[str | Path], limit: int | None = None, seed: int = 0) -> list[Row]:
    """The tasks in `paths`, each id once; with `limit` that many of them, drawn by `seed` and left in their order."""
    by_id = {row["id"]: row for row in Reader(paths, "task")}
    tasks = list(by_id.values())
    if not tasks:
        raise ClawctlError(f"no tasks in {', '.join(map(str, paths))}")
    if limit is None or limit >= len(tasks):
        return tasks
    return [tasks[at] for at in sorted(random.Random(seed).sample(range(len(tasks)), limit))]


def answers(exam: Exam, adapter: AdapterRef | None, ws: Workspace | None, *, cache: bool = True, write: bool = True) -> list[Row]:
    """The judged rows of `exam` by the model with `adapter` on it, from the cache or sampled now.

    cache: look it up. write: keep what was sampled now; nothing is kept without a workspace.
    """
    if ws is None:
        return list(sit(exam, adapter, ws))
    path = ws.data / "evals" / f"{exam.key(base_sha256(exam.model.file, ws.models), adapter)}.jsonl"
    if cache and path.is_file() and (rows := _kept(path, exam)):
        log.info("%s: answers found in %s", adapter.name if adapter else "base model", path.relative_to(ws.root))
        return rows
    if not write:
        return list(sit(exam, adapter, ws))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # asked anew, or not whole
    if not cache:
        path.with_name(path.name + ".part").unlink(missing_ok=True)
    for _ in sit(exam, adapter, ws, path):
        pass
    return list(Reader([path], "rollout"))


def rates_by(exam: Exam, ws: Workspace | None, *, cache: bool = True, write: bool = True) -> Callable[[AdapterRef | None], Rates]:
    """A function from a version to its pass rates in this exam, as the gate asks for them."""
    return lambda adapter: pass_rates(answers(exam, adapter, ws, cache=cache, write=write))


def greedy_or(temperature: float, samples: int, max_tokens: int) -> SamplingParams:
    """One sample is the greedy answer; more are drawn at `temperature`."""
    return SamplingParams(temperature=temperature if samples > 1 else 0.0, max_tokens=max_tokens)


def sit(exam: Exam, adapter: AdapterRef | None, ws: Workspace | None, path: Path | None = None) -> Iterator[Row]:
    """Sample and judge, row by row. path: keep the rows there, a killed sitting's included, and go on after those."""
    from clawctl.generation.resume import Part, Settings
    from clawctl.generation.stage import generate
    from clawctl.judges import open_judges
    from clawctl.judges.stage import judge

    who = f"{adapter.name if adapter else 'base model'}:"
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(contextlib.closing(open_engine(exam.model, adapter, cache=ws.models if ws else None)))
        settings = Settings(engine.policy, exam.params, exam.seed, 0, SYSTEM)
        part = stack.enter_context(Part(path, settings)) if path else None
        owed = part.owed if part else None
        drawn = generate(exam.tasks, engine, exam.params, samples=exam.samples, seed=exam.seed, owed=owed)
        for row in counted(judge(drawn, open_judges(["verify"])), len(exam.tasks) * exam.samples, who):
            if part:
                part.write(row)
            yield row


def _kept(path: Path, exam: Exam) -> list[Row] | None:
    """The rows in the cache, or None where the file is not whole."""
    reader = Reader([path], "rollout")
    rows = list(reader)
    return rows if not reader.bad and len(rows) == len(exam.tasks) * exam.samples else None
