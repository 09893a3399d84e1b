"""Lattices: the grid that a column's cells lie on, such as whole numbers, eighths or cents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks

__all__ = [
    "Lattice",
    "find_lattice",
    "lattice_of",
    "lattice_of_cells",
    "lattice_step",
    "lattices_of_columns",
    "spread_positions",
]

_DIGITS = 12
# A few cells may be off the grid, as one weight in grams among hundreds in kilograms.
_SHARE = 0.995
_SAMPLE = 4096
# Grids that cells would share by chance more often than this are not believed.
_CHANCE = 0.05
_EXACT = 2.0**52
# Narrower types of floats, with the rounding error of their numbers.
_NARROW = ((np.float32, 2.0**-24), (np.float16, 2.0**-11))
# Grids of any step are believed up to so many points within the size of the numbers, and where
# each cell is as near to its point as this, in steps.
_MOST_POINTS = 1e6
_NEAR = 1e-4
# The step of repeated cells is looked for in so many of them, each as near to it as this, in steps.
_CELLS_FOR_STEP, _ON_LATTICE = 10_000, 1e-3


@dataclass(frozen=True)
class Lattice:
    """The numbers offset + step * k, for integers k.

    Examples
    --------
    >>> Lattice(Fraction(1, 4)).round(np.array([0.1, 0.3, 70.9]))
    array([ 0.  ,  0.25, 71.  ])
    """

    step: Fraction
    offset: Fraction = Fraction(0)

    @property
    def width(self) -> float:
        """The step as a float."""
        return float(self.step)

    def round(self, numbers: Vector) -> Vector:
        """Return the nearest points; numbers too large for the step to matter stay."""
        small = np.abs(numbers) < _EXACT * self.width
        return np.where(small, self._points(np.rint(self._positions(numbers))), numbers)

    def next_to(self, bounds: Vector, operator: str) -> Vector:
        """Return the nearest point to each bound that is `<=`, `<`, `>=` or `>` that bound.

        Examples
        --------
        >>> Lattice(Fraction(7), Fraction(3)).next_to(np.array([10.0, 12.0]), "<")
        array([ 3., 10.])
        """
        points = self.round(bounds)
        keeps = {"<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater}
        away = 1.0 if operator.startswith(">") else -1.0
        beyond = self._points(np.rint(self._positions(bounds)) + away)
        return np.where(keeps[operator](points, bounds), points, beyond)

    def above(self, number: float) -> float:
        """Return the smallest point that is larger than a number."""
        return float(self.offset + self.step * (math.floor(self._exactly(number)) + 1))

    def below(self, number: float) -> float:
        """Return the largest point that is smaller than a number."""
        return float(self.offset + self.step * (math.ceil(self._exactly(number)) - 1))

    def at_least(self, number: float) -> float:
        """Return the smallest point that is not smaller than a number."""
        return float(self.offset + self.step * math.ceil(self._exactly(number)))

    def at_most(self, number: float) -> float:
        """Return the largest point that is not larger than a number."""
        return float(self.offset + self.step * math.floor(self._exactly(number)))

    def _exactly(self, number: float) -> Fraction:
        # The shortest decimal that stands for the float: .1 is the tenth that was meant.
        return (Fraction(repr(float(number))) - self.offset) / self.step

    def _positions(self, numbers: Vector) -> Vector:
        return (numbers - float(self.offset)) / self.width

    def _points(self, positions: Vector) -> Vector:
        # One division of whole numbers, so that 35 cents are the float that .35 is read as.
        denominator = math.lcm(self.step.denominator, self.offset.denominator)
        step, offset = float(self.step * denominator), float(self.offset * denominator)
        with np.errstate(over="ignore", invalid="ignore"):
            return (positions * step + offset) / denominator


def find_lattice(numbers: Vector, *, precision: float = 2.0**-53) -> Lattice | None:
    """Return the coarsest believable decimal lattice of numbers, None where there is none.

    Steps finer than one divide a power of ten (.5, .25, .125, .2, .01 ...) and hold for at least
    99.5% of the numbers; whole and coarser steps, and lattices that do not contain zero, hold for
    all of them. A coarser step is believed only if the distinct values would lie on it by chance in
    at most 5% of the cases.

    Parameters
    ----------
    numbers : Vector
        Finite, in any order.
    precision : float
        Relative rounding error of the column's type.

    Examples
    --------
    >>> find_lattice(np.array([60.25, 61.0, 61.5, 70.75])).width
    0.25
    >>> find_lattice(np.array([0.1234567890123456, 1.0, 3.141592653589793])) is None
    True
    """
    digits, on_grid = _fewest_digits(numbers, precision)
    if digits is None:
        return None
    units = _units(numbers if on_grid.all() else numbers[on_grid], digits)
    distinct = int(np.unique(_evenly_among(units, units != 0)).size)
    base = 10**digits
    divisor = _largest_divisor(units, base, distinct)
    if not on_grid.all():
        return Lattice(Fraction(divisor, base))
    common = _common_divisor(units)
    if common > divisor and (divisor / common) ** (distinct - 1) <= _CHANCE:
        divisor = common
    shifted = _common_divisor(units, units[0])
    if shifted > divisor and (divisor / shifted) ** max(distinct - 2, 0) <= _CHANCE:
        return Lattice(Fraction(shifted, base), Fraction(int(units[0]) % shifted, base))
    return Lattice(Fraction(divisor, base))


def lattice_of(step: float, name: str = "") -> Lattice:
    """Return the multiples of a declared step, which means the decimal fraction that it shows.

    Examples
    --------
    >>> lattice_of(0.1).step
    Fraction(1, 10)
    """
    if not (math.isfinite(step) and step > 0.0):
        raise InputError(f"Column {name!r}: a step is a positive number: got {step}.")
    return Lattice(Fraction(repr(float(step))))


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


def lattice_step(values: Vector) -> float:
    """Return the step of the lattice that all values lie on, or 0 where there is none.

    The step is the smallest distance between two different values, if every other distance is a
    multiple of it; whatever it is, decimal or not, and without asking how likely it is by chance.
    Columns without equal cells have none. NaN does not count.

    Examples
    --------
    >>> lattice_step(np.array([1.25, 1.5, 1.25, 7.5]))
    0.25
    >>> lattice_step(np.array([0.1, 0.7354, 2.71828, 0.1]))
    0.0
    """
    cells = values[~np.isnan(values)]
    cells = cells[:: max(1, -(-cells.size // _CELLS_FOR_STEP))]
    distinct = np.unique(cells)
    if distinct.size < 2 or distinct.size == cells.size:
        return 0.0
    gaps = np.diff(distinct)
    smallest = float(gaps.min())
    if smallest <= 1e-12 * float(np.abs(distinct).max()):
        return 0.0
    steps = gaps / smallest
    off = np.abs(steps - np.rint(steps))
    # Decimals are not exact in binary, and the error of the smallest gap grows with the count.
    return smallest if bool(np.all(off <= np.minimum(_ON_LATTICE * steps, 0.05))) else 0.0


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


def spread_positions(size: int) -> npt.NDArray[np.intp]:
    """Return about 4,096 positions of `size`, one in each of as many equal parts, ends included.

    The place within a part is irregular but always the same, so that no pattern in the order of
    cells can hide from it.

    Examples
    --------
    >>> spread_positions(3)
    array([0, 1, 2])
    """
    if size <= _SAMPLE:
        return np.arange(size)
    places = (np.arange(_SAMPLE) + np.random.default_rng(0).random(_SAMPLE)) * (size / _SAMPLE)
    places[0], places[-1] = 0, size - 1
    return np.minimum(places.astype(np.intp), size - 1)


def _evenly(cells: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return about `_SAMPLE` of the cells from all over the column."""
    return cells if cells.size <= _SAMPLE else cells[spread_positions(cells.size)]


