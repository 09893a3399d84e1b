"""Lettered missing values of Stata and SAS (.a to .z, and SAS's ._) apart from the numbers.

A letter says why a number is missing. Cells hold null there, and the letters are in
`Table.missing_letters`, in small letters whatever the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from icsa.tables.suffixes import file_kind
from icsa.tables.table import Table

__all__ = ["split_letters", "unwritten_reasons", "with_letters", "writable_letters"]

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
# SAS has one more than Stata; no other format has any.
_WRITABLE: Mapping[str, str] = {"dta": _ALPHABET, "xpt": f"{_ALPHABET}_"}
# Formats that say which values stand for missing.
_DECLARE_CODES = ("sav", "zsav")


def split_letters(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return numbers, null where a letter stands, and the letters, null where a number stands.

    Examples
    --------
    >>> mixed = pl.Series("age", [41.0, "A", None], dtype=pl.Object)
    >>> numbers, letters = split_letters(mixed)
    >>> numbers.to_list(), letters.to_list()
    ([41.0, None, None], [None, 'a', None])
    """
    values = cells.to_list()
    numbers = pl.Series(cells.name, [None if isinstance(v, str) else v for v in values])
    letters = [v.lower() if isinstance(v, str) else None for v in values]
    if numbers.dtype == pl.Null:
        numbers = numbers.cast(pl.Float64)
    return numbers, pl.Series(cells.name, letters, dtype=pl.String)


def with_letters(numbers: pl.Series, letters: pl.Series) -> pl.Series:
    """Return Python objects: the number where there is one, the letter, or None.

    Examples
    --------
    >>> with_letters(pl.Series([41, None, None]), pl.Series([None, "a", None])).to_list()
    [41, 'a', None]
    """
    both = zip(numbers.to_list(), letters.to_list(), strict=True)
    mixed = [letter if number is None else number for number, letter in both]
    return pl.Series(numbers.name, mixed, dtype=pl.Object)


def writable_letters(table: Table, file_format: str) -> dict[str, pl.Series]:
    """Return the letters of each column that a format can hold, where the cell is missing.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [41, None, None]})
    >>> table = Table(frame, missing_letters={"age": pl.Series([None, "a", "_"])})
    >>> writable_letters(table, "dta")["age"].to_list(), writable_letters(table, "csv")
    ([None, 'a', None], {})
    """
    known = list(_WRITABLE.get(file_format, ""))
    found = {}
    for name, letters in table.missing_letters.items():
        if name in table.frame.columns:
            fitting = letters.is_in(known) & table.frame[name].is_null()
            if fitting.any():
                found[name] = letters.set(~fitting.fill_null(False), None)
    return found


def unwritten_reasons(table: Table, path: str | Path) -> tuple[str, ...]:
    """Return sentences on the letters and codes for missing that a file cannot hold.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [41, None]})
    >>> table = Table(frame, missing_letters={"age": pl.Series([None, "a"])})
    >>> unwritten_reasons(table, "release.csv")
    ('age: 1 lettered missing value(s) (.a) are written as plain missing ones, because ...',)
    >>> unwritten_reasons(table, "release.dta")
    ()
    """
    file_format = file_kind(Path(path)).file_format
    return (*_unwritten_letters(table, file_format), *_undeclared_codes(table, file_format))


def _undeclared_codes(table: Table, file_format: str) -> Iterator[str]:
    names = [name for name in table.frame.columns if table.variable(name).missing_codes]
    if names and file_format not in _DECLARE_CODES:
        yield (
            f"{', '.join(names)}: codes for missing are written as plain values, because "
            f"{file_format} files do not declare them. Write .sav to keep them apart."
        )


def _unwritten_letters(table: Table, file_format: str) -> tuple[str, ...]:
    written = writable_letters(table, file_format)
    lost: dict[str, int] = {}
    letters_lost: set[str] = set()
    for name, letters in table.missing_letters.items():
        kept = written.get(name)
        gone = letters if kept is None else letters.filter(kept.is_null())
        if gone.drop_nulls().len():
            lost[name] = gone.drop_nulls().len()
            letters_lost |= set(gone.drop_nulls())
    if not lost:
        return ()
    shown = ", ".join(f".{letter}" for letter in sorted(letters_lost))
    return (
        f"{', '.join(lost)}: {sum(lost.values())} lettered missing value(s) ({shown}) are written "
        f"as plain missing ones, because {file_format} files do not have them. Write .dta or .xpt "
        "to keep them.",
    )
