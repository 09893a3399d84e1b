"""What commands on files share: their options, and what is asked of the files before any work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from icsa.errors import InputError

if TYPE_CHECKING:
    from icsa.schema import Schema
    from icsa.tables import Table

__all__ = [
    "Decimal",
    "Encoding",
    "Force",
    "PublicReport",
    "Quiet",
    "Report",
    "SchemaFile",
    "Separator",
    "Sheet",
    "read_file",
    "require_free",
    "schema_of",
]

SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="S.toml", help="What each column is; see icsa inspect."),
]
Separator = Annotated[
    str | None, typer.Option("--separator", metavar="CHAR", help="Between cells of text files.")
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", metavar="CHAR", help="Decimal mark of text files.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="Of text files.")]
Sheet = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="Of workbooks; name or number.")
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="F.html", help="An assessment to read; CONFIDENTIAL."),
]
PublicReport = Annotated[
    Path | None,
    typer.Option("--public-report", metavar="F.html", help="The same, to be handed out."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def require_free(
    outputs: Mapping[str, Path | None], inputs: Sequence[Path | None], *, force: bool
) -> None:
    """Refuse targets that would destroy something, before any work is done.

    Parameters
    ----------
    outputs : mapping of str to Path or None
        By the option that names them.
    inputs : sequence of Path or None
        Files that the command reads: never written to, with --force neither.
    force : bool
        Whether other files may be replaced.

    Examples
    --------
    >>> require_free({"--output": Path("a.csv"), "--save-key": Path("a.csv")}, [], force=True)
    Traceback (most recent call last):
    icsa.errors.InputError: --output and --save-key are the same file, a.csv. Give ...
    """
    read = {path.resolve() for path in inputs if path is not None}
    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        place = path.resolve()
        if place in read:
            raise InputError(f"{path} is an input, which is never touched. Give another {option}.")
        if place in taken:
            raise InputError(
                f"{taken[place]} and {option} are the same file, {path}. Give each its own name."
            )
        taken[place] = option
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give {option} the name of a file in it.")
        if path.exists() and not force:
            raise InputError(
                f"{path} is there already. Give another name, or --force to overwrite it."
            )
        if not path.parent.is_dir():
            raise InputError(f"{path.parent} is no folder. Make it first, or write elsewhere.")
        if not os.access(path.parent, os.W_OK):
            raise InputError(f"{path.parent} may not be written to by you. Write elsewhere.")


def read_file(
    path: Path,
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    sheet: str | None,
) -> Table:
    """Return the table of a file; a sheet can be given by its number, from 1."""
    from icsa.tables import read_table

    number = int(sheet) if sheet is not None and sheet.isdecimal() else sheet
    return read_table(path, separator=separator, decimal=decimal, encoding=encoding, sheet=number)


def schema_of(path: Path | None, table: Table) -> Schema | None:
    """Return the schema in a file, None for no file."""
    if path is None:
        return None
    from icsa.schema_files import read_schema

    return read_schema(path, table)
