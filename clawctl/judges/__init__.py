"""Judges: what says how good an answer is. One file or folder a judge, named in JUDGES.

A judge is a protocol (judges/protocol.py): `score(row)` gives a Score, and the stage (judges/stage.py) makes rewards of scores.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping

from clawctl.errors import Usage
from clawctl.judges.protocol import Judge, Unscorable

__all__ = ["JUDGES", "Judge", "Unscorable", "open_judges"]

# name -> "module:factory"; a factory takes the options of `--with NAME:key=value` and raises Usage for one it does not know.
JUDGES: dict[str, str] = {
    "verify": "clawctl.judges.verify.judge:open_judge",
}


def open_judges(specs: Iterable[str]) -> list[Judge]:
    """The judges that `--with` names, as `NAME` or `NAME:key=value,key=value`, each once. Usage for a name or an option that is not known."""
    named: dict[str, Judge] = {}
    for spec in specs:
        name, _, options = spec.partition(":")
        if name not in JUDGES:
            raise Usage(f"no judge {name!r}", f"known judges: {', '.join(JUDGES)}")
        if name in named:
            raise Usage(f"judge {name} is named twice")
        module, _, factory = JUDGES[name].partition(":")
        make: Callable[[Mapping[str, str]], Judge] = getattr(importlib.import_module(module), factory)
        named[name] = make(_options(spec, options))
    return list(named.values())


def _options(spec: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise Usage(f"{spec}: expected key=value, got {item!r}", "e.g. --with verify:timeout=5")
        options[key.strip()] = value.strip()
    return options
