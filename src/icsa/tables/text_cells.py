"""Cells of a text column to the type that all have: number, date, time, duration, boolean or text.

Missing cells: the empty cell and ``NA N/A NaN NULL null <NA>`` everywhere. ``. - None none nan n/a
#N/A`` only in columns that are otherwise numbers, dates, times or booleans: elsewhere they may be
levels with a meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from icsa.tables.table import Variable
from icsa.tables.text_dates import parse_durations, parse_moments, slashes_are_day_first
from icsa.tables.text_numbers import Look, Marks, looks_of, marks_of, parse_numbers

__all__ = [
    "MISSING",
    "Conventions",
    "Signs",
    "TypedCells",
    "conventions_by",
    "find_conventions",
    "signs_of",
    "type_cells",
]

MISSING = ("", "NA", "N/A", "NaN", "NULL", "null", "<NA>")
_TOKENS = (*MISSING, ".", "-", "None", "none", "nan", "n/a", "#N/A")
_AROUND = " \t"
_BOOLEANS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
# Cells of a column that are tried first, unless it is short.
_PROBED, _SHORT = 64, 4096


@dataclass(frozen=True)
class Conventions:
    """What the cells of a file share: the marks in numbers, the order of day and month."""

    marks: Marks = field(default_factory=Marks)
    day_first: bool = False


@dataclass(frozen=True, repr=False)
class TypedCells:
    """A column in its type, how its cells were written, and how missing cells were."""

    cells: pl.Series
    variable: Variable
    missing: Counter[str]


@dataclass(frozen=True)
class Signs:
    """What columns show of a file's conventions: those of several are those of each, in order.

    Attributes
    ----------
    looks : tuple of Look
    day_first : bool, optional
        Whether dates with slashes have the day first; None where no column tells.
    """

    looks: tuple[Look, ...]
    day_first: bool | None

    def __add__(self, other: Signs) -> Signs:
        """Return the signs of these columns and those after them."""
        day_first = other.day_first if self.day_first is None else self.day_first
        return Signs((*self.looks, *other.looks), day_first)


def find_conventions(
    columns: Iterable[pl.Series], *, separator: str, decimal: str | None
) -> Conventions:
    """Return the conventions that the cells of a file follow.

    Dates with slashes in which no field is over 12 are month-first, but day-first in files with a
    decimal comma or semicolons between cells.
    """
    return conventions_by(signs_of(columns), separator=separator, decimal=decimal)


def signs_of(columns: Iterable[pl.Series]) -> Signs:
    """Return what columns of strings show of a file's conventions."""
    frame = pl.DataFrame([cells.alias(str(place)) for place, cells in enumerate(columns)])
    cleaned = pl.all().str.strip_chars(_AROUND).replace(dict.fromkeys(_TOKENS))
    present = frame.select(cleaned).get_columns()
    return Signs(tuple(looks_of(present)), slashes_are_day_first(present))


def conventions_by(signs: Signs, *, separator: str, decimal: str | None) -> Conventions:
    """Return the conventions that go with what columns show."""
    marks = marks_of(signs.looks, separator=separator, decimal=decimal)
    otherwise = marks.decimal == "," or separator == ";"
    return Conventions(marks, otherwise if signs.day_first is None else signs.day_first)


def type_cells(cells: pl.Series, conventions: Conventions) -> TypedCells:
    """Return a column of strings in the type that all its cells have."""
    tokens = _counted(cells)
    missing = Counter({token: tokens[token] for token in MISSING if token in tokens})
    texts = cells.set(cells.is_in(MISSING), None) if missing else cells
    if cells.null_count():
        missing[""] += cells.null_count()
    if len(texts) > _SHORT and not _parsed(_probe(texts), conventions):
        return TypedCells(texts, Variable(), missing)
    found = _parsed(_cleaned(texts), conventions)
    if found is None:
        return TypedCells(texts, Variable(), missing)
    return TypedCells(found[0].alias(cells.name), found[1], missing | tokens)


def _parsed(stripped: pl.Series, conventions: Conventions) -> tuple[pl.Series, Variable] | None:
    if stripped.null_count() == len(stripped):
        return None
    if numbers := parse_numbers(stripped, conventions.marks):
        return numbers
    day_first = conventions.day_first
    if found := parse_moments(stripped, day_first=day_first) or parse_durations(stripped):
        return found[0], Variable(text_format=found[1])
    first = stripped.drop_nulls()[0]
    for yes, no in _BOOLEANS:
        if first in (yes, no) and stripped.drop_nulls().is_in([yes, no]).all():
            return stripped == yes, Variable(text_format=f"{yes}/{no}")
    return None


def _probe(texts: pl.Series) -> pl.Series:
    """Return a few cells: if they have no type but text, the column has none."""
    few = _cleaned(texts.drop_nulls().head(_PROBED))
    return few if few.null_count() < len(few) else _cleaned(texts)


def _cleaned(texts: pl.Series) -> pl.Series:
    stripped = texts.str.strip_chars(_AROUND)
    tokens = stripped.is_in(_TOKENS)
    return stripped.set(tokens, None) if tokens.any() else stripped


def _counted(texts: pl.Series) -> Counter[str]:
    """Return how often each word for a missing cell stands in a column."""
    found = texts.filter(texts.is_in(_TOKENS))
    if found.is_empty():
        return Counter()
    counts = found.alias("word").value_counts()  # whatever the column is called
    return Counter(dict(zip(counts["word"], counts["count"], strict=True)))
