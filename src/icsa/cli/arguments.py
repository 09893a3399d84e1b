"""What commands on files share: options, what is asked of files before any work, told after."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icsa.errors import ICSAError, InputError, UnknownNameError

if TYPE_CHECKING:
    from icsa.schema import Schema
    from icsa.tables import Table
    from icsa.tables.table import Layout

__all__ = [
    "Bound",
    "DecidedBy",
    "Decimal",
    "Encoding",
    "Force",
    "PreparedBy",
    "PublicReport",
    "Quiet",
    "Rehearse",
    "Report",
    "Role",
    "SchemaFile",
    "Separator",
    "Sheet",
    "Strata",
    "Time",
    "Unit",
    "Weight",
    "design_of",
    "naming_the_file",
    "naming_the_sheet",
    "read_file",
    "require_folder",
    "require_free",
    "require_of_use",
    "scatter_pair",
    "schema_of",
    "taking",
    "telling_what_is_written",
]


def taking(names: str, value: str, what: str, **more: Any) -> Any:
    """Return an option that takes a value: its names, how the value is called, what it is for."""
    return typer.Option(*names.split(), metavar=value, help=what, **more)


SchemaFile = Annotated[
    Path | None, taking("--schema", "S.toml", "What each column is; see icsa inspect.")
]
Unit = Annotated[
    str | None,
    taking("--unit", "COLUMN", "Names people with several rows; none: every row is a person."),
]
Time = Annotated[str | None, taking("--time", "COLUMN", "With --unit: when a row was.")]
Bound = Annotated[str | None, taking("--bound", "COLUMN", "With --time: no time exceeds it.")]
Role = Annotated[str | None, taking("--role", "COLUMN", "With --unit: who of a household it is.")]
Weight = Annotated[str | None, taking("--weight", "COLUMN", "How many people a row stands for.")]
Strata = Annotated[
    list[str] | None, taking("--strata", "COLUMN", "Released each for itself; repeatable.")
]
Separator = Annotated[str | None, taking("--separator", "CHAR", "Between cells of text files.")]
Decimal = Annotated[str | None, taking("--decimal", "CHAR", "Decimal mark of text files.")]
Encoding = Annotated[str | None, taking("--encoding", "NAME", "Of text files.")]
Sheet = Annotated[str | None, taking("--sheet", "NAME", "Of workbooks; name or number.")]
Report = Annotated[
    Path | None, taking("--report", "F.html", "An assessment to read; CONFIDENTIAL.")
]
PublicReport = Annotated[
    Path | None, taking("--public-report", "F.html", "The same, to be handed out.")
]
Rehearse = Annotated[
    int | None,
    taking(
        "--rehearse",
        "N",
        "Release N random halves of the people too, to compare who was in with who was not; 0 for "
        "none. Default: what takes less than a minute, where the recipe is known.",
        min=0,
    ),
]
PreparedBy = Annotated[
    str, taking("--prepared-by", "NAME", "Who made the release; in both editions of the report.")
]
DecidedBy = Annotated[
    str, taking("--decided-by", "NAME", "Who decides about it; in both editions of the report.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def design_of(
    unit: str | None,
    time: str | None,
    bound: str | None,
    role: str | None,
    weight: str | None,
    strata: Sequence[str] | None,
) -> dict[str, Any]:
    """Return what options say of the rows, by the keys of a schema's design."""
    said = {"time": time, "bound": bound, "role": role, "weight": weight}
    found: dict[str, Any] = {"unit": False if unit == "none" else unit, **said}
    return {**found, "strata": tuple(strata or ())}


def require_free(
    outputs: Mapping[str, Path | None], inputs: Sequence[Path | None], *, force: bool
) -> None:
    """Refuse targets that would destroy something, before any work is done.

    Outputs are given by the option that names them. Inputs are never written to, with --force
    neither; with it other files may be replaced.
    """
    # Not Path.resolve, which ends in an error of its own where a link leads to itself.
    read = {os.path.realpath(file) for path in inputs if path for file in _files_of(path)}
    taken: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in read:
            raise InputError(f"{path} is an input, which is never touched. Give another {option}.")
        if place in taken:
            raise InputError(
                f"{taken[place]} and {option} are the same file, {path}. Give each its own name."
            )
        taken[place] = option
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give {option} the name of a file in it.")
        if os.path.lexists(path) and not force:  # a link that leads nowhere is something too
            raise InputError(
                f"{path} is there already. Give another name, or --force to overwrite it."
            )
        require_folder(path.parent)


