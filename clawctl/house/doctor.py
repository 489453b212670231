"""Can this machine run the loop, and if not, which command mends that. Every check is a row; none of them raises."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

import clawctl
from clawctl.adapters import versions
from clawctl.errors import ClawctlError
from clawctl.house.libraries import LOOP, libraries, version_of
from clawctl.workspace import machine, models
from clawctl.workspace.paths import Workspace

REBUILD = "pip install --force-reinstall --no-binary llama-cpp-python 'llama-cpp-python>=0.3.36,<0.4'"
DISK_NEEDED = 2 * 2**30  # a dequantised base of 135M parameters takes half a gigabyte, a round's rollouts and adapters tens of megabytes


class Check(TypedDict):
    """One thing looked at. `ok` false: the loop cannot run; null: worth knowing, nothing depends on it."""

    group: str
    name: str
    ok: bool | None
    value: str
    remedy: str | None


def examine(workspace: Workspace | None, model: str) -> Iterator[Check]:
    """All checks, cheap ones first. `model`: the name the loop would use."""
    yield row("versions", "python", True, f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})")
    yield row("versions", "clawctl", True, clawctl.__version__)
    for library in libraries():
        needed = library.extra in LOOP
        yield row(
            "libraries",
            library.name,
            bool(library.version) if needed else (True if library.version else None),
            library.version or "missing",
            None if library.version else library.remedy,
        )
    yield from _machine(workspace)
    yield from _sampling()
    yield from _training()
    yield _model(workspace, model)
    yield from _workspace(workspace)


def row(group: str, name: str, ok: bool | None, value: str, remedy: str | None = None) -> Check:
    """A Check."""
    return Check(group=group, name=name, ok=ok, value=value, remedy=remedy)


def _machine(workspace: Workspace | None) -> Iterator[Check]:
    cpu = machine.processor()
    units = {"AVX2": cpu.avx2, "AVX-512": cpu.avx512, "AMX": cpu.amx, "bfloat16": cpu.bf16}
    lists = [", ".join(name for name, there in units.items() if there == wanted) for wanted in (True, False)]
    has, lacks = lists if cpu.flags else ("what it can do is not known here", "")
    yield row("machine", "processor", None, f"{cpu.name}: {has}" + (f"; no {lacks}" if lacks else ""))
    yield row("machine", "cores", None, str(machine.cores()))
    yield row("machine", "memory", None, f"{machine.memory() / 2**30:.1f} GiB")
    where = workspace.root if workspace else Path.cwd()
    free = machine.disk_free(where)
    enough = free >= DISK_NEEDED
    remedy = None if enough else f"free {DISK_NEEDED / 2**30:.0f} GiB, or make the workspace on another disk"
    yield row("machine", "disk", enough, f"{free / 2**30:.1f} GiB free at {where}", remedy)


def _sampling() -> Iterator[Check]:
    """Whether llama.cpp starts, and whether its weights may be repacked on this processor (engines/llama/weights.py says why not)."""
    if not version_of("llama-cpp-python"):
        return
    try:
        from clawctl.engines.llama.native import library
        from clawctl.engines.llama.weights import EXTRA_BUFFERS, extra_buffers

        override = os.environ.get(EXTRA_BUFFERS)
        repacked = extra_buffers(library().llama_print_system_info().decode(), machine.processor().amx, override)
    except Exception as error:  # a broken build fails in any way it likes, and that is what a doctor is asked about
        yield row("engines", "sampling", False, f"llama.cpp does not start: {error}", REBUILD)
        return
    why = f"as {EXTRA_BUFFERS}={override} asks" if override else "nothing speaks against it" if repacked else "its AMX path crashes here"
    yield row("engines", "sampling", True, f"llama.cpp, weights {'repacked' if repacked else 'not repacked'}: {why}")


def _training() -> Iterator[Check]:
    """Device and type as `clawctl train` would choose them now."""
    if not version_of("torch"):
        return
    try:
        from clawctl.training.device import choose

        placement = choose()
    except Exception as error:
        yield row("engines", "training", False, f"torch does not start: {error}", "pip install --force-reinstall torch")
        return
    yield row("engines", "training", True, f"{placement.name}: {placement.reason}")


def _model(workspace: Workspace | None, name: str) -> Check:
    try:
        model = models.resolve(name, workspace)
        if model.path is None:
            return row("model", name, False, f"no weights here (engine {model.engine}): it can answer, not be trained", "--model starter")
        size = f"{model.path.stat().st_size / 1e6:.0f} MB" if model.path.is_file() else "a folder"
        cache = workspace.models if workspace and workspace.models.is_dir() else None
        digest = models.base_sha256(model.path, cache)
        return row("model", name, True, f"{model.path} ({size}), sha256 {digest}")
    except (ClawctlError, OSError) as error:
        return row("model", name, False, str(error), getattr(error, "hint", None))


def _workspace(workspace: Workspace | None) -> Iterator[Check]:
    if workspace is None:
        yield row("workspace", "root", None, "none here or above", "clawctl init DIR")
        return
    writable = os.access(workspace.root, os.W_OK)
    yield row(
        "workspace", "root", writable, f"{workspace.root}" + ("" if writable else ", not writable"), None if writable else "chmod u+w"
    )
    try:
        served = versions.resolve(workspace, versions.CURRENT)
        yield row("workspace", "in service", True, served.name if served else "the base model")
    except ClawctlError as error:
        yield row("workspace", "in service", False, str(error), error.hint)
