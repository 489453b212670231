"""`clawctl init`: a folder becomes a workspace."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from clawctl.cli.options import DryRun, Json, Quiet
from clawctl.cli.run import quiet

log = logging.getLogger("clawctl.init")


def command(
    directory: Annotated[str, typer.Argument(help="The folder; made when it is not there.", metavar="DIR")] = ".",
    dry_run: DryRun = False,
    as_json: Json = False,
    q: Quiet = False,
) -> None:
    """Make a workspace: settings, tasks, workflows, patterns.

    In: a folder, the current one by default. Out: the files that a workspace needs in it; those that are there stay as they are.

    Example: clawctl init agent
    """
    from pathlib import Path

    from clawctl.workspace.new import check_place, contents, create

    quiet(q or as_json)
    root = Path(directory)
    check_place(root)
    names = [name for name, _ in contents()]
    left = [name for name in names if (root / name).exists() or (root / name).is_symlink()]
    made = [name for name in names if name not in left]
    if not dry_run:
        create(root)
    if as_json:
        import json

        print(json.dumps({"workspace": str(root.resolve()), "dry_run": dry_run, "made": made, "left": left}, indent=2))
    for name in made:
        log.info("%s %s", "would make" if dry_run else "made", name)
    for name in left:
        log.info("left %s as it is", name)
    if not dry_run:
        log.info("%s is a workspace; next: `clawctl doctor` in it", root.resolve())
