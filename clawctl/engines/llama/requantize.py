"""Other quantisations of a model, made once and kept: some decode faster on some processors, none is quite the same policy."""

from __future__ import annotations

import ctypes
import logging
import os
from pathlib import Path

from clawctl.engines.llama.native import library
from clawctl.errors import ClawctlError, Usage
from clawctl.workspace.atomic import publish, sweep, temporary_name

log = logging.getLogger(__name__)
FILE_TYPES = {"f16": 1, "q4_0": 2, "q8_0": 7}  # llama_ftype


def requantized(source: Path, kind: str, folder: Path) -> Path:
    """The GGUF `source` as `kind`, from `folder` or made now. Its weights are first expanded, so nothing is gained in accuracy."""
    if kind not in FILE_TYPES:
        raise Usage(f"--requantize {kind}: unknown", f"known: {', '.join(FILE_TYPES)}")
    target = folder / f"{source.stem}.{kind}.gguf"
    if target.is_file():
        log.info("weights requantised to %s: %s", kind, target)
        return target
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    native = library()
    parameters = native.llama_model_quantize_default_params()
    parameters.ftype, parameters.allow_requantize = FILE_TYPES[kind], True
    log.info("requantising %s to %s, once", source.name, kind)
    temporary = temporary_name(target)
    try:
        if native.llama_model_quantize(os.fsencode(source), os.fsencode(temporary), ctypes.byref(parameters)):
            raise ClawctlError(f"{source}: llama.cpp cannot requantise it to {kind}")
        publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target
