"""Making a table keep its rules by moving few cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import polars as pl

from icsa.constraints.checking import as_series, broken, check_rules, is_text, literal
from icsa.constraints.days import are_compared_by_day, days_in_step, days_of, moved_to
from icsa.constraints.grammar import Claim, Rule
from icsa.constraints.latitude import Latitude, Moves
from icsa.constraints.moving import replaced, within
from icsa.errors import InputError

__all__ = ["enforce_rules", "mend", "require_kept"]

_MOST_PASSES = 12
# Passes that mend an order by exchanging cells first, then by lowering one; later ones raise the
# other first.
_EXCHANGING = 4
_LOWERING = 8
_MIRRORED = {">=": "<=", ">": "<"}
_UPWARD = {"<=": ">=", "<": ">"}


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
    current, moves = mend(rules, frame, latitude or Latitude())
    require_kept(rules, current)
    counts = moves.counts(frame, current, len(rules))
    texts = (rule.text for rule in rules)
    return current, MappingProxyType(dict(zip(texts, map(int, counts), strict=True)))


def mend(
    rules: Sequence[Rule], frame: pl.DataFrame, latitude: Latitude
) -> tuple[pl.DataFrame, Moves]:
    """Return the table with cells moved until the rules hold, or nothing helps, and what moved.

    Examples
    --------
    >>> from icsa.constraints import parse_rule
    >>> frame = pl.DataFrame({"a": [1, 5]})
    >>> mended, moves = mend([parse_rule("a <= 3", ["a"])], frame, Latitude())
    >>> mended["a"].to_list(), moves.by_row.tolist()
    ([1, 3], [-1, 0])
    """
    current, moves = frame, Moves(frame.height)
    for sweep in range(_MOST_PASSES):
        calm = True
        for place, rule in enumerate((*rules, *latitude.orders)):
            rows = broken(rule, current)
            if not rows.any():
                continue
            calm = False
            mended = _mended(rule, current, rows, latitude, sweep)
            changed = {c: current[c].ne_missing(cells).to_numpy() for c, cells in mended.items()}
            for column, moved in changed.items():
                moves.note(column, moved, place if place < len(rules) else None)
            current = current.with_columns(cells.alias(c) for c, cells in mended.items())
        if calm:
            break
    return current, moves


def require_kept(rules: Sequence[Rule], frame: pl.DataFrame) -> None:
    """Raise an error that names the rules that cannot all hold, if some rows break one.

    Examples
    --------
    >>> from icsa.constraints import parse_rule
    >>> frame = pl.DataFrame({"a": [1, 5]})
    >>> require_kept([parse_rule("a <= 5", ["a"])], frame)
    """
    left = check_rules(rules, frame)
    if not left:
        return
    names = {name for violation in left for name in violation.rule.columns}
    involved = [repr(rule.text) for rule in rules if not names.isdisjoint(rule.columns)]
    raise InputError(
        f"The rules {', '.join(involved)} cannot all hold: {left[0].count} of {frame.height} rows "
        f"still break {left[0].rule.text!r}, first in row {left[0].first_row + 1}. "
        "Remove or change one."
    )


def _mended(
    rule: Rule, frame: pl.DataFrame, rows: pl.Series, latitude: Latitude, sweep: int
) -> dict[str, pl.Series]:
    """Return the columns that keep the rule, changed in the given rows alone."""
    claim = rule.then
    cells = frame[claim.column]
    if claim.operator == "missing":
        return {n: replaced(frame[n], rows, None) for n in latitude.group_of(claim.column)}
    if claim.operator == "present":
        row = _row_of_middle(rule, frame, latitude.group_of(claim.column))
        return {
            name: frame[name].zip_with(~rows, frame[name].new_from_index(row, frame.height))
            for name in latitude.group_of(claim.column)
        }
    if claim.other is not None:
        return _in_order(rule, frame, rows, latitude, sweep)
    if claim.operator in ("in", "="):
        return {claim.column: _nearest(rule, cells, rows, latitude)}
    bound = as_series(rule, claim.column, frame, claim.values[0])
    moved = within(
        cells,
        rows,
        bound.new_from_index(0, frame.height),
        claim.operator,
        latitude.steps.get(claim.column),
        lambda found: latitude.admits(claim.column, found),
    )
    return {claim.column: moved}


def _in_order(
    rule: Rule, frame: pl.DataFrame, rows: pl.Series, latitude: Latitude, sweep: int
) -> dict[str, pl.Series]:
    """Return two columns in order, or equal: each row by the first way that is allowed in it."""
    current, left = frame, rows
    for way in _ways(rule.then, frame, latitude, sweep):
        proposed = _moved(rule.then, way, current, left, latitude)
        after = current.with_columns(cells.alias(name) for name, cells in proposed.items())
        fits = left & ~broken(rule, after)
        for name, cells in proposed.items():
            fits &= latitude.admits(name, cells) | ~current[name].ne_missing(cells)
        current = current.with_columns(
            cells.zip_with(fits, current[name]).alias(name) for name, cells in proposed.items()
        )
        left &= ~fits
        if not left.any():
            break
    names = (rule.then.column, str(rule.then.other))
    return {name: current[name] for name in names}


def _ways(claim: Claim, frame: pl.DataFrame, latitude: Latitude, sweep: int) -> tuple[str, ...]:
    """Return the ways to mend an order, the best first."""
    ways = ("lower", "raise") if sweep < _LOWERING else ("raise", "lower")
    low, high, _ = _low_and_high(claim)
    if low in latitude.counted and high not in latitude.counted:
        ways = (ways[1], ways[0])
    types = frame[low].dtype, frame[high].dtype
    alike = types[0] == types[1] or are_compared_by_day(*types)
    return ("exchange", *ways) if alike and claim.operator != "=" and sweep < _EXCHANGING else ways


def _low_and_high(claim: Claim) -> tuple[str, str, str]:
    """Return the column that is to be smaller, the other, and how."""
    if claim.operator in _MIRRORED:
        return str(claim.other), claim.column, _MIRRORED[claim.operator]
    return claim.column, str(claim.other), claim.operator


def _moved(
    claim: Claim, way: str, frame: pl.DataFrame, rows: pl.Series, latitude: Latitude
) -> dict[str, pl.Series]:
    """Return the columns that are changed if an order is mended in one way."""
    low, high, operator = _low_and_high(claim)
    if are_compared_by_day(frame[low].dtype, frame[high].dtype):
        pair = frame.select(low, high)
        apart = {c.name: days_in_step(c.dtype, latitude.steps.get(c.name)) for c in pair}
        days = pl.DataFrame([days_of(cells) for cells in pair])
        found = _moved(claim, way, days, rows, Latitude(steps=apart))
        return {name: moved_to(frame[name], cells) for name, cells in found.items()}
    if way == "exchange":
        return {
            low: frame[low].zip_with(~rows, frame[high]),
            high: frame[high].zip_with(~rows, frame[low]),
        }
    moving, fixed = (low, high) if way == "lower" else (high, low)
    cells, bounds = frame[moving], frame[fixed]
    if operator == "=":
        return {moving: cells.zip_with(~rows, bounds.cast(cells.dtype, strict=False))}
    side = operator if way == "lower" else _UPWARD[operator]

    def admits(found: pl.Series) -> pl.Series:
        return latitude.admits(moving, found)

    return {moving: within(cells, rows, bounds, side, latitude.steps.get(moving), admits)}


def _row_of_middle(rule: Rule, frame: pl.DataFrame, names: Sequence[str]) -> int:
    """Return a row that has the lower median of the first column and no missing cell."""
    there = frame.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series().arg_true()
    if there.is_empty():
        raise InputError(
            f"Rule {rule.text!r}: column {names[0]!r} has no value to fill in. Remove the rule."
        )
    order = frame[names[0]].gather(there).arg_sort()
    return int(there[order[(order.len() - 1) // 2]])


def _nearest(rule: Rule, cells: pl.Series, rows: pl.Series, latitude: Latitude) -> pl.Series:
    """Return the cells with those in `rows` at the nearest allowed value."""
    words = rule.then.values
    allowed = [literal(rule, cells.name, cells.dtype, word) for word in words]
    if is_text(cells.dtype) or isinstance(cells.dtype, pl.Boolean):
        counts = [int((cells.cast(pl.String) == str(value)).sum()) for value in allowed]
        return replaced(cells, rows, allowed[counts.index(max(counts))])
    places = rows.arg_true()
    choices = pl.Series([*allowed], dtype=cells.dtype, strict=False).sort()
    admitted = choices.filter(latitude.admits(cells.name, choices))
    choices = choices if admitted.is_empty() else admitted
    ordered = np.asarray(choices.to_physical().to_numpy(), dtype=np.float64)
    here = np.asarray(cells.gather(places).to_physical().to_numpy(), dtype=np.float64)
    best = np.abs(here[:, None] - ordered).argmin(axis=1)
    return cells.scatter(places, choices.gather(best))
