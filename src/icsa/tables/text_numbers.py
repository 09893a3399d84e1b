"""Numbers in text: the decimal mark and the thousands separator of a file, and cells as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from icsa.errors import InputError
from icsa.tables.table import Variable

__all__ = ["GROUPED", "Look", "Marks", "looks_of", "marks_of", "parse_numbers"]

# The text format of numbers that are written with a separator of thousands.
GROUPED = "grouped"

# A point, a comma, a plain space, a no-break space, a narrow one and the Swiss apostrophe.
_MARKS = ".,\u0020\u00a0\u202f'"
_INFINITE = "[Ii]nf|INF|[Ii]nfinity"
# Whole numbers without a separator of thousands.
_INTEGER = r"^[-+]?(?:0|[1-9]\d*)$"
# Cells that tell most columns that are not numbers.
_FEW = 64


@dataclass(frozen=True)
class Marks:
    """How a file writes numbers: the decimal mark, and what separates thousands."""

    decimal: str = "."
    thousands: str | None = None

    @cached_property
    def number(self) -> str:
        """The pattern of numbers: no leading zeros, thousands in whole groups or not at all."""
        whole = r"(?:0|[1-9]\d*)"
        if self.thousands is not None:
            whole = rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+)"
        mark = re.escape(self.decimal)
        digits = rf"(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?"
        return rf"^[-+]?(?:{digits}|{_INFINITE})$"


def marks_of(looks: Sequence[Look], *, separator: str, decimal: str | None) -> Marks:
    """Return the marks that make most columns numbers.

    ``1,234`` alone can be either: it is a decimal comma where cells are separated by semicolons,
    a thousand otherwise.

    Parameters
    ----------
    looks : sequence of Look
        Of the columns, by `looks_of`.
    separator : str
        Between cells.
    decimal : "." or ",", optional
        Known beforehand.

    Examples
    --------
    >>> marks_of(looks_of([pl.Series(["1.234,5", "0,25"])]), separator=";", decimal=None)
    Marks(decimal=',', thousands='.')
    """
    if decimal not in (None, ".", ","):
        raise InputError(f"The decimal mark must be '.' or ',': got {decimal!r}.")
    if decimal is None:
        for_point = sum(look.fits["."] and not look.fits[","] for look in looks)
        for_comma = sum(look.fits[","] and not look.fits["."] for look in looks)
        if separator == ";" and for_point == for_comma == 0:
            for_comma = sum("," in look.shown for look in looks if look.fits[","])
        decimal = "," if for_comma > for_point else "."
    else:
        _require_numbers(looks, decimal)
    thousands = (look.thousands(decimal) for look in looks if look.fits[decimal])
    return Marks(decimal, next(filter(None, thousands), None))


def parse_numbers(cells: pl.Series, marks: Marks) -> tuple[pl.Series, Variable] | None:
    """Return the cells as Int64 or Float64 and how they are written, None if some are no numbers.

    Numbers with leading zeros, and whole numbers beyond 64 bits, are codes and no numbers.
    """
    if not _may_be_numbers(cells, marks) or not cells.str.contains(marks.number).all():
        return None
    text_format = None
    if marks.thousands is not None:
        without = cells.str.replace_all(marks.thousands, "", literal=True)
        text_format = None if (without == cells).fill_null(True).all() else GROUPED
        cells = without
    if cells.str.contains(_INTEGER).all():
        whole = cells.cast(pl.Int64, strict=False)
        return (whole, Variable(text_format=text_format)) if _complete(whole, cells) else None
    if marks.decimal != ".":
        cells = cells.str.replace(marks.decimal, ".", literal=True)
    numbers = cells.cast(pl.Float64, strict=False)
    if not _complete(numbers, cells):
        return None
    return numbers, Variable(decimals=_decimals(cells), text_format=text_format)


def _complete(parsed: pl.Series, cells: pl.Series) -> bool:
    return parsed.null_count() == cells.null_count()


def _may_be_numbers(cells: pl.Series, marks: Marks) -> bool:
    """Return whether the first cells can be numbers, where no pattern is needed to tell."""
    few = cells.head(_FEW)
    return marks != Marks() or _complete(few.cast(pl.Float64, strict=False), few)


def _decimals(cells: pl.Series) -> int | None:
    digits = pl.first().drop_nulls().str.extract(r"\.(\d+)$", 1).str.len_bytes().unique()
    after = cells.to_frame().select(digits).to_series()
    return int(after[0]) if len(after) == 1 and after[0] is not None else None


@dataclass(frozen=True)
class Look:
    """The marks that a column of numbers shows, and whether it goes with either decimal mark."""

    shown: frozenset[str]
    fits: Mapping[str, bool]

    def thousands(self, decimal: str) -> str | None:
        """Return the mark beside the decimal one."""
        return next(iter(self.shown - {decimal}), None)


def looks_of(columns: Iterable[pl.Series]) -> list[Look]:
    """Return the looks of the columns that may be numbers and show marks.

    Cells are strings without white space around them, null where missing.
    """
    frame = pl.DataFrame([cells.alias(str(place)) for place, cells in enumerate(columns)])
    digits = rf"[\d{_MARKS}]*\d[\d{_MARKS}]*(?:[eE][-+]?\d+)?"
    pattern = rf"^[-+]?(?:{digits}|{_INFINITE})$"
    numbers = [c.name for c in frame.select(pl.all().str.contains(pattern).all()) if c[0]]
    shown: dict[str, frozenset[str]] = dict.fromkeys(numbers, frozenset())
    for mark in _MARKS:
        for flags in frame.select(pl.col(numbers).str.contains(mark, literal=True).any()):
            shown[flags.name] |= {mark} if flags[0] else set()
    fits = {d: frame.select(_fits(name, marks, d) for name, marks in shown.items()) for d in ".,"}
    return [
        Look(marks, {decimal: bool(flags[name][0]) for decimal, flags in fits.items()})
        for name, marks in shown.items()
        if marks
    ]


def _fits(name: str, shown: frozenset[str], decimal: str) -> pl.Expr:
    """Return whether all cells with a mark are numbers with this decimal mark."""
    others = shown - {decimal}
    if not shown or len(others) > 1:
        return pl.lit(value=False).alias(name)
    marked = pl.col(name).filter(pl.col(name).str.contains(f"[{_MARKS}]"))
    return marked.str.contains(Marks(decimal, *others).number).all()


def _require_numbers(looks: Iterable[Look], decimal: str) -> None:
    """Refuse a decimal mark by which no column is a number, and by the other one some are."""
    other = "." if decimal == "," else ","
    shown = [look for look in looks if look.shown & {".", ","}]
    if any(look.fits[decimal] for look in shown):
        return
    count = sum(look.fits[other] for look in shown)
    if count:
        are = "column is a number" if count == 1 else "columns are numbers"
        raise InputError(
            f"The decimal mark {decimal!r} does not go with the file: {count} {are} with "
            f"{other!r}, and none with {decimal!r}. Give the other one, or leave it out."
        )
