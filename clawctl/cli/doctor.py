"""`clawctl doctor`: is this machine fit for the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawctl.cli.options import Json, ModelOption, WorkspaceOption
from clawctl.errors import ClawctlError

if TYPE_CHECKING:
    from clawctl.house.doctor import Check


def command(model: ModelOption = "starter", workspace: WorkspaceOption = None, as_json: Json = False) -> None:
    """Check this machine: versions, processor, device, what is missing.

    In: the machine, and the workspace if there is one. Out: a line a check, and the command that brings what is missing.
    Exit 0 when the loop can run here, 1 when something it needs is missing.

    Example: clawctl doctor
    """
    import json

    from clawctl.house.doctor import examine
    from clawctl.workspace.paths import Workspace

    checks: list[Check] = []
    for check in examine(Workspace.find_or_none(workspace), model):
        checks.append(check)
        if not as_json:
            _show(check, fresh=len(checks) == 1 or checks[-2]["group"] != check["group"])
    lacking = [check["name"] for check in checks if check["ok"] is False]
    if as_json:
        print(json.dumps({"ok": not lacking, "checks": checks}, indent=2))
    if lacking:
        raise ClawctlError(f"the loop cannot run here: {', '.join(lacking)}", None if as_json else "the lines marked with ! say what to do")


def _show(check: Check, fresh: bool) -> None:
    if fresh:
        print(f"{check['group']}:")
    mark = "!" if check["ok"] is False else " "
    print(f" {mark} {check['name']:<18} {check['value']}" + (f"   -> {check['remedy']}" if check["remedy"] else ""))
