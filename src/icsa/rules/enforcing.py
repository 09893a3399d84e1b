"""Making a table keep its rules by moving few cells."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.errors import InputError
from icsa.rules.checking import broken, check_rules, is_text, literal
from icsa.rules.days import are_compared_by_day, days_in_step, days_of, moved_to
from icsa.rules.grammar import Claim, Rule

__all__ = ["enforce_rules"]

_MOST_PASSES = 12
# Passes that mend an order by exchanging cells, then by lowering one; later ones raise the other.
_EXCHANGING = 4
_LOWERING = 8
_MIRRORED = {">=": "<=", ">": "<"}


def enforce_rules(
    rules: Sequence[Rule],
    frame: pl.DataFrame,
    steps: Mapping[str, float | None] = MappingProxyType({}),
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the table with cells moved until every rule holds, and how many cells each rule moved.

    - A bound: the cell moves to the nearest value of its lattice that keeps it.
    - x <= y: the two cells are exchanged, which keeps both columns' values; where their types
      differ, or other rules undo that, x is lowered to y, and if that fails too y is raised to x.
      x < y with equal cells: x moves down by one step. Of a date and a date with a time the days
      are exchanged or moved; the time stays.
    - Allowed values: the nearest; of texts the one that the column has most often.
    - missing: the cell is emptied. present: it gets the middle one of the column's values.
    - if ... then: only what follows `then` is mended, in the rows that satisfy the test.

    Types stay as they are. The rules are gone through until none is broken.

    Parameters
    ----------
    rules : sequence of Rule
    frame : polars.DataFrame
    steps : mapping of str to float, optional
        Lattice step of columns (days for dates, seconds for other times).

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
    >>> from icsa.rules import parse_rule
    >>> frame = pl.DataFrame({"a": [1, 5, 9], "b": [2, 4, 9]})
    >>> rules = [parse_rule(text, frame.columns) for text in ("a <= b", "b <= 8")]
    >>> released, moved = enforce_rules(rules, frame)
    >>> released.rows(), dict(moved)
    ([(1, 2), (4, 5), (8, 8)], {'a <= b': 3, 'b <= 8': 1})
    """
    current = frame
    # The rule that moved a cell last, -1 for none.
    movers: dict[str, npt.NDArray[np.int64]] = {}
    for sweep in range(_MOST_PASSES):
        calm = True
        for place, rule in enumerate(rules):
            rows = broken(rule, current)
            if not rows.any():
                continue
            calm = False
            for column, cells in _mended(rule, current, rows, steps, sweep).items():
                changed = current[column].ne_missing(cells).to_numpy()
                movers.setdefault(column, np.full(frame.height, -1))[changed] = place
                current = current.with_columns(cells.alias(column))
        if calm:
            break
    _require_kept(rules, current)
    counts = np.zeros(len(rules), dtype=np.int64)
    for column, mover in movers.items():
        moved = frame[column].ne_missing(current[column]).to_numpy()
        counts += np.bincount(mover[moved], minlength=len(rules))
    texts = (rule.text for rule in rules)
    return current, MappingProxyType(dict(zip(texts, map(int, counts), strict=True)))


def _require_kept(rules: Sequence[Rule], frame: pl.DataFrame) -> None:
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
    rule: Rule,
    frame: pl.DataFrame,
    rows: pl.Series,
    steps: Mapping[str, float | None],
    sweep: int,
) -> dict[str, pl.Series]:
    """Return the columns that keep the rule, changed in the given rows alone."""
    claim = rule.then
    cells = frame[claim.column]
    if claim.other is not None and are_compared_by_day(cells.dtype, frame[claim.other].dtype):
        pair = frame.select(claim.column, claim.other)
        apart = {c.name: days_in_step(c.dtype, steps.get(c.name)) for c in pair}
        found = _mended(rule, pl.DataFrame([days_of(c) for c in pair]), rows, apart, sweep)
        return {name: moved_to(frame[name], days) for name, days in found.items()}
    if claim.operator == "missing":
        return {claim.column: _replaced(cells, rows, None)}
    if claim.operator == "present":
        return {claim.column: _replaced(cells, rows, _middle(rule, cells))}
    if claim.operator == "in" or (claim.operator == "=" and claim.other is None):
        return {claim.column: _nearest(rule, cells, rows)}
    if claim.operator == "=" and claim.other is not None:
        other = frame[claim.other].cast(cells.dtype, strict=False)
        return {claim.column: cells.zip_with(~rows, other)}
    if claim.other is None:
        value = literal(rule, claim.column, cells.dtype, claim.values[0])
        edge = _edge(cells.dtype, value, claim.operator, steps.get(claim.column))
        return {claim.column: _replaced(cells, rows, edge)}
    return _in_order(claim, frame, rows, steps, sweep)


