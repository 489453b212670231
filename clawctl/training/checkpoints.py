"""A run's folder, data/training/RUN: metrics.jsonl as it goes, and a checkpoint where a run was stopped."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import msgspec
import torch

from clawctl.errors import ClawctlError
from clawctl.training.trainer import Trainer
from clawctl.workspace.atomic import new_folder

log = logging.getLogger(__name__)
STATE = "state.pt"


class Run:
    """The folder of one run, named by what it trains on and how; the same command finds it again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.metrics = folder / "metrics.jsonl"

    def save(self, trainer: Trainer) -> Path:
        """Adapter, optimiser and position, complete or absent; earlier checkpoints are removed after it."""
        target = self.folder / f"step-{trainer.done:06d}"
        if not target.exists():
            with new_folder(target) as into:
                state = {
                    "done": trainer.done,
                    "adapter": trainer.policy.state(),
                    "optimiser": trainer.optimiser.state_dict(),
                    "start": trainer.start,
                    "base": trainer.base,
                }
                torch.save(state, into / STATE)
        for earlier in self.checkpoints():
            if earlier != target:
                shutil.rmtree(earlier, ignore_errors=True)
        return target

    def checkpoints(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        return sorted(self.folder.glob("step-*"))

    def restore(self, trainer: Trainer) -> bool:
        """Bring the trainer to where the last checkpoint stood; False without one."""
        if not (found := self.checkpoints()):
            return False
        try:
            state = torch.load(found[-1] / STATE, map_location="cpu", weights_only=True)
        except Exception as error:
            raise ClawctlError(f"{found[-1]}: {error}", "remove the folder; without --resume training starts afresh") from None
        trainer.policy.set_state(state["adapter"], str(found[-1]))
        trainer.optimiser.load_state_dict(state["optimiser"])
        trainer.done, trainer.start, trainer.base = state["done"], state["start"], state["base"]
        self._cut_metrics(trainer.done)
        return True

    def begin(self) -> None:
        """An empty folder for a run from the start."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def record(self, figures: dict[str, Any]) -> None:
        """Append one step's figures."""
        with open(self.metrics, "ab") as file:
            file.write(msgspec.json.encode(figures) + b"\n")

    def history(self) -> list[dict[str, Any]]:
        """The figures of all steps so far."""
        if not self.metrics.is_file():
            return []
        return [msgspec.json.decode(line) for line in self.metrics.read_bytes().splitlines() if line]

    def remove(self) -> None:
        """The run is published; its folder is not needed."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _cut_metrics(self, done: int) -> None:
        kept = [row for row in self.history() if row["step"] <= done]
        self.metrics.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in kept))
