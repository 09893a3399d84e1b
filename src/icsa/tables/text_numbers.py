"""Numbers in text: the decimal mark and the thousands separator of a file, and cells as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from icsa.errors import InputError

__all__ = ["Marks", "ParsedNumbers", "find_marks", "parse_numbers"]

# A plain space, a no-break space, a narrow no-break space and the Swiss apostrophe.
_SPACES = " \u00a0\u202f'"
_INFINITE = "[Ii]nf|INF|[Ii]nfinity"


@dataclass(frozen=True)
class Marks:
    """How a file writes numbers: the decimal mark, and what separates thousands."""

    decimal: str = "."
    thousands: str | None = None

    @cached_property
    def integer(self) -> str:
        """The pattern of whole numbers without a separator of thousands."""
        return r"^[-+]?(?:0|[1-9]\d*)$"

    @cached_property
    def number(self) -> str:
        """The pattern of numbers: no leading zeros, thousands in whole groups or not at all."""
        whole = r"(?:0|[1-9]\d*)"
        if self.thousands is not None:
            whole = rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+)"
        mark = re.escape(self.decimal)
        digits = rf"(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?"
        return rf"^[-+]?(?:{digits}|{_INFINITE})$"


@dataclass(frozen=True, repr=False)
class ParsedNumbers:
    """A column of numbers, its digits after the mark where all have as many, and grouped or not."""

    cells: pl.Series
    decimals: int | None
    grouped: bool


def find_marks(columns: Iterable[pl.Series], *, separator: str, decimal: str | None) -> Marks:
    """Return the marks that make most columns numbers.

    ``1,234`` alone can be either: it is a decimal comma where cells are separated by semicolons,
    a thousand otherwise.

    Parameters
    ----------
    columns : iterable of polars.Series
        Cells as strings, without white space around them, null where missing.
    separator : str
        Between cells.
    decimal : "." or ",", optional
        Known beforehand.

    Examples
    --------
    >>> find_marks([pl.Series(["1.234,5", "0,25"])], separator=";", decimal=None)
    Marks(decimal=',', thousands='.')
    """
    if decimal not in (None, ".", ","):
        raise InputError(f"The decimal mark must be '.' or ',': got {decimal!r}.")
    marked = [cells for cells in map(_marked, columns) if not cells.is_empty()]
    if decimal is None:
        point = [_all_match(cells, ".") for cells in marked]
        comma = [_all_match(cells, ",") for cells in marked]
        for_point = sum(p and not c for p, c in zip(point, comma, strict=True))
        for_comma = sum(c and not p for p, c in zip(point, comma, strict=True))
        either = [cells for cells, p, c in zip(marked, point, comma, strict=True) if p and c]
        if separator == ";" and for_point == for_comma == 0:
            for_comma = sum(cells.str.contains(",", literal=True).any() for cells in either)
        decimal = "," if for_comma > for_point else "."
    else:
        _require_numbers(marked, decimal)
    return Marks(decimal, _thousands(marked, decimal))


def parse_numbers(cells: pl.Series, marks: Marks) -> ParsedNumbers | None:
    """Return the cells as Int64 or Float64, None if some are not numbers.

    Numbers with leading zeros, and whole numbers beyond 64 bits, are codes and no numbers.

    Examples
    --------
    >>> found = parse_numbers(pl.Series(["1.50", "22.25", None]), Marks())
    >>> found.cells.to_list(), found.decimals
    ([1.5, 22.25, None], 2)
    >>> parse_numbers(pl.Series(["007", "12"]), Marks()) is None
    True
    """
    if not cells.str.contains(marks.number).all():
        return None
    grouped = False
    if marks.thousands is not None:
        without = cells.str.replace_all(marks.thousands, "", literal=True)
        grouped = not bool((without == cells).fill_null(True).all())
        cells = without
    if cells.str.contains(marks.integer).all():
        whole = cells.cast(pl.Int64, strict=False)
        return ParsedNumbers(whole, None, grouped) if _complete(whole, cells) else None
    if marks.decimal != ".":
        cells = cells.str.replace(marks.decimal, ".", literal=True)
    numbers = cells.cast(pl.Float64, strict=False)
    return ParsedNumbers(numbers, _decimals(cells), grouped) if _complete(numbers, cells) else None


def _complete(parsed: pl.Series, cells: pl.Series) -> bool:
    return parsed.null_count() == cells.null_count()


def _decimals(cells: pl.Series) -> int | None:
    after = cells.drop_nulls().str.extract(r"\.(\d+)$", 1).str.len_bytes().unique()
    return int(after[0]) if len(after) == 1 and after[0] is not None else None


def _marked(cells: pl.Series) -> pl.Series:
    """Return the cells that show a mark, empty if some cell cannot be a number."""
    present = cells.drop_nulls()
    digits = rf"[\d.,{_SPACES}]*\d[\d.,{_SPACES}]*(?:[eE][-+]?\d+)?"
    if not present.str.contains(rf"^[-+]?(?:{digits}|{_INFINITE})$").all():
        return present.clear()
    return present.filter(present.str.contains(rf"[.,{_SPACES}]"))


def _all_match(cells: pl.Series, decimal: str) -> bool:
    others = [("." if decimal == "," else ","), *_SPACES]
    return any(cells.str.contains(Marks(decimal, other).number).all() for other in others)


def _require_numbers(marked: Iterable[pl.Series], decimal: str) -> None:
    """Refuse a decimal mark by which no column is a number, and by the other one some are."""
    other = "." if decimal == "," else ","
    shown = [cells for cells in marked if cells.str.contains("[.,]").any()]
    if any(_all_match(cells, decimal) for cells in shown):
        return
    count = sum(_all_match(cells, other) for cells in shown)
    if count:
        are = "column is a number" if count == 1 else "columns are numbers"
        raise InputError(
            f"The decimal mark {decimal!r} does not go with the file: {count} {are} with "
            f"{other!r}, and none with {decimal!r}. Give the other one, or leave it out."
        )


def _thousands(marked: Iterable[pl.Series], decimal: str) -> str | None:
    for cells in marked:
        marks: list[str] = ["." if decimal == "," else ",", *_SPACES]
        for mark in marks:
            shown = cells.str.contains(mark, literal=True).any()
            if shown and cells.str.contains(Marks(decimal, mark).number).all():
                return mark
    return None
