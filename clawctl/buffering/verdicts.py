"""Which groups can go: one verdict for every pending group, by the rules and the adapters of this moment.

"usable", "incomplete" (waits for more members), or the reason that drops it at the next take: "off-policy", "stale", and with the
dynamic filter (DAPO 2503.14476, eq. 11) a metric that is the same for all members, so that no advantage is left: "all-right",
"all-wrong", "all-equal", or "unmeasured" by any. Equal is a range of at most 1e-9: a standard deviation has float noise.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import msgspec

from clawctl.buffering.lineage import Lineage
from clawctl.buffering.rules import Rules
from clawctl.buffering.store import Store
from clawctl.errors import Usage

USABLE, INCOMPLETE = "usable", "incomplete"
FILTERED = ("all-right", "all-wrong", "all-equal", "unmeasured")
DROPPED = ("off-policy", "stale", *FILTERED)
SQL = """
    select groups.g, members, base, case
        when policy not in (select value from json_each(:near)) then 'off-policy'
        when oldest < :since then 'stale'
        when members < :group_size then 'incomplete'
        when :metric is null then 'usable'
        when low is null then 'unmeasured'
        when high - low > 1e-9 then 'usable'
        when low >= 1 - 1e-9 then 'all-right'
        when high <= 1e-9 then 'all-wrong'
        else 'all-equal' end as verdict
    from groups join policies using (policy) left join spreads on spreads.g = groups.g and metric = :metric
    where closed is null
"""


class Tally(NamedTuple):
    """The pending groups of one verdict on one base model. A batch never mixes base models: nothing could train on it."""

    verdict: str
    base: str | None
    groups: int
    rows: int
    complete: int
    first: int


def tallies(store: Store, asked: dict[str, Any]) -> list[Tally]:
    """All pending groups, counted by verdict and base model; `asked` from `terms`."""
    sql = f"""select verdict, base, count(*), sum(members), sum(members >= :group_size), min(g) from ({SQL})
              group by verdict, base order by min(g)"""
    return [Tally(*row) for row in store.db.execute(sql, asked)]


def choose(found: list[Tally], rules: Rules, partial: bool = False) -> Tally | None:
    """The base model whose groups make the next batch: the longest waiting of those that have enough; None if none has."""
    enough = 1 if partial else rules.batch_size
    return next((tally for tally in found if tally.verdict == USABLE and tally.groups >= enough), None)


def terms(store: Store, rules: Rules, lineage: Lineage) -> dict[str, Any]:
    """What SQL asks for: the policies near enough, the oldest moment, and so on. Usage if there is no such metric: a slip of the pen must not drop every group."""
    near = []
    for policy, key in store.db.execute(
        "select policy, key from policies where policy in (select policy from groups where closed is null)"
    ):
        base, adapter, sha256 = msgspec.json.decode(key)
        lag = lineage.lag({"base_sha256": base, "adapter": adapter, "adapter_sha256": sha256})
        if lag is not None and lag <= rules.max_lag:
            near.append(policy)
    metric = rules.filter_metric if rules.dynamic else None
    if metric:
        _check_metric(store, metric)
    since = time.time() - rules.max_age if rules.max_age is not None else float("-inf")
    return {"near": msgspec.json.encode(near).decode(), "since": since, "group_size": rules.group_size, "metric": metric}


def _check_metric(store: Store, metric: str) -> None:
    known = [name for (name,) in store.db.execute("select distinct metric from spreads order by metric")]
    if known and metric not in known:
        raise Usage(f"--filter-metric {metric}: no pending row has it", f"they have: {', '.join(known)}")
