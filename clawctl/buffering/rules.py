"""What the buffer accepts, and when it is ready."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from clawctl.buffering.lineage import Lineage
from clawctl.errors import Usage

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True)
class Rules:
    """A group is complete with `group_size` members or more; a batch is `batch_size` complete groups that pass.

    max_lag: how many adapter versions a row may be behind. max_age: seconds since it was sampled; None is any age.
    dynamic: a group passes only if `filter_metric` differs among its members (DAPO 2503.14476, eq. 11).
    """

    batch_size: int = 16
    group_size: int = 8
    max_lag: int = 1
    max_age: float | None = None
    dynamic: bool = False
    filter_metric: str = "reward"

    @classmethod
    def of(cls, options: dict[str, Any]) -> Rules:
        """By the options of `clawctl buffer`."""
        same = {key: options[key] for key in ("batch_size", "group_size", "max_lag", "filter_metric")}
        return cls(**same, max_age=seconds(options["max_age"]), dynamic=options["filter"] == "dynamic")


def refusal(row: dict[str, Any], rules: Rules, lineage: Lineage) -> str | None:
    """Why this row is not for training, whatever is in the buffer; None if it may come in."""
    if row.get("error") is not None:
        return "errored"
    if row.get("excluded") is not None:
        return "excluded"
    if row.get("reward") is None:
        return "unscored"
    if rules.max_age is not None and time.time() - sampled_at(row) > rules.max_age:
        return "stale"
    lag = lineage.lag(row.get("policy") or {})
    return "off-policy" if lag is None or lag > rules.max_lag else None


def sampled_at(row: dict[str, Any]) -> float:
    """When the row was sampled, in seconds since 1970; a row that does not say counts from now."""
    try:
        moment = datetime.fromisoformat(row["created_at"])
    except (KeyError, TypeError, ValueError):
        return time.time()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def seconds(age: str) -> float | None:
    """ "90s", "12h", "7d", "2w" or a bare number of seconds; "" is None."""
    if not age.strip():
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw]?)", age.strip())
    if not found:
        raise Usage(f"--max-age {age}: not a time span", "a number and a unit: 90s, 30m, 12h, 7d, 2w")
    return float(found[1]) * UNITS[found[2]]
