"""Which rows break which rule."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from icsa.constraints.domains import Domain, Flags, Sheet, sheet_of_frame, unsuited
from icsa.constraints.grammar import Claim, Rule
from icsa.errors import InputError

__all__ = ["COMPARISONS", "Violation", "broken", "check_rules", "require_rules", "violations"]

COMPARISONS: Mapping[str, Callable[[Any, Any], Flags]] = MappingProxyType(
    {
        "<=": operator.le,
        "<": operator.lt,
        ">=": operator.ge,
        ">": operator.gt,
        "=": operator.eq,
        "!=": operator.ne,
    }
)


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
    rules = list(rules)
    names = (name for rule in rules for name in rule.columns)
    return violations(rules, sheet_of_frame(frame, rules, names))


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


def violations(rules: Sequence[Rule], sheet: Sheet) -> tuple[Violation, ...]:
    """Return the rules that a sheet breaks, in how many rows, and the first of them."""
    found = []
    for rule in rules:
        rows = broken(rule, sheet)
        if rows.any():
            found.append(Violation(rule, int(rows.sum()), int(rows.argmax())))
    return tuple(found)


def broken(rule: Rule, sheet: Sheet) -> Flags:
    """Return one boolean a row: whether it breaks the rule."""
    breaks = ~_holds(rule.then, sheet, rule, absent=True)
    if rule.when is None:
        return breaks
    return breaks & _holds(rule.when, sheet, rule, absent=False)


def _holds(claim: Claim, sheet: Sheet, rule: Rule, *, absent: bool) -> Flags:
    """Return one boolean a row: whether the claim holds, `absent` where a cell is missing."""
    domain, left = sheet.domains[claim.column], sheet.quantities(claim.column)
    gone = np.isnan(left)
    if claim.operator == "missing":
        return gone
    if claim.operator == "present":
        return ~gone
    if claim.operator in ("<=", "<", ">=", ">") and domain.is_text:
        raise unsuited(rule, domain, "=, in, missing and present")
    if claim.operator == "in":
        found = np.isin(left, [domain.quantity_of(rule, word) for word in claim.values])
        return np.where(gone, absent, found)
    if claim.other is None:
        right: Any = domain.quantity_of(rule, claim.values[0])
    else:
        other, right = sheet.domains[claim.other], sheet.quantities(claim.other)
        _require_alike(rule, domain, other)
        gone = gone | np.isnan(right)
        if domain.is_compared_by_day(other):
            left, right = domain.days(left), other.days(right)
    return np.where(gone, absent, COMPARISONS[claim.operator](left, right))


def _require_alike(rule: Rule, one: Domain, other: Domain) -> None:
    left, right = one.dtype, other.dtype
    if (left.is_numeric() and right.is_numeric()) or (one.is_text and other.is_text):
        return
    if left == right or one.is_compared_by_day(other):
        return
    told = f"{one.holds} and {other.holds}"
    if one.holds == other.holds:
        told = f"{one.holds} with other time zones or units"
    raise InputError(
        f"Rule {rule.text!r}: columns {one.name!r} and {other.name!r} hold {told}, which "
        "cannot be compared. Convert one of them."
    )
