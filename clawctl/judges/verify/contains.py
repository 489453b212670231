"""contains: the answer contains `all` of these, at least one of `any`, and `none` of those. Case counts, unless `ignore_case`."""

from __future__ import annotations

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.exact import plain
from clawctl.judges.verify.mark import RIGHT, WRONG, Mark, Spec


def mark(spec: Spec, text: str) -> Mark:
    """1 when every condition that the task sets holds."""
    fold = bool(spec.get("ignore_case"))
    wanted = {key: [plain(item, fold) for item in spec.get(key) or []] for key in ("all", "any", "none")}
    if not any(wanted.values()) or any("" in items for items in wanted.values()):
        raise Unscorable("task", "verify of kind contains needs `all`, `any` or `none` with texts that are not empty")
    text = plain(text, fold)
    holds = (
        all(item in text for item in wanted["all"])
        and (not wanted["any"] or any(item in text for item in wanted["any"]))
        and not any(item in text for item in wanted["none"])
    )
    return RIGHT if holds else WRONG
