"""How the buffer stands: what waits, what can go, what is missing, what was dropped."""

from __future__ import annotations

from collections import Counter
from typing import Any

from clawctl.buffering import batches
from clawctl.buffering.lineage import Lineage
from clawctl.buffering.rules import Rules
from clawctl.buffering.store import Store
from clawctl.buffering.verdicts import FILTERED, USABLE, choose, tallies, terms
from clawctl.workspace.paths import Workspace


def status(ws: Workspace, store: Store, rules: Rules) -> dict[str, Any]:
    """The state of the buffer by these rules.

    groups, rows: pending. complete: groups with all members; usable: those of them that can go in a batch. shortfall: how many more
    usable groups a batch needs (0 when ready). held: pending groups that are not usable, by reason; a take drops all of
    them but the incomplete. dropped: rows refused or dropped so far; filtered: groups that the dynamic filter dropped so far.
    """
    found = tallies(store, terms(store, rules, Lineage(ws)))
    usable = [tally.groups for tally in found if tally.verdict == USABLE]
    held: dict[str, int] = {}
    for tally in found:
        if tally.verdict != USABLE:
            held[tally.verdict] = held.get(tally.verdict, 0) + tally.groups
    dropped = store.db.execute("select reason, rows, groups from dropped order by reason").fetchall()
    return {
        "ready": choose(found, rules) is not None,
        "shortfall": max(0, rules.batch_size - max(usable, default=0)),
        "batch_size": rules.batch_size,
        "group_size": rules.group_size,
        "groups": sum(tally.groups for tally in found),
        "rows": sum(tally.rows for tally in found),
        "complete": sum(tally.complete for tally in found),
        "usable": sum(usable),
        "held": held,
        "dropped": {reason: rows for reason, rows, _ in dropped},
        "filtered": {reason: groups for reason, _, groups in dropped if reason in FILTERED},
        "taken": store.db.execute("select count(*) from batches").fetchone()[0],
        "untrained": batches.untrained(ws),
    }


def headline(state: dict[str, Any]) -> str:
    """The state for people, in a line."""
    size = f"a batch of {state['batch_size']} groups of {state['group_size']}"
    verdict = f"ready for {size}" if state["ready"] else f"{state['shortfall']} short of {size}"
    return f"{state['groups']} groups ({state['rows']} rows) pending, {state['complete']} complete, {state['usable']} usable: {verdict}"


def details(state: dict[str, Any]) -> list[str]:
    """What else there is to say, a line a thing."""
    lines = []
    if state["held"]:
        lines.append("groups not usable: " + by_reason(state["held"]))
    if state["dropped"]:
        lines.append("rows refused or dropped so far: " + by_reason(state["dropped"]))
    if state["taken"]:
        waiting = state["untrained"]
        lines.append(f"{state['taken']} batches taken, {len(waiting)} of them untrained" + (f", next {waiting[0]}" if waiting else ""))
    return lines


def arrivals(added: Counter[str], bad: int) -> str:
    """What became of the rows that came in, for people; `bad` lines were no rows."""
    refused = {reason: n for reason, n in added.items() if reason != "kept"}
    said = f"{added.total()} rows in, {added['kept']} kept"
    if refused:
        said += f", {sum(refused.values())} not ({by_reason(refused)})"
    return said + (f", {bad} bad lines" if bad else "")


def by_reason(counts: dict[str, int]) -> str:
    """ "2 stale, 3 unscored"."""
    return ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items()))
