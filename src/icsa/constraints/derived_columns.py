"""A column that is computed from others by an expression, and how far a table bears it out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from icsa.columns import Kind, kind_of
from icsa.constraints.derived_expressions import Expression, Operand, parse_expression
from icsa.constraints.fitting import relative_error_of
from icsa.constraints.limits import LIMITS
from icsa.constraints.words import in_rows
from icsa.errors import InputError
from icsa.matrices import Vector

__all__ = [
    "ColumnFacts",
    "Derived",
    "declared_derived",
    "fit_derived",
    "is_computable",
    "rounding_slack",
]

_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True)
class ColumnFacts:
    """What expressions need to know of a column.

    Attributes
    ----------
    kind : str
    step : float, optional
        Its lattice step.
    levels : tuple, optional
        Of discrete kinds the values whose positions its numbers are.
    """

    kind: Kind
    step: float | None = None
    levels: tuple[object, ...] | None = None

    @property
    def unit(self) -> float:
        """What its numbers are divided by to be days, 1 for others."""
        kind = kind_of(self.kind)
        return kind.per_day or (_SECONDS_A_DAY if kind.is_temporal else 1.0)

    @property
    def is_date(self) -> bool:
        """Whether it holds dates or datetimes."""
        return kind_of(self.kind).per_day > 0.0

    @property
    def operand(self) -> Operand:
        """How an expression reads it."""
        if self.levels is None:
            return Operand(self.unit, moments=self.is_date)
        if all(isinstance(level, int | float) for level in self.levels):
            return Operand(values=tuple(float(level) for level in self.levels))  # type: ignore[arg-type]
        return Operand(texts=tuple(map(str, self.levels)))


@dataclass(frozen=True)
class Derived:
    """A column that an expression gives.

    Attributes
    ----------
    target : str
    expression : Expression
    share : float
        Share of the rows with a result and a cell in which it holds.
    scale : float
        What a result is multiplied by to be a number of the target: 86,400 for seconds.
    rounded : bool
        Whether the target is the result only after rounding to its own lattice.
    bounds, numbers : tuple of float
        For classes: a result from one bound up to the next has the number at its place.
    absent : float
        The number where a column of the expression is missing; NaN for none.
    missing : int
        Number of cells of the target that are missing, where some are in rows with a result;
        otherwise 0.
    surprise : float
        -log of the chance that cells in random order would fit as well.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> grams = rng.integers(1500, 4500, 90).astype(float)
    >>> table = {"grams": grams, "low": (grams < 2500) * 1.0}
    >>> facts = {"grams": ColumnFacts("integer", 1.0), "low": ColumnFacts("binary", None, (0, 1))}
    >>> low = fit_derived("low", "grams < 2500", table, facts)
    >>> low.predict({"grams": np.array([2499.0, 2500.0, np.nan])})
    array([ 1.,  0., nan])
    >>> low.describe()
    'low says whether grams < 2500, in all rows'
    """

    target: str
    expression: Expression
    share: float = 1.0
    scale: float = 1.0
    rounded: bool = False
    bounds: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()
    absent: float = np.nan
    missing: int = 0
    surprise: float = field(default=0.0, compare=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the columns that it is computed from."""
        return self.expression.columns

    @property
    def columns(self) -> frozenset[str]:
        """Names of the target and of its sources."""
        return frozenset((self.target, *self.sources))

    def predict(self, numbers: Mapping[str, Vector]) -> Vector:
        """Return the target's numbers, NaN where they cannot be computed, before any rounding."""
        result = self.expression.compute(numbers)
        if not self.numbers:
            return result * self.scale
        places = np.searchsorted(self.bounds, result, side="right")
        found = np.asarray(self.numbers)[np.minimum(places, len(self.bounds))]
        return np.where(np.isnan(result), self.absent, found)

    def describe(self) -> str:
        """Return in words what it follows from, without any cell."""
        if self.expression.gives_truth:
            return f"{self.target} says whether {self.expression.text}, {in_rows(self.share)}"
        text = self.expression.text
        if self.numbers:
            text = f"a class of {text}" if self.expression.is_column else text
        rounding = ", rounded," if self.rounded else ""
        return f"{self.target} = {text}{rounding} {in_rows(self.share)}"


def declared_derived(
    target: str, text: str, numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts]
) -> Derived:
    """Return the derivation that a schema declares, held against the table.

    Parameters
    ----------
    target, text : str
        The column, and the expression as it is written.
    numbers : mapping of str to ndarray
        Of all columns that can be read, NaN where missing.
    facts : mapping of str to ColumnFacts

    Raises
    ------
    InputError
        The expression cannot be read, speaks of the column itself, or gives something else than the
        column has in more than 2% of the rows; or the column is none of numbers, dates or levels.
    """
    if target not in facts:
        raise InputError(
            f"Column {target!r}: derive is for numbers, dates and levels that are not all the "
            "same. Leave derive out."
        )
    found = fit_derived(target, text, numbers, facts)
    if found is None:
        raise InputError(
            f"Column {target!r}: no row has a cell and all that derive = {text!r} reads. Correct "
            "the expression, or leave derive out."
        )
    if found.share < LIMITS.least_share:
        there = ~np.isnan(found.predict(numbers) - numbers[target])
        wrong = round((1.0 - found.share) * int(there.sum()))
        raise InputError(
            f"Column {target!r}: derive = {text!r} gives something else than the cell in {wrong} "
            f"of {int(there.sum())} rows; 2% are the most. Correct the expression or the cells, "
            "or leave derive out."
        )
    if found.surprise <= 0.0:
        raise InputError(
            f"Column {target!r}: derive = {text!r} gives nearly every row a class of its own, and "
            "anything would follow from that. Write bounds, as in 'cut(age, 40, 60)', or leave "
            "derive out."
        )
    return found


