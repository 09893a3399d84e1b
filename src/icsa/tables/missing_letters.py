"""Lettered missing values of Stata and SAS (.a to .z, and SAS's ._) apart from the numbers.

A letter says why a number is missing. Cells hold null there, and the letters are in
`Table.missing_letters`, in small letters whatever the program.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from icsa.tables.table import Table, Variable

__all__ = [
    "split_letters",
    "stata_letters",
    "with_letters",
    "writable_letters",
]


def split_letters(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return numbers, null where a letter stands, and the letters, null where a number stands."""
    values = cells.to_list()
    numbers = pl.Series(cells.name, [None if isinstance(v, str) else v for v in values])
    letters = [v.lower() if isinstance(v, str) else None for v in values]
    if numbers.dtype == pl.Null:
        numbers = numbers.cast(pl.Float64)
    return numbers, pl.Series(cells.name, letters, dtype=pl.String)


def with_letters(numbers: pl.Series, letters: pl.Series | None) -> pl.Series:
    """Return Python objects: the number where there is one, the letter if there is, or None."""
    found = [None] * len(numbers) if letters is None else letters.to_list()
    both = zip(numbers.to_list(), found, strict=True)
    mixed = [letter if number is None else number for number, letter in both]
    return pl.Series(numbers.name, mixed, dtype=pl.Object)


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


def stata_letters(
    frame: pl.DataFrame, variables: Mapping[str, Variable], letters: Mapping[str, pl.Series]
) -> dict[str, list[str]]:
    """Return the letters that each column of numbers has or labels."""
    known: dict[str, list[str]] = {}
    for name, variable in variables.items():
        found = letters[name].drop_nulls() if name in letters else ()
        labelled = variable.letter_labels if frame[name].null_count() < frame.height else ()
        if frame.schema[name] != pl.String and (*found, *labelled):
            known[name] = sorted({*found, *variable.letter_labels})
    return known
