"""How far behind a policy is: the number of adapter versions between it and the newest of its line.

A line runs from an adapter over its card's `parent` down to the bare base model. Two lines count, for each base model: that of
`current`, and that of the newest version, since the loop samples from a candidate before it is in service. A policy on
neither is off-policy however new it is; on both, the shorter way counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from clawctl.adapters import versions
from clawctl.adapters.versions import AdapterRef
from clawctl.workspace.paths import Workspace

Policy = tuple[str | None, str | None, str | None]  # base_sha256, adapter, adapter_sha256


class Removed(NamedTuple):
    """A version whose folder is gone; what is known of it stands on its child's card."""

    name: str
    sha256: str | None


Line = list[AdapterRef | Removed | None]  # the newest first; None is the bare base model


class Lineage:
    """The lines of a workspace as they are now; adapters that come later are not seen."""

    def __init__(self, ws: Workspace) -> None:
        self._versions = {ref.name: ref for ref in versions.listing(ws)}
        self._current = versions.resolve(ws, versions.CURRENT)
        self._lags: dict[Policy, int | None] = {}
        self._by_base: dict[str | None, list[Line]] = {}

    def lag(self, policy: dict[str, Any]) -> int | None:
        """Versions between this policy and the newest of its line; None for a policy on no line."""
        key = policy_key(policy)
        if key not in self._lags:
            found = [_place(line, key[1], key[2]) for line in self._lines(key[0])]
            self._lags[key] = min((lag for lag in found if lag is not None), default=None)
        return self._lags[key]

    def _lines(self, base: str | None) -> list[Line]:
        if base not in self._by_base:
            ours = [ref for ref in self._versions.values() if _trained_on(ref, base)]
            served = self._current if self._current and _trained_on(self._current, base) else None
            self._by_base[base] = [self._line(head) for head in (served, *ours[-1:])]
        return self._by_base[base]

    def _line(self, head: AdapterRef | None) -> Line:
        """From `head` (lag 0) down to the base model (None), as far as the cards tell."""
        line: Line = []
        seen: set[str] = set()
        ref = head
        while ref is not None and ref.name not in seen:
            seen.add(ref.name)
            line.append(ref)
            parent = ref.card.get("parent")
            if parent and parent not in self._versions:
                return [*line, Removed(parent, ref.card.get("parent_sha256"))]
            ref = self._versions.get(parent) if parent else None
        return [*line, None]


def _place(line: Line, name: str | None, sha256: str | None) -> int | None:
    """Where on the line the adapter is. A hash must match where the row has one: a name alone can be another workspace's.

    Hashing reads an adapter whole, so the names are compared first.
    """
    if name is None and sha256 is None:
        return line.index(None) if None in line else None
    links = [(lag, link) for lag, link in enumerate(line) if link]
    for lag, link in links:
        if link.name == name and sha256 in (None, link.sha256):
            return lag
    return next((lag for lag, link in links if sha256 and link.sha256 == sha256), None)


def _trained_on(ref: AdapterRef, base: str | None) -> bool:
    """Whether it belongs to this base model, as far as both sides say."""
    return base is None or ref.base_sha256 in (None, base)


def policy_key(policy: dict[str, Any]) -> Policy:
    """What tells policies apart."""
    return policy.get("base_sha256"), policy.get("adapter"), policy.get("adapter_sha256")