def fit_derived(
    target: str, text: str, numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts]
) -> Derived | None:
    """Return how a table bears out that a column follows from others; None without any row.

    Numbers are what the expression gives; of a discrete column, and of classes, each result has the
    level that most rows with this result have, and between two results the nearer one's.
    """
    own = facts[target]
    others = {name: fact.operand for name, fact in facts.items() if name != target}
    try:
        expression = parse_expression(text, others)
    except InputError as error:
        raise InputError(f"Column {target!r}: {error}") from error
    _require_sort(target, own, expression)
    result, y = expression.compute(numbers), numbers[target]
    both = ~np.isnan(result) & ~np.isnan(y)
    if not both.any():
        return None
    found = Derived(target, expression, scale=own.unit)
    classed = own.levels is not None or expression.gives_classes
    if classed:
        bounds, classes = _classes(result[both], y[both])
        absent = _absent(y[np.isnan(result)])
        found = replace(found, bounds=bounds, numbers=classes, absent=absent)
    wanted = found.predict(numbers)
    slack = rounding_slack(y[both], None if classed else own.step)
    away = np.abs(wanted[both] - y[both])
    wrong = int(np.count_nonzero(away > slack))
    if classed:
        surprise = _surprise_of_classes(found, result[both], y[both], wrong)
    else:
        surprise = _surprise_of_numbers(wanted[both], y[both], slack, wrong)
    empty = np.isnan(y) & ~np.isnan(wanted)
    return replace(
        found,
        share=1.0 - wrong / away.size,
        rounded=bool(np.any((away <= slack) & (away > rounding_slack(y[both], None)))),
        missing=int(np.isnan(y).sum()) if empty.any() else 0,
        surprise=surprise,
    )


def is_computable(derived: Derived, numbers: Mapping[str, Vector]) -> bool:
    """Return whether there is a result wherever there is a cell."""
    return not np.any(np.isnan(derived.predict(numbers)) & ~np.isnan(numbers[derived.target]))


def _require_sort(target: str, own: ColumnFacts, expression: Expression) -> None:
    """Refuse dates for numbers and numbers for dates."""
    if own.levels is not None or expression.gives_classes:
        return
    if expression.gives_moments != own.is_date:
        wanted = "a date" if own.is_date else "a number"
        raise InputError(
            f"Column {target!r} of kind {own.kind!r}: the expression {expression.text!r} does not "
            f"give {wanted}. Correct the expression, or the kind."
        )


def rounding_slack(y: Vector, step: float | None) -> Vector:
    """Return how far a number may be from the result that it is rounded from.

    Examples
    --------
    >>> rounding_slack(np.array([0.0, 7.3]), 0.1).round(3)
    array([0.05, 0.05])
    """
    sizes = np.abs(y)
    # A logarithm near 0 is as exact as others of its column, not as its own size would have it.
    usual = float(np.nanmedian(sizes)) if np.isfinite(sizes).any() else 0.0
    exact: Vector = relative_error_of(y, step) * (sizes + usual)
    return exact if step is None else exact + 0.5 * step * (1.0 + 1e-9)


def _absent(cells: Vector) -> float:
    """Return the number of rows without a result if they all have one, otherwise NaN."""
    if cells.size and np.all(cells == cells[0]):
        return float(cells[0])
    return np.nan


def _classes(result: Vector, y: Vector) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return bounds of results, and the number that most rows between two of them have."""
    values, place = np.unique(result, return_inverse=True)
    levels, level = np.unique(y, return_inverse=True)
    pairs, counts = np.unique(place * levels.size + level, return_counts=True)
    owners = pairs // levels.size
    order = np.lexsort((-counts, owners))
    _, first = np.unique(owners[order], return_index=True)
    usual = pairs[order][first] % levels.size
    changes = np.flatnonzero(np.diff(usual)) + 1
    bounds = values[changes - 1] / 2.0 + values[changes] / 2.0
    firsts = np.concatenate([[0], changes]).astype(np.intp)
    return tuple(map(float, bounds)), tuple(map(float, levels[usual[firsts]]))


def _surprise_of_classes(found: Derived, result: Vector, y: Vector, wrong: int) -> float:
    """Return -log of a bound on the chance that levels in random order have such classes.

    So many orders of the levels have as few changes, or any level for each result, and as many
    wrong rows, out of all that there are.
    """
    _, counts = np.unique(y, return_counts=True)
    n_rows, n_levels = y.size, counts.size
    if n_levels < 2:
        return 0.0
    n_values, n_changes = np.unique(result).size, len(found.bounds)
    few_changes = (
        _log_choices(n_values - 1, n_changes)
        + math.log(n_levels)
        + n_changes * math.log(n_levels - 1)
    )
    like_this = min(few_changes, n_values * math.log(n_levels))
    like_this += _log_choices(n_rows, wrong) + wrong * math.log(n_levels - 1)
    orders = math.lgamma(n_rows + 1) - sum(math.lgamma(count + 1) for count in counts)
    return orders - like_this


def _surprise_of_numbers(wanted: Vector, y: Vector, slack: Vector, wrong: int) -> float:
    """Return -log of the chance that numbers of other rows fit as well."""
    shifts = range(1, min(y.size, LIMITS.derived_shifts + 1))
    hits = sum(int(np.sum(np.abs(np.roll(wanted, k) - y) <= slack)) for k in shifts)
    chance = (hits + 1) / (len(shifts) * y.size + 1)
    return -(y.size - wrong) * math.log(chance) - _log_choices(y.size, wrong)


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
