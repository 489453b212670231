"""The files to train on: batches or rollouts with rewards, or (supervised) tasks with worked answers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawctl.errors import ClawctlError, No, Usage
from clawctl.records.streams import OnError, Reader, open_read
from clawctl.training.rows import Sampled, read
from clawctl.workspace.paths import Workspace

if TYPE_CHECKING:
    from clawctl.training.stage import Order


@dataclass(frozen=True)
class Inputs:
    """batches: the ids of those files that are batches of the workspace, each of which is trained once."""

    paths: Sequence[Path]
    batches: list[str]
    min_reward: float = 1.0
    on_error: OnError = "skip"
    rejects: str | None = None

    def read(self, ws: Workspace, order: Order) -> Sampled:
        """The rows of all files; bad lines are reported and counted."""
        kind = kind_of(self.paths)
        supervised = order.recipe.algorithm == "sft"
        if kind == "task" and not supervised:
            raise Usage(f"{self.paths[0]} holds tasks; {order.recipe.algorithm} trains on scored rollouts", "clawctl generate, then judge")
        reader = Reader(self.paths, kind, on_error=self.on_error, rejects=self.rejects)
        if kind == "task":
            from clawctl.training.examples import from_tasks

            with tokenizer(order.model) as (weights, template, end):
                return from_tasks(reader, weights, template, end)
        from clawctl.training.base import vocabulary

        known = vocabulary(order.model)
        if supervised:
            from clawctl.training.examples import best_of

            sampled = best_of(reader, self.min_reward, known)
        else:
            sampled = read(reader, known)
        if reader.bad:
            sampled.dropped["bad line"] += reader.bad
        return sampled


def choose(ws: Workspace, files: Sequence[str] | None, next_one: bool, **options: Any) -> Inputs:
    """The files that were named, or the oldest batch that nothing was trained on. No where there is none."""
    from clawctl.buffering import batches

    if bool(files) == next_one:
        raise Usage("name batch files, or --next for the oldest batch that nothing was trained on", "clawctl train --next")
    if files:
        paths = [Path(f) for f in files]
    else:
        found = batches.next_untrained(ws)
        if found is None:
            raise No("no batch waits to be trained on", "clawctl buffer --take makes one")
        paths = [found]
    own = [batches.batch_id(p) for p in paths if p.resolve().parent == ws.batches.resolve()]
    return Inputs(paths, own, **options)


def kind_of(paths: Sequence[Path]) -> str:
    """ "task" or "rollout", by the first line that is JSON of either kind; a file of neither is read as rollouts, and reported line by line."""
    for path in paths:
        if not path.exists():
            raise ClawctlError(f"{path}: no such file")
        with open_read(path) as stream:
            for line in stream:
                with contextlib.suppress(ValueError, RecursionError):
                    row = json.loads(line)
                    if isinstance(row, dict) and {"group_id", "completion_token_ids"} & row.keys():
                        return "rollout"
                    if isinstance(row, dict) and {"prompt", "messages"} & row.keys():
                        return "task"
    return "rollout"


@contextlib.contextmanager
def tokenizer(model: Any) -> Iterator[tuple[Any, Any, int]]:
    """Tokenizer, chat template and end-of-turn token as generate has them: llama.cpp's own, from the same file."""
    from clawctl.engines.chat import ChatTemplate
    from clawctl.engines.llama.native import library
    from clawctl.engines.llama.weights import Weights

    if model.file.is_dir():
        raise Usage(
            f"{model.name} is a Hugging Face folder: its tokenizer is not the one that generates", "train on rollouts, or name the .gguf"
        )
    weights = Weights(model.file)
    try:
        source = weights.metadata("tokenizer.chat_template")
        turn = library().llama_vocab_eot(weights._vocabulary) if source else -1
        yield weights, ChatTemplate(source, weights.text_of(weights.bos), weights.text_of(weights.eos)), turn if turn >= 0 else weights.eos
    finally:
        weights.close()
