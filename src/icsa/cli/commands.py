"""The commands. What is heavy is imported by the command that needs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

import icsa
from icsa.cli.anonymize import anonymize
from icsa.cli.app import app as app_command
from icsa.cli.assess import assess, policy
from icsa.cli.attack import attack
from icsa.cli.compare import compare
from icsa.cli.inspect import inspect
from icsa.cli.study import app as study_app
from icsa.cli.verify import verify
from icsa.errors import InputError

__all__ = ["app", "invoke"]

# By this variable a shell asks what can follow the words that somebody is typing.
_COMPLETION = "_ICSA_COMPLETE"

app = typer.Typer(
    name="icsa",
    help="Anonymize tables about people in which some stand out.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: nothing of rich is imported for it
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(anonymize)
app.command("app")(app_command)
app.command()(assess)
app.command()(attack)
app.command()(compare)
app.command()(inspect)
app.command()(policy)
app.command()(verify)
app.add_typer(study_app, name="study")


def _show_version(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:  # a shell that completes is told no version
        print(f"icsa {icsa.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error. Works anywhere.")
    ] = False,
) -> None:
    """Anonymize tables about people in which some stand out."""


@app.command()
def scatters() -> None:
    """List the scatters: name, robustness class, what it is.

    Two of them make a pair for icsa anonymize --scatters.

    Example: icsa scatters
    """
    from rich.table import Table

    from icsa.cli.console import console
    from icsa.scatters import SCATTERS

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("scatter", "class", "what it is"):
        table.add_column(heading, no_wrap=heading != "what it is")
    for name, scatter in SCATTERS.items():
        table.add_row(name, scatter.robustness, scatter.summary)
    show = console()
    show.print(table)
    show.print()
    show.print(
        "Class I: one outlier can break it. II: many can. III: fewer than half of the rows cannot. "
        "-: does not look at the data."
    )


def invoke(arguments: Sequence[str]) -> int:
    """Return the exit code of a command; what is wrong with its options is an `InputError`."""
    command = typer.main.get_command(app)
    try:
        if os.environ.get(_COMPLETION):
            command.main([], prog_name="icsa", standalone_mode=False)
        with command.make_context("icsa", list(arguments) or ["--help"]) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except SystemExit as end:  # how typer ends once it has answered a shell
        return 2 if end.code else 0
    except Exception as error:
        # Which class has usage errors depends on typer's version; all of them have this method.
        if not hasattr(error, "format_message"):
            raise
        raise InputError(_with_hint(error.format_message(), error)) from error
    return 0


def _with_hint(message: str, error: Exception) -> str:
    """Return a message of typer's as a sentence, and where to read on."""
    sentence = message if message.endswith((".", "?")) else f"{message}."
    context = getattr(error, "ctx", None)
    return sentence if context is None else f"{sentence} Try '{context.command_path} --help'."
