"""Which variables the lasso selects for a response, on the original and on the release.

Both are fitted as in the study of the Wisconsin data: ten folds, scaled and weighted as in
cv.glmnet, which also ends the path of lambdas early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import ColumnPair, RowNumbers, named, sampled
from icsa.comparison.designs import encoded
from icsa.correlations import varies
from icsa.errors import ConvergenceError, InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import Direction, Estimate, Measure, NotEstimable
from icsa.utility.lasso import LassoFit, cross_validated_lasso, random_folds
from icsa.utility.selection import SELECTION_METRICS

__all__ = [
    "SelectionTask",
    "SelectionValue",
    "numeric_response",
    "selection_task",
]

Selected = npt.NDArray[np.bool_]

_NAMES = {"recall": "recall", "fpr": "false positive rate", "precision": "precision"}
_NAMES |= {"jaccard": "Jaccard index", "distance": "distance of coefficients"}

_SEED = 0
_FOLDS = 10
_FEWEST_ROWS = 20
_REPETITIONS = 10
# A column with a larger share of missing cells would cost more rows than it is worth.
_MOST_MISSING = 0.2


@dataclass(frozen=True, slots=True)
class SelectionValue:
    """A metric of the release, and of resamples of the original in its place.

    Attributes
    ----------
    measure : Measure
    of_a_sample : Measure
        The mean over ten resamples, and where 90% lie.
    """

    measure: Measure
    of_a_sample: Measure


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class SelectionTask:
    """What `selection_task` found.

    Attributes
    ----------
    response : str
    variables : tuple of str
        Columns that could be selected. A category is selected when one of its levels is.
    original, released : ndarray of bool
        Which of them the lasso selects; none where nothing could be fitted.
    n_original, n_released : int
        Complete rows, which alone are used.
    n_incomplete : pair of int
        RowNumbers of the original and of the release that are left out.
    left_out : tuple of str
        Columns left out because more than a fifth of their cells are missing in one of the tables.
    values : mapping of str to SelectionValue
        "recall", "fpr", "precision" and "jaccard", with the selection on the original as the
        reference; and "distance", the Euclidean distance of the two vectors of coefficients, all
        columns in units of the original's standard deviation.
    reason : str
        Why nothing could be fitted; empty where something was.
    """

    response: str
    variables: tuple[str, ...]
    original: Selected
    released: Selected
    n_original: int
    n_released: int
    n_incomplete: tuple[int, int]
    left_out: tuple[str, ...]
    values: Mapping[str, SelectionValue]
    reason: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class _Problem:
    """Features and response of both tables, complete rows only."""

    x: tuple[Matrix, Matrix]
    y: tuple[Vector, Vector]
    sources: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the features come from."""
        return tuple(dict.fromkeys(self.sources))

    def selected(self, fit: LassoFit) -> Selected:
        """Return which columns have a feature with a coefficient."""
        found = {name for name, yes in zip(self.sources, fit.selected, strict=True) if yes}
        return np.array([name in found for name in self.names], dtype=np.bool_)


@dataclass(frozen=True, eq=False, slots=True)
class _Fits:
    """The lasso on both tables."""

    problem: _Problem
    reference: LassoFit
    released: LassoFit


def selection_task(
    columns: Sequence[ColumnPair], response: str, *, max_rows: int = 20_000
) -> SelectionTask:
    """Return which columns the lasso selects for a response on both tables, and how they agree.

    All other columns are predictors, categories as dummies of their levels. Rows with a missing
    cell are left out. The yardstick does the same with ten resamples of the original's rows; copies
    of one row are in one fold, so that no fit has seen what it predicts.

    Parameters
    ----------
    columns : sequence of ColumnPair
        The response among them.
    response : str
        A numeric column, or a category of two levels, which count as 0 and 1.
    max_rows : int
        Of longer tables so many rows are drawn.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> rng = np.random.default_rng(0)
    >>> x, new = rng.normal(size=(2, 200, 3))
    >>> columns = [numeric_column(name, x[:, j], new[:, j]) for j, name in enumerate("abc")]
    >>> columns.append(numeric_column("y", x[:, 0] + x[:, 1], new[:, 0] + new[:, 1]))
    >>> task = selection_task(columns, "y")
    >>> task.variables, task.released.tolist()
    (('a', 'b', 'c'), [True, True, False])
    >>> print(task.values["recall"].measure, task.values["recall"].of_a_sample)
    1.00 1.00 (1.00 to 1.00)
    """
    rows = sampled(columns, max_rows, seed=_SEED)
    answer = numeric_response(named(rows, response))
    others = [column for column in rows if column.name != response]
    sparse = [
        column.name
        for column in others
        if max(cells.mean() for cells in column.missing) > _MOST_MISSING
    ]
    used = [column for column in others if column.name not in sparse]
    kept = [np.flatnonzero(complete) for complete in _complete([answer, *used])]
    sizes = (answer.original.size - kept[0].size, answer.released.size - kept[1].size)
    problem = _problem(answer, used, kept)
    fits = problem if isinstance(problem, NotEstimable) else _both_fits(problem)
    none = np.zeros(0, dtype=np.bool_)
    return SelectionTask(
        response=response,
        variables=() if isinstance(fits, NotEstimable) else fits.problem.names,
        original=none if isinstance(fits, NotEstimable) else fits.problem.selected(fits.reference),
        released=none if isinstance(fits, NotEstimable) else fits.problem.selected(fits.released),
        n_original=kept[0].size,
        n_released=kept[1].size,
        n_incomplete=sizes,
        left_out=tuple(sparse),
        values=_values(fits),
        reason=fits.reason if isinstance(fits, NotEstimable) else "",
    )


