"""What formats of files share: the record of one, names of columns, libraries that some need."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

import polars as pl

from icsa.errors import InputError
from icsa.tables.table import Table

__all__ = [
    "FileKind",
    "Format",
    "ReadingOptions",
    "check_usable",
    "has_fractions",
    "listed_names",
    "require",
    "writable_letters",
]

_MOST_LISTED = 5


@dataclass(frozen=True)
class FileKind:
    """The format of a file, its suffix, and whether gzip compressed it."""

    file_format: str
    suffix: str
    compressed: bool = False

    @property
    def of_content(self) -> str:
        """The suffix in small letters and without ``.gz``."""
        return self.suffix.lower().removesuffix(".gz")


@dataclass(frozen=True)
class ReadingOptions:
    """What people say about a file beyond its name; None: found from the file."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of files: how it is called, read and written, and what it can hold besides cells.

    Attributes
    ----------
    name : str
        As `Layout.file_format` has it.
    title : str
        For people.
    suffixes : tuple of str
        How names of such files end, in small letters.
    read : function
        From the file to the table.
    write : function, optional
        Writes the table to the file; None for a format that can only be read.
    written_as : str
        The suffix of a release where the format itself cannot be written.
    options : tuple of str
        The fields of `ReadingOptions` that it has a use for.
    gzipped : bool
        Whether such files may also be compressed, with ``.gz`` behind the suffix.
    column_labels : bool
        Whether columns have labels.
    value_labels : "any", "whole" or ""
        Which values can have labels: all, whole numbers only, or none.
    missing_letters : str
        Letters that say why a number is missing.
    declares_codes : bool
        Whether it says which values stand for missing.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, FileKind, ReadingOptions], Table]
    write: Callable[[Table, Path, FileKind], object] | None
    written_as: str = ""
    options: tuple[str, ...] = ()
    gzipped: bool = False
    column_labels: bool = False
    value_labels: Literal["any", "whole", ""] = ""
    missing_letters: str = ""
    declares_codes: bool = False


def check_usable(source: str, names: Iterable[str]) -> None:
    """Raise an error for a name that polars takes for a pattern of names: ``*`` and ``^...$``."""
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise InputError(
                f"{source}: column {name!r} cannot keep its name, which would stand for other "
                "columns too. Rename it."
            )


def writable_letters(table: Table, alphabet: str) -> dict[str, pl.Series]:
    """Return the letters of each column that are in an alphabet, where the cell is missing."""
    known = list(alphabet)
    found = {}
    for name, letters in table.missing_letters.items():
        if name in table.frame.columns:
            fitting = letters.is_in(known) & table.frame[name].is_null()
            if fitting.any():
                found[name] = letters.set(~fitting.fill_null(False), None)
    return found


def has_fractions(cells: pl.Series) -> bool:
    """Return whether some numbers are not whole.

    Examples
    --------
    >>> has_fractions(pl.Series([1.0, 2.5])), has_fractions(pl.Series([1.0, None]))
    (True, False)
    """
    return cells.dtype.is_float() and bool((cells % 1 != 0).any())


def listed_names(names: Sequence[str]) -> str:
    """Return some names in quotes, the first five and how many more."""
    more = len(names) - _MOST_LISTED
    listed = ", ".join(repr(name) for name in names[:_MOST_LISTED])
    return listed if more <= 0 else f"{listed} and {more} more"


def require(name: str, purpose: str) -> ModuleType:
    """Return a library, imported when it is first needed.

    Examples
    --------
    >>> require("json", "nothing").__name__
    'json'
    >>> require("no_such_library", "clay tablets")
    Traceback (most recent call last):
    icsa.errors.InputError: Reading or writing clay tablets needs ...
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(
            f"Reading or writing {purpose} needs the library {name}. "
            f"Install it with: pip install {name}"
        ) from None