def _in_order(
    claim: Claim,
    frame: pl.DataFrame,
    rows: pl.Series,
    steps: Mapping[str, float | None],
    sweep: int,
) -> dict[str, pl.Series]:
    """Return two columns in order: exchanged, or one of them moved."""
    low, high, operator = claim.column, str(claim.other), claim.operator
    if operator in _MIRRORED:
        low, high, operator = high, low, _MIRRORED[operator]  # type: ignore[assignment]
    smaller, larger = frame[low], frame[high]
    if smaller.dtype == larger.dtype and sweep < _EXCHANGING:
        equal = rows & (smaller == larger).fill_null(value=False)
        apart = rows & ~equal
        lowered = _each_edge(smaller, equal, larger, operator, steps.get(low))
        return {low: lowered.zip_with(~apart, larger), high: larger.zip_with(~apart, smaller)}
    if sweep < _LOWERING:
        return {low: _each_edge(smaller, rows, larger, operator, steps.get(low))}
    upward = {"<=": ">=", "<": ">"}[operator]
    return {high: _each_edge(larger, rows, smaller, upward, steps.get(high))}


def _each_edge(
    cells: pl.Series, rows: pl.Series, bounds: pl.Series, operator: str, step: float | None
) -> pl.Series:
    """Return the cells with those in `rows` at the nearest value that keeps each row's bound."""
    places = rows.arg_true()
    if places.is_empty():
        return cells
    edges = [_edge(cells.dtype, bound, operator, step) for bound in bounds.gather(places)]
    moved = pl.Series(edges, dtype=cells.dtype, strict=False)
    return cells.scatter(places, moved.zip_with(moved.is_not_null(), cells.gather(places)))


def _edge(dtype: pl.DataType, bound: Any, operator: str, step: float | None) -> Any:
    """Return the value on the lattice nearest to a bound that keeps it, as a Python object."""
    strict, upward = operator in ("<", ">"), operator in (">", ">=")
    if dtype.is_temporal():
        return _edge_in_time(dtype, bound, step, strict=strict, upward=upward)
    if dtype.is_float():
        if not step:
            return math.nextafter(bound, math.inf if upward else -math.inf) if strict else bound
        return _on_lattice(float(bound), step, strict=strict, upward=upward)
    if isinstance(dtype, pl.Boolean):
        return upward
    whole = max(1, round(step or 1))
    edge = (-int(-bound // whole) if upward else int(bound // whole)) * whole
    return edge + (whole if upward else -whole) if strict and edge == bound else edge


def _on_lattice(bound: float, step: float, *, strict: bool, upward: bool) -> float:
    """Return the multiple of a step next to a bound, rounded as it would be written."""
    sign = 1 if upward else -1
    count = (math.ceil if upward else math.floor)(bound / step - sign * 1e-9)
    value = float(f"{count * step:.12g}")
    if sign * value < sign * bound or (strict and value == bound):
        value = float(f"{(count + sign) * step:.12g}")
    return value


def _edge_in_time(
    dtype: pl.DataType, bound: Any, step: float | None, *, strict: bool, upward: bool
) -> Any:
    if not strict:
        return bound
    sign = 1 if upward else -1
    if isinstance(dtype, pl.Date):
        return bound + sign * dt.timedelta(days=max(1, round(step or 1)))
    apart = dt.timedelta(seconds=step or 1e-3)
    if not isinstance(dtype, pl.Time):
        return bound + sign * apart
    moved = dt.datetime.combine(dt.date(2000, 1, 2), bound) + sign * apart
    return moved.time() if moved.date() == dt.date(2000, 1, 2) else bound


def _replaced(cells: pl.Series, rows: pl.Series, value: Any) -> pl.Series:
    """Return the cells with one value in `rows`; as they are where their type cannot hold it."""
    zone = cells.dtype.time_zone if isinstance(cells.dtype, pl.Datetime) else None
    if zone is not None and value is not None and value.tzinfo is None:
        one = pl.Series([value]).dt.replace_time_zone(zone).cast(cells.dtype)
    else:
        one = pl.Series([value], dtype=cells.dtype, strict=False)
    if value is not None and one.null_count():
        return cells
    return cells.zip_with(~rows, one.new_from_index(0, len(cells)))


def _middle(rule: Rule, cells: pl.Series) -> Any:
    """Return the column's lower median: a value that the release has anyway."""
    present = cells.drop_nulls().sort()
    if present.is_empty():
        raise InputError(
            f"Rule {rule.text!r}: column {cells.name!r} has no value to fill in. Remove the rule."
        )
    return present[(len(present) - 1) // 2]


def _nearest(rule: Rule, cells: pl.Series, rows: pl.Series) -> pl.Series:
    """Return the cells with those in `rows` at the nearest allowed value."""
    words = rule.then.values
    allowed = [literal(rule, cells.name, cells.dtype, word) for word in words]
    if is_text(cells.dtype) or isinstance(cells.dtype, pl.Boolean):
        counts = [int((cells.cast(pl.String) == str(value)).sum()) for value in allowed]
        return _replaced(cells, rows, allowed[counts.index(max(counts))])
    places = rows.arg_true()
    choices = pl.Series([*allowed], dtype=cells.dtype, strict=False)
    ordered = np.asarray(choices.sort().to_physical().to_numpy(), dtype=np.float64)
    here = np.asarray(cells.gather(places).to_physical().to_numpy(), dtype=np.float64)
    best = np.abs(here[:, None] - ordered).argmin(axis=1)
    return cells.scatter(places, choices.sort().gather(best))