def _evenly_among(
    cells: npt.NDArray[np.generic], flags: npt.NDArray[np.bool_]
) -> npt.NDArray[np.generic]:
    """Return about `_SAMPLE` of the cells with a flag, as `_evenly` does, without copying them."""
    blocks = list(row_blocks(cells.size))
    ends = np.cumsum([np.count_nonzero(flags[rows]) for rows in blocks])
    size = int(ends[-1]) if blocks else 0
    if size == cells.size:
        return _evenly(cells)
    if size <= _SAMPLE:
        return cells[flags]
    wanted = spread_positions(size)
    found = np.empty(wanted.size, dtype=cells.dtype)
    within = np.searchsorted(ends, wanted, side="right")
    for number in np.unique(within):
        mine, rows = within == number, blocks[number]
        first = int(ends[number - 1]) if number else 0
        found[mine] = cells[rows][np.flatnonzero(flags[rows])[wanted[mine] - first]]
    return found


def _fewest_digits(numbers: Vector, precision: float) -> tuple[int | None, npt.NDArray[np.bool_]]:
    """Return the number of decimals that nearly all numbers have at most, and which have."""
    # Zero is on every grid, so that it tells nothing.
    telling = numbers != 0.0
    n_telling = int(np.count_nonzero(telling))
    sample = np.asarray(_evenly_among(numbers, telling), dtype=np.float64)
    for digits in range(_DIGITS + 1) if n_telling else ():
        if _on_grid(sample, digits, precision).mean() < _SHARE - 0.005:
            continue
        found = _on_grid(numbers, digits, precision)
        n_found = int(np.count_nonzero(found)) - (numbers.size - n_telling)
        if n_found / n_telling >= _SHARE:
            return digits, found
    return None, np.zeros(numbers.size, dtype=bool)


