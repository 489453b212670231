"""`clawctl schema`: the JSON Schema of a record, from the types that check the rows."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

Record = StrEnum("Record", ["task", "rollout", "feedback", "event"])


def command(record: Annotated[Record, typer.Argument(help="Which record.")]) -> None:
    """Print the JSON Schema of a record.

    Example: clawctl schema rollout
    """
    from clawctl.records.check import schema

    print(json.dumps(schema(record.value), indent=2))
