"""Making a table keep its rules by moving few cells as little as needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.constraints.checking import COMPARISONS, broken, violations
from icsa.constraints.domains import Domain, Flags, Sheet, sheet_of_frame
from icsa.constraints.grammar import Claim, Rule
from icsa.constraints.limits import LIMITS
from icsa.errors import InputError
from icsa.lattice import Lattice
from icsa.matrices import Vector

__all__ = ["Latitude", "Moves", "enforce_rules", "mend", "require_kept"]

_MIRRORED = {">=": "<=", ">": "<"}
_UPWARD = {"<=": ">=", "<": ">"}


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Latitude:
    """What is known about the columns of a table besides its rules.

    Attributes
    ----------
    lattices : mapping of str to Lattice
        Of numbers, days of dates, seconds of other times. Others have that of their type.
    allowed : mapping of str to function
        From such numbers of a column to one boolean each: whether the column may have it.
    counted : set of str
        Columns of few levels, whose counts are to stay: of two cells in the wrong order the other
        is moved.
    together : tuple of tuple of str
        Columns that are missing in the same rows.
    orders : tuple of Rule
        Orders that hold too. A cell that one of them moves counts for the rule that moved others
        of the same row before.
    fixed : set of str
        Columns whose cells are not moved: those of a unit, in rules on its rows.
    """

    lattices: Mapping[str, Lattice] = field(default_factory=_nothing)
    allowed: Mapping[str, Callable[[Vector], Flags]] = field(default_factory=_nothing)
    counted: frozenset[str] = frozenset()
    together: tuple[tuple[str, ...], ...] = ()
    orders: tuple[Rule, ...] = ()
    fixed: frozenset[str] = frozenset()

    def group_of(self, name: str) -> tuple[str, ...]:
        """Return the columns that are missing where one is, that one first.

        Examples
        --------
        >>> Latitude(together=(("low", "high"),)).group_of("high")
        ('high', 'low')
        """
        for group in self.together:
            if name in group:
                return (name, *(other for other in group if other != name))
        return (name,)


class Moves:
    """Which rule moved each cell last, and each row."""

    def __init__(self, n_rows: int) -> None:
        self.by_row: npt.NDArray[np.int64] = np.full(n_rows, -1)
        self.by_cell: dict[str, npt.NDArray[np.int64]] = {}

    def note(self, column: str, changed: Flags, place: int | None) -> None:
        """Write down that a rule moved cells; None for the rule that moved the row before."""
        if place is not None:
            self.by_row[changed] = place
        own = self.by_cell.setdefault(column, np.full(self.by_row.size, -1))
        own[changed] = self.by_row[changed]

    def counts(self, rules: Sequence[Rule], before: Sheet, after: Sheet) -> Mapping[str, int]:
        """Return for each rule's text how many cells differ that it moved."""
        counts = np.zeros(len(rules), dtype=np.int64)
        for column, mover in self.by_cell.items():
            moved = before.changed(after, column) & (mover >= 0)
            counts += np.bincount(mover[moved], minlength=len(rules))
        texts = (rule.text for rule in rules)
        return MappingProxyType(dict(zip(texts, counts.tolist(), strict=True)))


