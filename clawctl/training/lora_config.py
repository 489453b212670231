"""The shape of an adapter, as PEFT's adapter_config.json says it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawctl.errors import ClawctlError, Usage

ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
VARIANTS = ("use_dora", "use_rslora", "rank_pattern", "alpha_pattern", "modules_to_save", "lora_bias")


@dataclass(frozen=True)
class LoRAConfig:
    """rank and alpha of the adapter; `targets` the projections' last names; `layers` how many of the uppermost layers have one, None all."""

    rank: int = 16
    alpha: float = 32.0
    targets: tuple[str, ...] = ALL
    layers: int | None = None

    @property
    def scale(self) -> float:
        """What the low-rank product is multiplied by."""
        return self.alpha / self.rank


def adapter_config(
    parent: Any, rank: int | None = None, alpha: float | None = None, targets: str | None = None, layers: int | None = None
) -> LoRAConfig:
    """The parent's shape, or a fresh one from what was asked for. Usage where both are given and differ.

    parent: the AdapterRef to continue, or None. targets: names separated by commas.
    """
    names = tuple(name.strip() for name in targets.split(",")) if targets else None
    if parent is None:
        size = rank or 16
        return LoRAConfig(size, 2.0 * size if alpha is None else alpha, names or ALL, layers)
    found = read(parent.path)
    asked = {
        "--rank": (rank, found.rank),
        "--alpha": (alpha, found.alpha),
        "--targets": (names and set(names), set(found.targets)),
        "--layers": (layers, found.layers),
    }
    for option, (wanted, has) in asked.items():
        if wanted is not None and wanted != has:
            raise Usage(f"{option} {wanted}: adapter {parent.name} has {has}", "--from none starts a fresh adapter")
    return found


def read(folder: Path) -> LoRAConfig:
    """The shape of the adapter in a folder; ClawctlError for a variant that cannot be continued here."""
    try:
        stored = json.loads((folder / "adapter_config.json").read_text())
        if odd := [key for key in VARIANTS if stored.get(key)]:
            raise ClawctlError(f"{folder}: a LoRA variant that cannot be continued ({odd[0]})", "--from none starts afresh")
        targets = stored["target_modules"]
        if isinstance(targets, str):
            raise ClawctlError(f"{folder}: target_modules is a pattern", "--from none starts afresh")
        layers = stored.get("layers_to_transform")
        return LoRAConfig(int(stored["r"]), float(stored["lora_alpha"]), tuple(sorted(targets)), len(layers) if layers else None)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ClawctlError(f"{folder}/adapter_config.json: {error}", "--from none starts afresh") from None


def to_json(config: LoRAConfig, base: str, depth: int) -> str:
    """PEFT's adapter_config.json. `base` is only a hint to people: card.json identifies the weights. depth: the base's layers."""
    stored = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": config.rank,
        "lora_alpha": config.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "target_modules": sorted(config.targets),
        "layers_to_transform": None if config.layers is None else list(range(depth))[-config.layers :],
        "layers_pattern": None if config.layers is None else "layers",
    }
    return json.dumps(stored, indent=2)