def _files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that a name stands for; what reads folders is loaded for these alone."""
    from icsa.files import is_several

    if not is_several(path):
        return (path,)
    from icsa.tables.stored import parquet_parts

    return parquet_parts(path)


def require_folder(folder: Path) -> None:
    """Refuse to write where there is no folder, or where it may not be written to."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder. Make it first, or write elsewhere.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{folder} may not be written to by you. Write elsewhere.")


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


def require_of_use(
    paths: Sequence[Path | None],
    *,
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    sheet: str | None,
) -> None:
    """Refuse an option of reading that goes with none of the files."""
    options = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    given = [option for option, value in options.items() if value is not None]
    if not given:
        return
    from icsa.files import is_several
    from icsa.tables import FORMATS, file_kind

    files = [path for path in paths if path is not None]
    formats = {"parquet" if is_several(path) else file_kind(path).file_format for path in files}
    for option in given:
        suited = [known for known in FORMATS.values() if option in known.options]
        if formats.isdisjoint(known.name for known in suited):
            what = ", ".join(suffix for known in suited for suffix in known.suffixes)
            listed = " and ".join(map(str, dict.fromkeys(files)))
            none = "is none" if len(set(files)) == 1 else "are none"
            raise InputError(f"--{option} is for {what} files, and {listed} {none}. Leave it out.")


@contextmanager
def naming_the_file(path: Path, *others: Path) -> Iterator[None]:
    """Have errors about a table begin with the file that it is from, which commands in them name.

    Errors that begin with another file are about that one. Unknown names are left alone: they are
    of options or in a schema, and say so. Errors about the structure of a file count its header as
    row 1, so those about cells say that they do not.
    """
    try:
        yield
    except ICSAError as error:
        named = str(error).startswith(tuple(map(str, (path, *others))))
        if not isinstance(error, UnknownNameError) and not named:
            said = re.sub(
                r"(?<=icsa )(\w+) FILE\b", lambda m: f"{m[1]} {quote(str(path))}", str(error)
            )
            error.args = (f"{path}: {said}", *error.args[1:])
        if " in row " in str(error):
            error.add_note("Rows are counted from the first below the header.")
        raise


@contextmanager
def naming_the_sheet(layout: Layout) -> Iterator[None]:
    """Have errors say which sheet was read, where nobody chose one of several."""
    from icsa.tables.base import listed_names

    try:
        yield
    except InputError as error:
        if others := layout.other_sheets:
            error.add_note(
                f"Sheet {layout.sheet!r} was read. Read another with --sheet: "
                f"{listed_names(others)}."
            )
        raise


def scatter_pair(scatters: str | None) -> list[str] | None:
    """Return the names that --scatters gives; None for no option."""
    if scatters is None:
        return None
    names = [name.strip() for name in scatters.split(",")]
    if len(names) == 2 and names[0] == names[1]:  # known before a long file is read
        raise InputError(f"--scatters names {names[0]!r} twice. Give two that differ.")
    return names


def schema_of(path: Path | None, table: Table) -> Schema | None:
    """Return the schema in a file, None for no file."""
    if path is None:
        return None
    from icsa.schema_files import read_schema

    return read_schema(path, table)


@contextmanager
def telling_what_is_written(paths: Iterable[Path | None]) -> Iterator[None]:
    """Have an interruption say which of all files that a command may write are written by then."""
    before = {path: _state(path) for path in paths if path is not None}
    try:
        yield
    except KeyboardInterrupt as stop:
        done = [path for path, state in before.items() if _state(path) != state]
        missing = [path for path in before if path not in done]
        stop.add_note(f"Written: {_listed(done)}." if done else "Nothing was written.")
        if done and missing:
            stop.add_note(f"Not written: {_listed(missing)}.")
        raise


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what differs once a file has been replaced; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))
