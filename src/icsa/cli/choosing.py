"""``icsa anonymize --choose``: what a comparison advises, and nothing that may not be released."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.assessment import Assessment
    from icsa.choice import Compared
    from icsa.release import Release
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = [
    "Choose",
    "chosen_options",
    "require_choosing",
    "require_released",
    "require_word",
    "take_advice",
]

# The exit code where nothing may be released.
_NOT_RELEASED = 3

Choose = Annotated[
    bool,
    typer.Option(
        "--choose",
        help="Compare first, as icsa compare does, and release by what it advises. Exits with 3, "
        "and writes nothing, where nothing may be released.",
    ),
]


def require_choosing(choose: bool, asked: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    """Refuse options that are for choosing without it, and what is chosen beside it."""
    if not choose:
        for option, given in asked.items():
            if given:
                raise InputError(f"{option} is for a choice. Give --choose too, or leave it out.")
        return
    for option, given in chosen.items():
        if given:
            raise InputError(f"--choose finds out what {option} is to be. Leave one of them out.")


def chosen_options(
    table: Table, schema: Schema | None, choices: Mapping[str, Any], *, quiet: bool, **asked: Any
) -> Any:
    """Return the options of the release that a comparison advises; exit with 3 for none.

    Parameters
    ----------
    table, schema
        What is to be released.
    choices : mapping
        Of `icsa.release.prepare`: columns to keep and to drop, and whom the rows are about.
    quiet : bool
        Whether to say nothing.
    **asked
        Options of `icsa.cli.compare.compared`.
    """
    from icsa.cli.compare import compared

    fates = {"keep": choices["keep"], "drop": choices["drop"]}
    found = compared(table, schema, quiet=quiet, **fates, **choices["design"], **asked)
    return take_advice(found, quiet=quiet)


def take_advice(found: Compared, *, quiet: bool) -> dict[str, Any]:
    """Return the options of the release that is advised, after saying why; exit with 3 for none."""
    if not quiet:
        print(found.advice.text)
        for note in found.notes:
            print(f"note: {note}")
    if not found.advice.may_be_released:
        print("icsa: nothing was written.", file=sys.stderr)
        raise typer.Exit(_NOT_RELEASED)
    return found.advice.candidate.options


def require_released(table: Table, made: Release, schema: Schema) -> None:
    """Exit with 3 unless the word of the very release that is about to be written is release."""
    from icsa.assessment import assess

    require_word(assess(table, made.table, schema=schema))


def require_word(found: Assessment) -> None:
    """Exit with 3 unless the word of an assessment is release."""
    if found.verdict == "release":
        return
    why = "; ".join(reason.text for reason in found.reasons)
    told = f"icsa: the release under this key is {found.verdict!r}: {why}. Nothing was written"
    print(f"{told}; the same command draws another key.", file=sys.stderr)
    raise typer.Exit(_NOT_RELEASED)
