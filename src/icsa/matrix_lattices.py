"""Lattices of the columns of a matrix, which has forgotten their types and may be scaled."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from icsa.lattice import Lattice, find_lattice, spread_positions
from icsa.matrices import Matrix, Vector, row_blocks

__all__ = ["lattice_of_cells", "lattices_of_columns"]

# Narrower types of floats, with the rounding error of their numbers.
_NARROW = ((np.float32, 2.0**-24), (np.float16, 2.0**-11))
# Grids of any step are believed up to so many points within the size of the numbers, and where
# each cell is as near to its point as this, in steps.
_MOST_POINTS = 1e6
_NEAR = 1e-4


def lattices_of_columns(x: Matrix) -> tuple[Lattice | None, ...]:
    """Return each column's lattice; None for constant columns and those of real numbers.

    A few thousand rows tell which lattices there can be, and one pass over all whether they hold.

    Examples
    --------
    >>> x = np.array([[1.5, 0.1234567890123, 7], [2.0, 3.1415926535898, 7], [9.5, 2.71828182, 7]])
    >>> [None if lattice is None else lattice.width for lattice in lattices_of_columns(x)]
    [0.5, None, None]
    """
    sample = np.asfortranarray(x[spread_positions(x.shape[0])])
    found = [lattice_of_cells(column) for column in sample.T]
    doubtful = {j for j, column in enumerate(sample.T) if (column == column[0]).all()}
    if sample.shape[0] < x.shape[0]:
        tolerances = [_rounding_error(column) for column in sample.T]
        for rows in row_blocks(x.shape[0]):
            for j in set(range(x.shape[1])) - doubtful:
                lattice = found[j]
                if lattice is not None and not _all_on(lattice, x[rows, j], tolerances[j]):
                    doubtful.add(j)
        for j in doubtful:
            found[j] = lattice_of_cells(np.ascontiguousarray(x[:, j]))
    return tuple(found)


def lattice_of_cells(numbers: Vector) -> Lattice | None:
    """Return the lattice that numbers lie on; None where there is none, or they are all the same.

    Decimal lattices are looked for first, in narrower types too where all numbers fit them; then
    grids of any step and offset, as whole numbers have after they were standardised.

    Examples
    --------
    >>> lattice_of_cells(np.array([0.1, 0.5, 0.2], dtype=np.float32).astype(float)).width
    0.1
    >>> ages = np.array([31.0, 45.0, 46.0, 52.0, 71.0, 90.0])
    >>> lattice_of_cells((ages - ages.mean()) / 8.0).width
    0.125
    """
    if (numbers == numbers[0]).all():
        return None
    found = find_lattice(numbers)
    for narrow, precision in _NARROW:
        if found is not None or not _fits(numbers, narrow):
            break
        found = find_lattice(numbers, precision=precision)
    return _grid_of_any_step(numbers) if found is None else found


def _fits(numbers: Vector, narrow: type[np.floating]) -> bool:
    with np.errstate(over="ignore"):
        return bool((numbers == numbers.astype(narrow)).all())


def _rounding_error(numbers: Vector) -> float:
    errors = [precision for narrow, precision in _NARROW if _fits(numbers, narrow)]
    return max(errors, default=2.0**-53)


def _all_on(lattice: Lattice, numbers: Vector, rounding_error: float) -> bool:
    """Return whether all numbers are on a lattice, as far as their rounding error tells."""
    numbers = np.ascontiguousarray(numbers)
    off = float(np.abs(lattice.round(numbers) - numbers).max())
    size = float(np.abs(numbers).max())
    return off <= min(
        4.0 * rounding_error * size + 10.0 * _NEAR * lattice.width, 0.1 * lattice.width
    )


def _grid_of_any_step(numbers: Vector) -> Lattice | None:
    """Return the grid of which every distance between numbers is a multiple, None for none."""
    distinct = np.unique(numbers[spread_positions(numbers.size)])
    # Two or three numbers without company are on some grid by chance.
    if distinct.size < 4 and numbers.size < 2 * distinct.size:
        return None
    smallest = max(float(np.abs(distinct).max()) / _MOST_POINTS, 1e-200)
    step = _common_measure(np.diff(distinct), smallest)
    if step is None:
        return None
    first, extent = float(distinct[0]), float(distinct[-1] - distinct[0])
    step = extent / round(extent / step)
    for rows in row_blocks(numbers.size):
        positions = (numbers[rows] - first) / step
        if np.abs(positions - np.rint(positions)).max() > 10.0 * _NEAR:
            return None
    return Lattice(Fraction(step), Fraction(first))


def _common_measure(distances: Vector, smallest: float) -> float | None:
    """Return the largest number of which all distances are multiples; None below `smallest`."""
    measure = float(distances.min())
    for distance in distances.tolist():
        left = distance
        while abs(left) > _NEAR * measure:
            if measure < smallest:
                return None
            left -= measure * round(left / measure)
            if abs(left) > _NEAR * measure:
                measure, left = abs(left), measure
    return measure if measure >= smallest else None
