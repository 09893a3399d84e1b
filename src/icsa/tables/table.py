"""A table as it was read: typed cells, and what the file says about each column besides them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import polars as pl

from icsa.errors import InputError

__all__ = ["Layout", "Measurement", "Origin", "Table", "Variable", "require_unchanged"]

Measurement: TypeAlias = Literal["nominal", "ordinal", "scale"]

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Variable:
    """What a file says about one column besides its cells.

    Attributes
    ----------
    label : str, optional
        The column in words.
    value_labels : mapping
        From a cell's value to its meaning, as SPSS, Stata and SAS keep them.
    measurement : "nominal", "ordinal" or "scale", optional
        What SPSS calls the measurement level.
    missing_codes : tuple
        Values that stand for missing, each with a meaning of its own (99 = refused): single values,
        or pairs (lowest, highest). Cells keep these codes.
    letter_labels : mapping of str to str
        From a lettered missing value of Stata or SAS (``a`` to ``z``, ``_``) to its meaning.
    display_format : str, optional
        How the program shows the column, such as ``F8.2`` or ``%9.0g``.
    text_format : str, optional
        How a text file writes the cells: the pattern of dates and times (``%d-%m-%Y``), the words
        of booleans (``TRUE/FALSE``), ``grouped`` for numbers with a separator of thousands.
    decimals : int, optional
        Digits after the decimal mark in a text file, where every cell has as many.
    """

    label: str | None = None
    value_labels: Mapping[Any, str] = field(default_factory=lambda: _NOTHING)
    measurement: Measurement | None = None
    missing_codes: tuple[Any, ...] = ()
    letter_labels: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    display_format: str | None = None
    text_format: str | None = None
    decimals: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what can be pickled: a view of a mapping cannot."""
        state = vars(self).items()
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in state}


@dataclass(frozen=True)
class Layout:
    """How the file was written, so that a release can be written alike.

    Attributes
    ----------
    file_format : str
        "csv", "parquet", "feather", "xlsx", "sav", "zsav", "dta", "sas7bdat", "xpt", or "frame".
    separator, decimal, thousands, quote, encoding, newline : str, optional
        Of text files.
    missing : str
        How a text file writes a missing cell.
    sheet : str, optional
        Of workbooks.
    compressed : bool
        Whether a text file was compressed by gzip.
    other_sheets : tuple of str
        Of a workbook: those that were not read, where nobody said which to read.
    suffix : str, optional
        Of text files: how the name ends without ``.gz``, such as ``.tsv``.
    blank_rows : int
        Rows without a cell at the end of the file, which were left out.
    unnamed : tuple of str
        What columns are called that have no name in the file.
    """

    file_format: str
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    quote: str | None = None
    encoding: str | None = None
    newline: str | None = None
    missing: str = ""
    sheet: str | None = None
    compressed: bool = False
    other_sheets: tuple[str, ...] = ()
    suffix: str | None = None
    blank_rows: int = 0
    unnamed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """The file or files that a table was read from, and how they were before.

    Attributes
    ----------
    path : Path
        As it was given: of a file, a folder or a pattern.
    parts : tuple of Path
    states : tuple of (int, int)
        Of every part its size, and when it was changed, in nanoseconds.
    """

    path: Path
    parts: tuple[Path, ...]
    states: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, path: Path, parts: tuple[Path, ...] = ()) -> Origin:
        """Return how the files are now that a table is in: itself, or its parts."""
        files = parts or (path,)
        found = [file.stat() for file in files]
        return cls(path, files, tuple((one.st_size, one.st_mtime_ns) for one in found))


def require_unchanged(origins: Iterable[Origin]) -> None:
    """Refuse files that are others than they were: what was read at first and later may differ.

    One that is gone was read, or reading it would have failed.
    """
    for origin in origins:
        if origin.path.exists() and Origin.of(origin.path) != origin:
            raise InputError(
                f"{origin.path} was changed while it was read. Let no program write to it, and "
                "begin again."
            )


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A data frame with its variables and its layout.

    Attributes
    ----------
    frame : polars.DataFrame
        The cells; null where missing.
    variables : mapping of str to Variable
        By column; columns without an entry have nothing to say.
    layout : Layout
        How the file was written.
    missing_letters : mapping of str to polars.Series
        For columns of Stata and SAS with lettered missing values (.a to .z, and ._): the letter of
        each row, null where there is none. The cells of such rows are null.
    origin : Origin, optional
        The file that these cells were read from; None for others. No copy has it, as a copy's cells
        may be other ones: whoever makes a release from a table does not pass on its file.
    """

    frame: pl.DataFrame
    variables: Mapping[str, Variable] = field(default_factory=lambda: _NOTHING)
    layout: Layout = field(default_factory=lambda: Layout("frame"))
    missing_letters: Mapping[str, pl.Series] = field(default_factory=lambda: _NOTHING)
    origin: Origin | None = field(default=None, init=False)

    def variable(self, name: str) -> Variable:
        """Return what the file says about a column."""
        return self.variables.get(name, _SILENT)

    def with_frame(
        self, frame: pl.DataFrame, missing_letters: Mapping[str, pl.Series] = _NOTHING
    ) -> Table:
        """Return another table's cells and letters with these variables and this layout."""
        return replace(self, frame=frame, missing_letters=missing_letters)

    def read_from(self, origin: Origin) -> Table:
        """Return this table with the file that it was read from."""
        same = replace(self)
        object.__setattr__(same, "origin", origin)
        return same

    def __repr__(self) -> str:
        """Show the size only: cells tell about people."""
        rows, columns = self.frame.shape
        return f"<Table of {rows} rows and {columns} columns, {self.layout.file_format}>"


_SILENT = Variable()
