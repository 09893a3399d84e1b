"""Which rows break which rule."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from icsa.constraints.days import are_compared_by_day, days_of
from icsa.constraints.grammar import Claim, Rule, Word
from icsa.errors import InputError

__all__ = ["Violation", "as_series", "broken", "check_rules", "is_text", "literal", "require_rules"]

_ORDERED = ("<=", "<", ">=", ">")
_WORDS: dict[type[pl.DataType], str] = {
    pl.Boolean: "true and false",
    pl.Date: "dates",
    pl.Datetime: "dates with a time",
    pl.Duration: "durations",
    pl.Time: "times of day",
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Violation:
    """How many rows break a rule, and the first of them, counted from 0."""

    rule: Rule
    count: int
    first_row: int


def check_rules(rules: Iterable[Rule], frame: pl.DataFrame) -> tuple[Violation, ...]:
    """Return the rules that a table breaks, in how many rows, and the first of them.

    Raises
    ------
    InputError
        When a rule does not suit the types of its columns.

    Examples
    --------
    >>> from icsa.constraints import parse_rule
    >>> frame = pl.DataFrame({"a": [1, 5, 9], "b": [2, 4, None]})
    >>> [violation] = check_rules([parse_rule("a <= b", frame.columns)], frame)
    >>> violation.count, violation.first_row
    (1, 1)
    """
    found = []
    for rule in rules:
        rows = broken(rule, frame)
        if rows.any():
            first = rows.arg_max()
            found.append(Violation(rule, int(rows.sum()), 0 if first is None else first))
    return tuple(found)


def require_rules(rules: Iterable[Rule], frame: pl.DataFrame) -> None:
    """Raise an error for the first rule that a table breaks.

    Examples
    --------
    >>> from icsa.constraints import parse_rule
    >>> frame = pl.DataFrame({"a": [1, 5], "b": [2, 4]})
    >>> require_rules([parse_rule("a >= 0", frame.columns)], frame)
    """
    for violation in check_rules(rules, frame):
        raise InputError(
            f"Rule {violation.rule.text!r}: the table itself breaks it in {violation.count} of "
            f"{frame.height} rows, first in row {violation.first_row + 1}. Correct these rows, or "
            "remove the rule from the schema."
        )


def broken(rule: Rule, frame: pl.DataFrame) -> pl.Series:
    """Return one boolean a row: whether it breaks the rule.

    Examples
    --------
    >>> from icsa.constraints import parse_rule
    >>> frame = pl.DataFrame({"a": [0, 1], "b": [7, 7]})
    >>> broken(parse_rule("if a = 0 then b missing", frame.columns), frame).to_list()
    [True, False]
    """
    breaks = ~_holds(rule.then, frame, rule, absent=True)
    if rule.when is None:
        return breaks
    return breaks & _holds(rule.when, frame, rule, absent=False)


def _holds(claim: Claim, frame: pl.DataFrame, rule: Rule, *, absent: bool) -> pl.Series:
    """Return one boolean a row: whether the claim holds, `absent` where a cell is missing."""
    cells = _comparable(frame[claim.column])
    if claim.operator == "missing":
        return cells.is_null()
    if claim.operator == "present":
        return cells.is_not_null()
    if claim.operator in _ORDERED and is_text(cells.dtype):
        raise _unsuited(rule, claim.column, cells.dtype, "=, in, missing and present")
    if claim.operator == "in":
        allowed = [as_series(rule, claim.column, frame, word) for word in claim.values]
        found = pl.Series([False] * frame.height, dtype=pl.Boolean)
        for value in allowed:
            found = found | (cells == value).fill_null(value=False)
        return found | cells.is_null() if absent else found
    if claim.other is None:
        right = as_series(rule, claim.column, frame, claim.values[0])
    else:
        _require_alike(rule, frame, claim)
        right = _comparable(frame[claim.other])
        if are_compared_by_day(cells.dtype, right.dtype):
            cells, right = days_of(cells), days_of(right)
    return _compare(cells, claim.operator, right).fill_null(absent)


def _compare(left: pl.Series, operator: str, right: pl.Series) -> pl.Series:
    if operator == "<=":
        return left <= right
    if operator == "<":
        return left < right
    if operator == ">=":
        return left >= right
    if operator == ">":
        return left > right
    return left == right if operator == "=" else left != right


def _comparable(cells: pl.Series) -> pl.Series:
    """Return categories as text and NaN as missing."""
    if cells.dtype.is_float():
        return cells.fill_nan(None)
    return cells.cast(pl.String) if is_text(cells.dtype) else cells


def is_text(dtype: pl.DataType) -> bool:
    """Return whether a type holds text or categories.

    Examples
    --------
    >>> is_text(pl.String()), is_text(pl.Int64())
    (True, False)
    """
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def _require_alike(rule: Rule, frame: pl.DataFrame, claim: Claim) -> None:
    if claim.other is None:
        return
    left, right = frame[claim.column].dtype, frame[claim.other].dtype
    if (left.is_numeric() and right.is_numeric()) or (is_text(left) and is_text(right)):
        return
    if left == right or are_compared_by_day(left, right):
        return
    told = f"{_held(left)} and {_held(right)}"
    if _held(left) == _held(right):
        told = f"{_held(left)} with other time zones or units"
    raise InputError(
        f"Rule {rule.text!r}: columns {claim.column!r} and {claim.other!r} hold {told}, which "
        "cannot be compared. Convert one of them."
    )


def _held(dtype: pl.DataType) -> str:
    """Return what cells of a type are in words; parameters of a type can be values of cells."""
    if is_text(dtype):
        return "text"
    if dtype.is_numeric():
        return "numbers"
    return _WORDS.get(type(dtype), type(dtype).__name__)


def as_series(rule: Rule, column: str, frame: pl.DataFrame, word: Word) -> pl.Series:
    """Return a value of a rule as a series of one cell, in a type that the column compares with."""
    dtype = frame[column].dtype
    value = literal(rule, column, dtype, word)
    if isinstance(dtype, pl.Datetime):
        one = pl.Series([value], dtype=pl.Datetime(dtype.time_unit))
        return one if dtype.time_zone is None else one.dt.replace_time_zone(dtype.time_zone)
    if is_text(dtype):
        return pl.Series([value], dtype=pl.String)
    if dtype.is_numeric():
        return pl.Series([value])
    return pl.Series([value], dtype=dtype)


def literal(rule: Rule, column: str, dtype: pl.DataType, word: Word) -> Any:
    """Return a value of a rule in the type of its column.

    Raises
    ------
    InputError
        When a number is compared with a date and the like.
    """
    try:
        if is_text(dtype) and word.sort in ("double", "single", "number", "moment"):
            return word.text
        if dtype.is_numeric() and word.sort == "number":
            return _number(word.text)
        if isinstance(dtype, pl.Boolean):
            return _TRUTH[word.text.lower()]
        if isinstance(dtype, pl.Duration) and word.sort == "number":
            return dt.timedelta(seconds=float(word.text))
        if word.sort == "moment":
            if isinstance(dtype, pl.Date):
                return dt.date.fromisoformat(word.text)
            if isinstance(dtype, pl.Datetime):
                return dt.datetime.fromisoformat(word.text)
            if isinstance(dtype, pl.Time):
                return dt.time.fromisoformat(word.text)
    except (KeyError, ValueError, OverflowError):
        pass
    raise _unsuited(rule, column, dtype, "values of that type (text in quotes, ISO dates)")


def _number(text: str) -> int | float:
    """Return a whole number as such where it is written so; ValueError for what is not finite."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    whole = text.lstrip("+-").isdecimal() and abs(number) < 2.0**62
    return int(text) if whole else number


def _unsuited(rule: Rule, column: str, dtype: pl.DataType, what: str) -> InputError:
    return InputError(
        f"Rule {rule.text!r}: column {column!r} holds {_held(dtype)}, which goes only with {what}. "
        "Change the rule, or the column's type."
    )
