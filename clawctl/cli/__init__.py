"""The command line: a table of commands, each in a file of its own that is imported when it is called.

A command file defines one function named `command` (or a Typer `app` for a command with sub-commands). Its docstring's first line
is the help shown here; a test keeps the two equal.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, ClassVar

import typer

from clawctl.cli.group import Entry, LazyGroup, plain_off_terminal
from clawctl.cli.run import guarded

LOOP, ADAPTERS, HOUSE = "The loop", "Adapters", "House"


class Root(LazyGroup):
    """The commands by name, in the order of the help."""

    package = "clawctl.cli"
    entries: ClassVar[dict[str, Entry]] = {
        "generate": Entry(LOOP, "Sample answers: tasks in, rollouts out."),
        "judge": Entry(LOOP, "Score answers: rollouts in, rollouts with rewards out."),
        "buffer": Entry(LOOP, "Gather scored rollouts into groups until a batch is ready."),
        "train": Entry(LOOP, "Train a candidate adapter on a batch of scored rollouts."),
        "promote": Entry(LOOP, "Put the candidate in service if it is measurably better."),
        "loop": Entry(LOOP, "Run the loop: generate, judge, buffer, train, promote, N rounds."),
        "eval": Entry(ADAPTERS, "Measure a model or an adapter on tasks."),
        "init": Entry(HOUSE, "Make a workspace: settings, tasks, workflows, patterns."),
        "config": Entry(HOUSE, "Show every setting, its value and where it came from."),
        "status": Entry(HOUSE, "Show what is where: tasks, pending groups, batches, adapters."),
        "doctor": Entry(HOUSE, "Check this machine: versions, processor, device, what is missing."),
        "schema": Entry(HOUSE, "Print the JSON Schema of a record."),
        "tasks": Entry(HOUSE, "Make task files: from a data set, or the bundled kinds."),
        "demo": Entry(HOUSE, "Watch a small model get better, start to end, in a fresh folder."),
    }


def show_version(wanted: bool) -> None:
    """`--version`."""
    if wanted:
        from clawctl import __version__

        print(f"clawctl {__version__}")
        raise typer.Exit


def root(
    version: Annotated[bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Make a small open model better with every interaction.

    Every stage reads and writes JSONL, so the loop is a pipe:

    clawctl generate tasks.jsonl | clawctl judge | clawctl buffer && clawctl train --next && clawctl promote
    """


def app() -> Any:
    """The root command."""
    typed = typer.Typer(
        cls=Root,
        name="clawctl",
        rich_markup_mode=plain_off_terminal(),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        epilog="Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no, 75 busy, 130/141/143 signals.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    typed.callback()(root)
    return typer.main.get_command(typed)


def main() -> None:
    """The console script's entry point."""
    with guarded(sys.argv):
        app().main(prog_name="clawctl")
