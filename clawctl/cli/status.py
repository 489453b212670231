"""`clawctl status`: what is where."""

from __future__ import annotations

import json

from clawctl.cli.options import Json, WorkspaceOption


def command(workspace: WorkspaceOption = None, as_json: Json = False) -> None:
    """Show what is where: tasks, pending groups, batches, adapters.

    In: the workspace. Out: a line a thing, or one JSON object. Changes nothing, and looks while others work.

    Example: clawctl status
    """
    from clawctl.buffering.rules import Rules
    from clawctl.cli import walk
    from clawctl.house.status import collect, describe
    from clawctl.workspace.paths import Workspace

    ws = Workspace.find(workspace)
    state = collect(ws, Rules.of(walk.values("buffer", ws)))
    print(json.dumps(state, indent=2) if as_json else "\n".join(describe(state)))