def numeric_response(column: ColumnPair) -> ColumnPair:
    """Return a response as numbers; of a category of two levels the second is 1.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column
    >>> numeric_response(category_column("sex", ["f", "m"], ["m", None])).released
    array([ 1., nan])
    """
    if column.levels is None:
        return column
    seen = np.unique(np.concatenate([column.original, column.released]))
    if (seen >= 0).sum() > 2:
        raise InputError(
            f"Column {column.name!r} is a category of {len(column.levels)} levels; the lasso needs "
            "a response that is numeric or has two levels. Choose another column."
        )
    first, second = (
        np.where(codes < 0, np.nan, (codes == seen[-1]) + 0.0)
        for codes in (column.original, column.released)
    )
    return ColumnPair(column.name, first, second)


def _complete(columns: Sequence[ColumnPair]) -> tuple[Selected, Selected]:
    missing = [column.missing for column in columns]
    first, second = (np.any([pair[table] for pair in missing], axis=0) for table in (0, 1))
    return ~first, ~second


def _problem(
    answer: ColumnPair, others: Sequence[ColumnPair], kept: Sequence[RowNumbers]
) -> _Problem | NotEstimable:
    for rows, table in zip(kept, ("original", "release"), strict=True):
        if rows.size < _FEWEST_ROWS:
            return NotEstimable(
                f"the {table} has {rows.size} complete rows, and {_FEWEST_ROWS} are needed"
            )
    if not others:
        return NotEstimable("there is no other column")
    design = encoded([column.rows(kept[0], kept[1]) for column in others])
    if not design.sources:
        return NotEstimable("no other column varies")
    response = answer.rows(kept[0], kept[1])
    if not (varies(response.original) and varies(response.released)):
        return NotEstimable("the response does not vary")
    spread = float(response.original.std())
    both = response.original / spread, response.released / spread
    return _Problem((design.original, design.released), both, design.sources)


def _both_fits(problem: _Problem) -> _Fits | NotEstimable:
    found = []
    for x, y in zip(problem.x, problem.y, strict=True):
        # tables of one size have the same folds, so that a copy in the same order has the same fit
        fit = _fitted(x, y, random_folds(y.size, _FOLDS, np.random.default_rng(_SEED)))
        if isinstance(fit, NotEstimable):
            return fit
        found.append(fit)
    return _Fits(problem, found[0], found[1])


def _fitted(x: Matrix, y: Vector, folds: RowNumbers) -> LassoFit | NotEstimable:
    try:
        return cross_validated_lasso(x, y, folds=folds, convention="glmnet", stop_early=True)
    except ConvergenceError:
        return NotEstimable("the lasso's path could not be followed")


def _values(fits: _Fits | NotEstimable) -> dict[str, SelectionValue]:
    if isinstance(fits, NotEstimable):
        return {key: SelectionValue(_measure(key, fits), _measure(key, fits)) for key in _NAMES}
    problem, reference = fits.problem, fits.reference
    found = _compared(problem, reference, fits.released)
    resampled = [
        _compared(problem, reference, again)
        for again in _fits_of_resamples(problem)
        if not isinstance(again, NotEstimable)
    ]
    n = len(problem.names)
    return {
        key: SelectionValue(
            _measure(key, found[key], n), _of_a_sample(key, [each[key] for each in resampled])
        )
        for key in _NAMES
    }


def _compared(problem: _Problem, reference: LassoFit, fit: LassoFit) -> dict[str, Estimate]:
    chosen = problem.selected(reference), problem.selected(fit)
    return {
        **{key: metric(*chosen) for key, metric in SELECTION_METRICS.items()},
        "distance": float(np.linalg.norm(reference.coefficients - fit.coefficients)),
    }


def _fits_of_resamples(problem: _Problem) -> list[LassoFit | NotEstimable]:
    x, y = problem.x[0], problem.y[0]
    rng = np.random.default_rng(_SEED + 1)
    fits: list[LassoFit | NotEstimable] = []
    for _ in range(_REPETITIONS):
        drawn = rng.integers(0, y.size, size=problem.y[1].size)
        folds = random_folds(y.size, _FOLDS, rng)[drawn]
        if np.unique(folds).size == _FOLDS and varies(y[drawn]):
            fits.append(_fitted(x[drawn], y[drawn], folds))
    return fits


def _of_a_sample(key: str, estimates: Sequence[Estimate]) -> Measure:
    values = [value for value in estimates if not isinstance(value, NotEstimable)]
    if not values:
        return _measure(key, NotEstimable("no resample has a defined value"))
    low, high = np.quantile(values, [0.05, 0.95])
    return Measure.of(
        float(np.mean(values)),
        name=_NAMES[key],
        direction=_direction(key),
        n=len(values),
        n_undefined=_REPETITIONS - len(values),
        interval=(float(low), float(high)),
    )


def _measure(key: str, estimate: Estimate, n: int = 0) -> Measure:
    return Measure.of(estimate, name=_NAMES[key], direction=_direction(key), n=n)


def _direction(key: str) -> Direction:
    return "lower is better" if key in ("fpr", "distance") else "higher is better"
