"""A command group that lists its commands from a table and imports one only when it is run."""

from __future__ import annotations

import importlib
import sys
from typing import Any, ClassVar, Literal, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from clawctl.cli.run import leave_quietly

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class Entry(NamedTuple):
    """What `--help` shows of a command before its module is imported."""

    panel: str
    help: str


def plain_off_terminal() -> Literal["rich"] | None:
    """Typer's boxes only where a person looks; plain lines in pipes and cron mail."""
    return "rich" if sys.stdout and sys.stdout.isatty() and sys.stderr and sys.stderr.isatty() else None


class LazyGroup(TyperGroup):
    """`entries` name the commands; the module `package`.NAME holds `command` (a function) or `app` (a Typer)."""

    entries: ClassVar[dict[str, Entry]] = {}
    package: ClassVar[str] = ""

    def __init__(self, **attrs: Any) -> None:
        stubs = {n: TyperCommand(n, help=e.help, rich_help_panel=e.panel, add_help_option=False) for n, e in self.entries.items()}
        super().__init__(**{**attrs, "commands": stubs})

    def load(self, name: str) -> Any:
        """The real command, its module imported now."""
        module = importlib.import_module(f"{self.package}.{name.replace('-', '_')}")
        inner = getattr(module, "app", None)
        if inner is None:
            inner = typer.Typer(add_completion=False)
            inner.command(name)(module.command)
        inner.rich_markup_mode = self.rich_markup_mode
        command: Any = typer.main.get_command(inner)
        command.name = name
        command.context_settings = {**CONTEXT, "auto_envvar_prefix": f"CLAWCTL_{name}"}
        for parameter in command.params:
            parameter.show_envvar = False  # all follow one rule: CLAWCTL_COMMAND_OPTION
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, None, rest
        command = self.load(name)
        if not ctx.resilient_parsing:  # completion must not read settings
            from clawctl.workspace.settings import defaults_for

            ctx.default_map = {name: defaults_for(name, command, rest)}
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # Typer would make it exit 1
            leave_quietly()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.entries.items():
            panels.setdefault(entry.panel, []).append((name, entry.help))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)