def enforce_rules(
    rules: Sequence[Rule],
    frame: pl.DataFrame,
    latitude: Latitude | None = None,
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the table with cells moved until every rule holds, and how many cells each rule moved.

    - A bound: the cell moves to the nearest value of its lattice that keeps it.
    - x <= y: the two cells are exchanged, which keeps both columns' values; where their types
      differ, one of the columns may not have the other's cell, or other rules undo that, x is
      lowered to y, and if that fails too y is raised to x.
      x < y with equal cells: x moves down by one step. Of a date and a date with a time the days
      are exchanged or moved; the time stays.
    - Allowed values: the nearest; of texts the one that the column has most often.
    - missing: the cell is emptied. present: it gets the middle one of the column's values. Other
      columns that are missing in the same rows get the cells of the same row.
    - if ... then: only what follows `then` is mended, in the rows that satisfy the test.

    Types stay as they are. The rules are gone through until none is broken.

    Parameters
    ----------
    rules : sequence of Rule
    frame : polars.DataFrame
    latitude : Latitude, optional
        What cells of the columns may be.

    Returns
    -------
    frame : polars.DataFrame
    moved : mapping of str to int
        From a rule's text to the number of cells that it moved.

    Raises
    ------
    InputError
        When the rules contradict each other.

    Examples
    --------
    >>> from icsa.constraints import parse_rule
    >>> frame = pl.DataFrame({"a": [1, 5, 9], "b": [2, 4, 9]})
    >>> rules = [parse_rule(text, frame.columns) for text in ("a <= b", "b <= 8")]
    >>> released, moved = enforce_rules(rules, frame)
    >>> released.rows(), dict(moved)
    ([(1, 2), (4, 5), (8, 8)], {'a <= b': 3, 'b <= 8': 1})
    """
    given = latitude or Latitude()
    every = (*rules, *given.orders)
    names = [name for rule in every for name in rule.columns]
    names += [name for group in given.together for name in group]
    sheet = sheet_of_frame(frame, every, names, given.lattices, given.allowed)
    mended, moves = mend(rules, sheet, given)
    require_kept(rules, mended)
    fresh = []
    for name, domain in sheet.domains.items():
        changed = sheet.changed(mended, name)
        if changed.any():
            cells = domain.cells(mended.quantities(name))
            fresh.append(cells.zip_with(pl.Series(changed), frame[name]))
    return frame.with_columns(fresh), moves.counts(rules, sheet, mended)


def mend(rules: Sequence[Rule], sheet: Sheet, latitude: Latitude) -> tuple[Sheet, Moves]:
    """Return numbers moved until the rules hold, or nothing helps, and what moved."""
    current, moves = sheet, Moves(sheet.n_rows)
    for sweep in range(LIMITS.passes):
        calm = True
        for place, rule in enumerate((*rules, *latitude.orders)):
            rows = broken(rule, current)
            if not rows.any():
                continue
            calm = False
            mended = _mended(rule, current, rows, latitude, sweep)
            after = current.with_quantities(mended)
            for column in mended:
                changed = current.changed(after, column)
                moves.note(column, changed, place if place < len(rules) else None)
            current = after
        if calm:
            break
    return current, moves


def require_kept(rules: Sequence[Rule], sheet: Sheet) -> None:
    """Raise an error that names the rules that cannot all hold, if some rows break one."""
    left = violations(rules, sheet)
    if not left:
        return
    names = {name for violation in left for name in violation.rule.columns}
    involved = [repr(rule.text) for rule in rules if not names.isdisjoint(rule.columns)]
    raise InputError(
        f"The rules {', '.join(involved)} cannot all hold: {left[0].count} of {sheet.n_rows} rows "
        f"still break {left[0].rule.text!r}, first in row {left[0].first_row + 1}. "
        "Remove or change one."
    )


def _mended(
    rule: Rule, sheet: Sheet, rows: Flags, latitude: Latitude, sweep: int
) -> dict[str, Vector]:
    """Return the quantities of columns that keep the rule, changed in the given rows alone."""
    claim = rule.then
    if {claim.column, claim.other or claim.column} <= latitude.fixed:
        return {}
    if claim.operator in ("missing", "present"):
        group = latitude.group_of(claim.column)
        columns = {name: sheet.quantities(name) for name in group}
        if claim.operator == "missing":
            return {name: np.where(rows, np.nan, found) for name, found in columns.items()}
        row = _row_of_middle(rule, columns)
        return {name: np.where(rows, found[row], found) for name, found in columns.items()}
    if claim.other is not None:
        return _in_order(rule, sheet, rows, latitude, sweep)
    domain, values = sheet.domains[claim.column], sheet.quantities(claim.column)
    if claim.operator in ("in", "="):
        return {claim.column: _nearest(rule, domain, values, rows)}
    bounds = np.full(values.size, domain.quantity_of(rule, claim.values[0]))
    return {claim.column: _within(domain, values, rows, bounds, claim.operator)}


def _in_order(
    rule: Rule, sheet: Sheet, rows: Flags, latitude: Latitude, sweep: int
) -> dict[str, Vector]:
    """Return two columns in order, or equal: each row by the first way that is allowed in it."""
    current, left = sheet, rows
    for way in _ways(rule.then, sheet, latitude, sweep):
        proposed = _moved(rule.then, way, current, left)
        after = current.with_quantities(proposed)
        fits = left & ~broken(rule, after)
        for name, found in proposed.items():
            fits &= sheet.domains[name].admits(found) | ~current.changed(after, name)
        current = current.with_quantities(
            {name: np.where(fits, q, current.quantities(name)) for name, q in proposed.items()}
        )
        left = left & ~fits
        if not left.any():
            break
    names = (rule.then.column, str(rule.then.other))
    return {name: current.quantities(name) for name in names}


def _ways(claim: Claim, sheet: Sheet, latitude: Latitude, sweep: int) -> tuple[str, ...]:
    """Return the ways to mend an order, the best first."""
    ways = ("lower", "raise") if sweep < LIMITS.lowering_passes else ("raise", "lower")
    low, high, _ = _low_and_high(claim)
    if low in latitude.counted and high not in latitude.counted:
        ways = (ways[1], ways[0])
    for name, moving in ((low, "lower"), (high, "raise")):
        if name in latitude.fixed:
            return tuple(way for way in ways if way != moving)
    one, other = sheet.domains[low], sheet.domains[high]
    alike = one.dtype == other.dtype or one.is_compared_by_day(other)
    return (
        ("exchange", *ways)
        if alike and claim.operator != "=" and sweep < LIMITS.exchanging_passes
        else ways
    )


def _low_and_high(claim: Claim) -> tuple[str, str, str]:
    """Return the column that is to be smaller, the other, and how."""
    if claim.operator in _MIRRORED:
        return str(claim.other), claim.column, _MIRRORED[claim.operator]
    return claim.column, str(claim.other), claim.operator


def _moved(claim: Claim, way: str, sheet: Sheet, rows: Flags) -> dict[str, Vector]:
    """Return the columns that are changed if an order is mended in one way."""
    low, high, operator = _low_and_high(claim)
    domains = {name: sheet.domains[name] for name in (low, high)}
    if domains[low].is_compared_by_day(domains[high]):
        quantities = {name: sheet.quantities(name) for name in domains}
        days = {name: domain.days(quantities[name]) for name, domain in domains.items()}
        by_day = {name: domain.by_day() for name, domain in domains.items()}
        found = _moved(claim, way, Sheet(by_day, days), rows)
        return {name: domains[name].on_days(quantities[name], d) for name, d in found.items()}
    x, y = sheet.quantities(low), sheet.quantities(high)
    if way == "exchange":
        return {low: np.where(rows, y, x), high: np.where(rows, x, y)}
    moving, cells, bounds = (low, x, y) if way == "lower" else (high, y, x)
    if operator == "=":
        return {moving: np.where(rows, bounds, cells)}
    side = operator if way == "lower" else _UPWARD[operator]
    return {moving: _within(domains[moving], cells, rows, bounds, side)}


def _within(
    domain: Domain, quantities: Vector, rows: Flags, bounds: Vector, operator: str
) -> Vector:
    """Return quantities with those in `rows` at the nearest that keeps each row's bound.

    That is the nearest on the lattice; where the column may not have it, the nearest that the
    column has in another row. Where there is none either, it stays.
    """
    here = bounds[rows]
    moved = domain.next_to(here, operator)
    moved = domain.held(np.where(domain.admits(moved), moved, np.nan))
    fits = COMPARISONS[operator](moved, here)
    if not fits.all():
        moved = np.where(fits, moved, _from_other_rows(domain, quantities, here, operator))
    found = quantities.copy()
    found[rows] = np.where(np.isnan(moved), quantities[rows], moved)
    return found


def _from_other_rows(domain: Domain, quantities: Vector, bounds: Vector, operator: str) -> Vector:
    """Return for each bound the nearest of the column's own that keeps it, or NaN."""
    known = np.unique(quantities[~np.isnan(quantities)])
    known = known[domain.admits(known)]
    if not known.size:
        return np.full(bounds.size, np.nan)
    upward = operator in (">", ">=")
    side = "right" if operator in ("<=", ">") else "left"
    places = np.searchsorted(known, bounds, side) - (not upward)  # type: ignore[call-overload]
    there = (places >= 0) & (places < known.size)
    return np.where(there, known[np.where(there, places, 0)], np.nan)


def _row_of_middle(rule: Rule, columns: Mapping[str, Vector]) -> int:
    """Return a row that has the lower median of the first column and no missing cell."""
    name, first = next(iter(columns.items()))
    there = np.flatnonzero(~np.isnan(np.column_stack(list(columns.values()))).any(axis=1))
    if not there.size:
        raise InputError(
            f"Rule {rule.text!r}: column {name!r} has no value to fill in. Remove the rule."
        )
    order = np.argsort(first[there], kind="stable")
    return int(there[order[(order.size - 1) // 2]])


def _nearest(rule: Rule, domain: Domain, quantities: Vector, rows: Flags) -> Vector:
    """Return quantities with those in `rows` at the nearest allowed; of texts the most usual."""
    choices = np.array([domain.quantity_of(rule, word) for word in rule.then.values])
    admitted = choices[domain.admits(choices)]
    if not admitted.size:
        return quantities
    if domain.is_text or isinstance(domain.dtype, pl.Boolean):
        usual = max(admitted.tolist(), key=lambda choice: int(np.sum(quantities == choice)))
        return np.where(rows, usual, quantities)
    ordered = np.sort(domain.held(admitted))
    best = np.abs(quantities[rows, None] - ordered).argmin(axis=1)
    found = quantities.copy()
    found[rows] = ordered[best]
    return found
