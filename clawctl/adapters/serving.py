"""Putting a version in service: the swap of `current`, under the lock "promote", written down before it is done.

The entry comes first because the figures must not be lost; the link decides what is true. When a process dies between the two, the
next one finds the link elsewhere than the history says and writes that down (`repair`).
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from clawctl.adapters import history, versions
from clawctl.adapters.versions import AdapterRef
from clawctl.errors import Busy, ClawctlError, No
from clawctl.workspace.atomic import replace_symlink, sweep, sync
from clawctl.workspace.events import emit
from clawctl.workspace.locks import lock
from clawctl.workspace.paths import Workspace

log = logging.getLogger(__name__)
WAIT = 30.0  # seconds; the lock is held for a swap, never for an evaluation


def promote(ws: Workspace, candidate: AdapterRef, expected: str | None, **figures: Any) -> history.Entry:
    """Serve `candidate`. `expected`: the version in service (None: the base) when the decision was taken.

    Raises Busy when another command moved `current` since.
    """
    with _alone(ws):
        found = versions.current_name(ws)
        if found != expected:
            raise Busy(f"current moved from {expected or 'the base model'} to {found or 'the base model'} meanwhile", "run promote again")
        return _swap(ws, history.PROMOTION, candidate, found, **figures)


def rollback(ws: Workspace) -> history.Entry:
    """Serve what was served before: the version below in the history that is still complete, at last the bare base model.

    Raises No when the base model is in service.
    """
    with _alone(ws):
        found, target = _before(ws)
        return _swap(ws, history.ROLLBACK, target, found, previous_sha256=_sha256(ws, found))


def preview(ws: Workspace) -> history.Entry:
    """What a rollback would write down, without doing it."""
    found, target = _before(ws)
    return {"kind": history.ROLLBACK, "version": target.name if target else None, "previous": found}


def repair(ws: Workspace) -> None:
    """Bring the history back to the link where a killed process left them apart."""
    with _alone(ws):
        pass


@contextlib.contextmanager
def _alone(ws: Workspace) -> Iterator[None]:
    with lock(ws.lock_file("promote"), wait=WAIT):
        if ws.adapters.is_dir():
            _repair(ws)
        yield


def _repair(ws: Workspace) -> None:
    sweep(ws.adapters)
    said, found = history.served(history.ledger(ws))[-1], versions.current_name(ws)
    if said != found:
        log.warning("current is at %s, the history says %s; written down", found or "the base model", said or "the base model")
        history.record(ws, history.FOUND, found, previous=said)


def _before(ws: Workspace) -> tuple[str, AdapterRef | None]:
    """What is in service, and what was before it."""
    found = versions.current_name(ws)
    if found is None:
        raise No("nothing to roll back: the base model is in service")
    for name in reversed(history.served(history.ledger(ws))):
        if name is not None and name != found and (target := _usable(ws, name)):
            return found, target
    return found, None


def _swap(ws: Workspace, kind: str, target: AdapterRef | None, previous: str | None, **figures: Any) -> history.Entry:
    name, digest = (target.name, target.sha256) if target else (None, None)
    entry = history.record(ws, kind, name, adapter_sha256=digest, previous=previous, **figures)
    if target:
        replace_symlink(ws.current, target.name)
    else:
        ws.current.unlink()
        sync(ws.adapters)
    emit(ws, "model.updates", {"version": name, "adapter_sha256": digest, "previous": previous, "kind": kind})
    return entry


def _usable(ws: Workspace, name: str) -> AdapterRef | None:
    try:
        return versions.resolve(ws, name)
    except ClawctlError as error:
        log.warning("passed over %s: %s", name, error)
        return None


def _sha256(ws: Workspace, name: str) -> str | None:
    ref = _usable(ws, name)
    return ref.sha256 if ref else None
