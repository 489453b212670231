"""json: the answer is JSON, bare or in one ```json fence, and valid by `schema` (JSON Schema) where the task gives one.

Runs in a worker that is killed in time, because a schema's patterns can take for ever on an answer made for it.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from clawctl.judges.protocol import Unscorable
from clawctl.judges.verify.mark import RIGHT, Mark, Spec

FENCE = re.compile(r"```[ \t]*(?:json)?[ \t]*\r?\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)


def warm() -> None:
    """Load what takes time to load."""
    import jsonschema  # noqa: F401


def mark(spec: Spec, text: str) -> Mark:
    """1 when the text is JSON and valid by the schema."""
    try:
        value = json.loads(unfenced(text), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return Mark(0.0, f"not JSON: {error}")
    schema = spec.get("schema")
    return RIGHT if schema is None else _valid(value, schema)


def unfenced(text: str) -> str:
    """What stands in the only fence; the text itself where there is none, or more than one."""
    blocks = FENCE.findall(text)
    return blocks[0] if len(blocks) == 1 else text.strip()


def _valid(value: Any, schema: Any) -> Mark:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        # An own registry: jsonschema's default one would fetch a remote $ref over the network.
        errors = sorted(kind(schema, registry=EMPTY_REGISTRY).iter_errors(value), key=lambda e: e.json_path)
    except (SchemaError, Unresolvable, re.error) as error:
        raise Unscorable("task", f"verify.schema: {str(error).splitlines()[0]}") from None
    return RIGHT if not errors else Mark(0.0, f"{errors[0].json_path}: {errors[0].message}"[:300])


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