def _on_grid(numbers: Vector, digits: int, precision: float) -> npt.NDArray[np.bool_]:
    """Return which numbers are multiples of 10^-digits, as far as their precision tells."""
    found = np.empty(numbers.size, dtype=bool)
    for rows in row_blocks(numbers.size):  # what is needed between stays in the cache
        found[rows] = _block_on_grid(numbers[rows], digits, precision)
    return found


def _block_on_grid(numbers: Vector, digits: int, precision: float) -> npt.NDArray[np.bool_]:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * 10.0**digits
        nearest = np.rint(scaled)
        error = 2.0 * precision * np.abs(scaled) if digits else 0.0
        telling = (error < 0.1) & (np.abs(scaled) < _EXACT)
        near = np.abs(scaled - nearest) <= error + 1e-9
    # A number is not on the grid just because it is tiny.
    found: npt.NDArray[np.bool_] = telling & near & ((nearest != 0.0) | (numbers == 0.0))
    return found


def _largest_divisor(units: npt.NDArray[np.int64], base: int, distinct: int) -> int:
    """Return the largest divisor of `base` that nearly all units are multiples of."""
    digits = len(str(base)) - 1
    divisors = {2**i * 5**j for i in range(digits + 1) for j in range(digits + 1)}
    sample = _evenly(units)
    for divisor in sorted(divisors - {1}, reverse=True):
        if (1.0 / divisor) ** distinct > _CHANCE:
            continue
        if _share_of_multiples(sample, divisor) < _SHARE - 0.005:
            continue
        if _share_of_multiples(units, divisor) >= _SHARE:
            return int(divisor)
    return 1


def _share_of_multiples(units: npt.NDArray[np.generic], divisor: int) -> float:
    whole = np.asarray(units, dtype=np.int64)
    return int(np.count_nonzero(whole % divisor == 0)) / whole.size


def _common_divisor(units: npt.NDArray[np.int64], origin: int = 0) -> int:
    """Return the greatest common divisor of what units have beyond one of them.

    Of a sample first, as most tables decide there.
    """
    common = int(np.gcd.reduce(np.asarray(_evenly(units), dtype=np.int64) - origin))
    if common <= 1 or units.size <= _SAMPLE:
        return common
    return int(np.gcd.reduce(np.append(np.unique((units - origin) % common), common)))


def _units(numbers: Vector, digits: int) -> npt.NDArray[np.int64]:
    """Return numbers as multiples of 10^-digits."""
    found = np.empty(numbers.size, dtype=np.int64)
    for rows in row_blocks(numbers.size):  # what is needed between stays in the cache
        found[rows] = np.rint(numbers[rows] * 10.0**digits)
    return found
