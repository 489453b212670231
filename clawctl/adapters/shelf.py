"""What stands in data/adapters: each complete version, where it came from, and what was last decided about it."""

from __future__ import annotations

from typing import Any

from clawctl.adapters import history, versions
from clawctl.workspace.paths import Workspace


def shelf(ws: Workspace) -> list[dict[str, Any]]:
    """One row a version, oldest first: version, current, parent, algorithm, created, decision, verdict, gain, decided."""
    entries, served = list(history.ledger(ws)), versions.current_name(ws)
    rows = []
    for ref in versions.listing(ws):
        word = history.last_word(entries, ref.name, ref.sha256) or {}
        rows.append(
            {
                "version": ref.name,
                "current": ref.name == served,
                "parent": ref.card.get("parent"),
                "algorithm": ref.card.get("algorithm"),
                "created": ref.card.get("created"),
                "decision": word.get("kind"),
                "verdict": word.get("verdict"),
                "gain": word.get("gain"),
                "decided": word.get("created"),
            }
        )
    return rows


def shelf_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The same for people; `*` marks the version in service."""
    if not rows:
        return ["no adapters yet; clawctl train makes one"]
    lines = [f"  {'version':<8} {'parent':<7} {'algorithm':<10} {'decision':<10} {'gain':>7}  created"]
    for row in rows:
        gain = f"{row['gain']:+.3f}" if row["gain"] is not None else "-"
        mark = "*" if row["current"] else " "
        lines.append(
            f"{mark} {row['version']:<8} {row['parent'] or '-':<7} {row['algorithm'] or '-':<10} "
            f"{row['decision'] or '-':<10} {gain:>7}  {(row['created'] or '-')[:19]}"
        )
    return lines
