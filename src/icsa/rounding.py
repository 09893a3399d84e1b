"""A release on the lattices of its original: rounded cells, and sums that still add up.

The original's cells are rounded, to whole years or to tenths; what comes back from masked
coordinates has all the digits of a float. In tables of few columns those digits are enough to find
the original rows, so that a release is rounded as its original is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from icsa.errors import DigitsWarning, InputError, RoundedRelationWarning
from icsa.lattice import Lattice, lattices_of_columns, spread_positions
from icsa.matrices import Matrix, Vector, column_names, row_blocks
from icsa.subspaces import Subspace, spanned_subspace
from icsa.threads import in_threads

__all__ = ["Rounding", "Sum", "require_known_rounding", "rounding_of", "warn_of_digits"]

# A weight that adds less than this share of the largest term is rounding.
_NO_WEIGHT = 1e-9
# A lattice lies on another where steps are multiples to this precision.
_WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class Sum:
    """A column that others give exactly: constant + sum of weights times columns."""

    column: int
    sources: tuple[int, ...]
    weights: tuple[float, ...]
    constant: float

    def of(self, x: Matrix) -> Vector:
        """Return what the other columns of `x` give."""
        total = np.full(x.shape[0], self.constant)
        for source, weight in zip(self.sources, self.weights, strict=True):
            total += weight * x[:, source]
        return total


@dataclass(frozen=True, eq=False)
class Rounding:
    """The lattices of a table's columns, and the relations between columns that rounding touches.

    Attributes
    ----------
    lattices : tuple of Lattice or None
        One for each column; None for constant columns and for those of real numbers.
    sums : tuple of Sum
        Columns that are computed again from rounded ones, so that the relation stays exact.
    broken : tuple of tuple of int
        Columns of exact relations that hold only up to rounding.
    """

    lattices: tuple[Lattice | None, ...]
    sums: tuple[Sum, ...] = ()
    broken: tuple[tuple[int, ...], ...] = ()

    def apply_in_place(self, released: Matrix, threads: int = 1) -> None:
        """Round every column to its lattice, and compute sums again."""
        computed = {each.column for each in self.sums}
        own = [j for j in range(len(self.lattices)) if j not in computed]
        in_threads(lambda j: self._round(released, j), own, threads)
        for each in self.sums:
            released[:, each.column] = each.of(released)
            self._round(released, each.column)

    def _round(self, released: Matrix, j: int) -> None:
        lattice = self.lattices[j]
        if lattice is not None:
            for rows in row_blocks(released.shape[0]):
                released[rows, j] = lattice.round(released[rows, j])

    def warn_of_broken_relations(self, x: object) -> None:
        """Say which exact relations of the table `x` hold only up to rounding."""
        names = column_names(x) if self.broken else []
        for columns in self.broken:
            listed = ", ".join(names[j] for j in columns)
            warnings.warn(
                f"Columns {listed}: the exact relation between them holds in the release only up "
                "to rounding, as no one of them is on its lattice when computed from the others. "
                "Leave one out, and compute it from the released others.",
                RoundedRelationWarning,
                stacklevel=4,
            )


def rounding_of(x: Matrix) -> Rounding:
    """Return how a release of the table `x` is rounded.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.integers(0, 50, size=(100, 2)).astype(float)
    >>> rounding = rounding_of(np.column_stack([parts, parts.sum(axis=1), rng.normal(size=100)]))
    >>> [None if lattice is None else lattice.width for lattice in rounding.lattices]
    [1.0, 1.0, 1.0, None]
    >>> rounding.sums[0].column, rounding.sums[0].sources, rounding.sums[0].weights
    (2, (0, 1), (1.0, 1.0))
    """
    lattices = lattices_of_columns(x)
    space = _dependent_columns(x) if any(lattices) else None
    if space is None:
        return Rounding(lattices)
    return Rounding(lattices, *_kept_and_broken(x, lattices, space))


def require_known_rounding(round: object) -> None:  # noqa: A002
    """Raise an error for what is no way of rounding.

    Examples
    --------
    >>> require_known_rounding("lattice")
    """
    if round not in ("lattice", None):
        raise InputError("round is 'lattice', or None for all digits.")


def warn_of_digits(x: object, matrix: Matrix) -> None:
    """Warn where columns of the table are rounded and its release is not.

    Examples
    --------
    >>> warn_of_digits(None, np.random.default_rng(0).normal(size=(9, 2)))
    """
    rounded = [j for j, lattice in enumerate(lattices_of_columns(matrix)) if lattice is not None]
    if rounded:
        names = column_names(x)
        listed = ", ".join(names[j] for j in rounded)
        warnings.warn(
            f"Column(s) {listed}: rounded in the table, and released with all digits. In tables of "
            "up to four columns these digits can give back every row (the digits attack, by "
            "lattice reduction). Use round='lattice'.",
            DigitsWarning,
            stacklevel=3,
        )


def _dependent_columns(x: Matrix) -> Subspace | None:
    """Return the space that the rows span if columns depend on others; some rows tell first."""
    sample = x[spread_positions(x.shape[0])]
    if (sample.min(axis=0) < sample.max(axis=0)).any():
        space = _space(sample)
        if not _has_dependent(space):
            return None
        if space is not None and not any(space.outside(x[rows]) for rows in row_blocks(x.shape[0])):
            return space
    space = _space(x)
    return space if _has_dependent(space) else None


def _space(x: Matrix) -> Subspace | None:
    return spanned_subspace(x, find_dependent=True, orthonormal=False)


def _has_dependent(space: Subspace | None) -> bool:
    return space is not None and (
        len(space.columns) + len(space.constant_columns) < space.origin.size
    )


def _kept_and_broken(
    x: Matrix, lattices: tuple[Lattice | None, ...], space: Subspace
) -> tuple[tuple[Sum, ...], tuple[tuple[int, ...], ...]]:
    """Return the sums to compute again, and the columns of relations that rounding breaks."""
    extent = x.max(axis=0) - x.min(axis=0)
    kept, broken = [], []
    for target, equation in _solved(_equations(space), extent, lattices):
        sources = tuple(int(k) for k in np.flatnonzero(equation) if k != target)
        if all(lattices[k] is None for k in (*sources, target)):
            continue  # nothing is rounded, so that the relation holds as it is
        if lattices[target] is None or _stays_on_lattice(equation, target, lattices):
            weights = tuple(_simple(-float(equation[k])) for k in sources)
            found = Sum(target, sources, weights, 0.0)
            sample = x[spread_positions(x.shape[0])]
            constant = float(np.median(sample[:, target] - found.of(sample)))
            kept.append(Sum(target, sources, weights, constant))
        else:
            broken.append(tuple(sorted((*sources, target))))
    return tuple(kept), tuple(broken)


def _equations(space: Subspace) -> Matrix:
    """Return one row of weights for each dependent column: weights times columns are constant."""
    size = space.origin.size
    dependent = sorted(set(range(size)) - set(space.columns) - set(space.constant_columns))
    equations = np.zeros((len(dependent), size))
    for row, j in enumerate(dependent):
        equations[row, list(space.columns)] = -space.spread[j]
        equations[row, j] = 1.0
    return equations


def _solved(
    equations: Matrix, extent: Vector, lattices: tuple[Lattice | None, ...]
) -> list[tuple[int, Vector]]:
    """Return each equation solved for a column of its own that no other equation holds.

    First choice is a column that stays on its lattice when the others are rounded.
    """
    equations, targets = equations.copy(), []
    for row in range(equations.shape[0]):
        _clear(equations, extent)
        candidates = [int(k) for k in np.flatnonzero(equations[row])]
        target = max(candidates, key=lambda k: _preference(equations[row], k, lattices))
        equations[row] /= equations[row, target]
        for other in range(equations.shape[0]):
            if other != row:
                equations[other] -= equations[other, target] * equations[row]
        equations[:, target] = 0.0
        equations[row, target] = 1.0
        targets.append(target)
    _clear(equations, extent)
    return list(zip(targets, equations, strict=True))


def _clear(equations: Matrix, extent: Vector) -> None:
    """Set to zero what is only rounding."""
    terms = np.abs(equations) * extent
    equations[terms <= _NO_WEIGHT * terms.max(axis=1, keepdims=True)] = 0.0


def _preference(
    equation: Vector, k: int, lattices: tuple[Lattice | None, ...]
) -> tuple[bool, bool, float, int]:
    lattice = lattices[k]
    if lattice is None:
        return True, True, 0.0, k
    return _stays_on_lattice(equation, k, lattices), False, -lattice.width, k


def _stays_on_lattice(equation: Vector, target: int, lattices: tuple[Lattice | None, ...]) -> bool:
    """Return whether the target is on its lattice whenever the others are on theirs."""
    own = lattices[target]
    assert own is not None
    for k in np.flatnonzero(equation):
        other = lattices[k]
        if other is None:
            return False
        steps = _simple(float(equation[k] / equation[target])) * (other.width / own.width)
        if abs(steps - round(steps)) > _WHOLE * max(abs(steps), 1.0) or round(steps) == 0:
            return False
    return True


def _simple(weight: float) -> float:
    """Return the simple fraction that a fitted weight stands for, or the weight itself."""
    near = float(Fraction(weight).limit_denominator(1000))
    return near if abs(near - weight) <= 1e-9 * abs(weight) else weight
