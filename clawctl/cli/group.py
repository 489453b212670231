"""A command group that lists its commands from a table and imports one only when it is run."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, ClassVar, Literal, NamedTuple

import typer
from typer._click.core import ParameterSource
from typer._click.exceptions import UsageError
from typer.core import TyperCommand, TyperGroup

from clawctl.cli.run import leave_quietly
from clawctl.errors import Usage

ARGUMENTS = "clawctl.arguments"  # key of ctx.meta
HELP = {"-h", "--help"}
CONTEXT = {"help_option_names": sorted(HELP), "max_content_width": 110}


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
        command.context_settings = CONTEXT
        _prepare(command, f"CLAWCTL_{name}")
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, None, rest
        command = self.load(name)
        if not ctx.resilient_parsing and not HELP & {*rest}:  # neither completion nor help may fail on settings
            from clawctl.workspace.settings import defaults_for

            ctx.default_map = {name: defaults_for(name, command, rest, self.entries, self.load)}
            ctx.meta[ARGUMENTS] = rest
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # Typer would make it exit 1
            leave_quietly()
        except UsageError as error:
            told = _from_settings(error)
            if told is None and self.rich_markup_mode is None:
                told = Usage(_plain(error), f"{error.ctx.command_path} -h" if error.ctx else None)
            raise told or error from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.entries.items():
            panels.setdefault(entry.panel, []).append((name, entry.help))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def _prepare(command: Any, prefix: str) -> None:
    """Every option reads CLAWCTL_COMMAND_OPTION, then CLAWCTL_OPTION: one rule, so the help need not repeat it at each.

    Examples keep their lines (the backspace is Click's mark for that): a broken one could not be copied.
    """
    from clawctl.workspace.settings import key_of

    command.help = command.help and command.help.replace("\nExample:", "\n\b\nExample:")
    for option in command.params:
        if option.param_type_name == "option" and not option.is_eager:
            key = key_of(option).upper()
            option.envvar = [f"{prefix}_{key}".upper().replace("-", "_"), f"CLAWCTL_{key}"]
        option.show_envvar = False
    for name, inner in getattr(command, "commands", {}).items():
        _prepare(inner, f"{prefix}_{name}")


def _plain(error: Any) -> str:
    """Typer's message in one line, without the words of the library below it."""
    return " ".join(error.format_message().split()).replace("Value error, ", "")


def _from_settings(error: Any) -> Usage | None:
    """A bad value that no flag brought is told by the variable or the line that did."""
    ctx, option = error.ctx, getattr(error, "param", None)
    if ctx is None or option is None:
        return None
    source, message = ctx.get_parameter_source(option.name), error.message.replace("Value error, ", "")
    hint = "`clawctl config` shows every setting and where it came from"
    if source is ParameterSource.ENVIRONMENT:
        variable = next(v for v in option.envvar if os.environ.get(v))
        return Usage(f"{variable}={os.environ[variable]}: {message}", hint)
    if source is ParameterSource.DEFAULT_MAP:
        from clawctl.workspace import settings

        if workspace := settings.named_in(ctx.meta[ARGUMENTS]):
            key = settings.key_of(option)
            where = settings.where_set(workspace.settings, ".".join(ctx.command_path.split()[1:]), key)
            return Usage(f"{where}: {key}: {message}", hint)
    return None
