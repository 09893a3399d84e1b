"""Sets of columns that may satisfy a linear relation: all pairs, all triples, and null vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.constraints.blocks import Block, Indices, row_sets
from icsa.constraints.medians import median
from icsa.correlations import varies
from icsa.matrices import Matrix, Vector

__all__ = ["Suspicion", "suspected_long", "suspected_pairs", "suspected_triples"]

# What is left of a column, relative to its spread, when rounding explains it.
_ROUNDING = 0.45
_LEAST_RESIDUAL = 1e-4
_MOST_RESIDUAL = 0.15
_LEAST_VARIED_ROWS = 5
_MOST_SUSPICIONS = 1_000
_CHECKED_ROWS = 500
_BORNE_OUT = 0.95
# Singular value / sqrt(n) of standardised columns: rounded .004, 1% wrong rows .028, none .39.
_SMALL_SINGULAR = 0.2
# Cross-products are exact to 1e-16, their roots to 1e-8 times the largest.
_ZERO = 1e-6
_CONCENTRATIONS = 6
_SHRINKING = 0.9
_KEPT = 0.95
_OUTLYING = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class Suspicion:
    """Columns that seem to satisfy a relation in some rows of a block.

    Attributes
    ----------
    columns : tuple of int
        Positions in the block's values, sorted.
    rows : ndarray of int
        Rows of the block in which they do.
    """

    columns: tuple[int, ...]
    rows: Indices


@dataclass(frozen=True, eq=False, repr=False)
class _Directions:
    """Columns of some rows as vectors: products of all, and the squared length that may be left."""

    columns: Indices
    products: Matrix
    allowed: Vector


def suspected_pairs(block: Block, steps: Vector, rng: np.random.Generator) -> Iterator[Suspicion]:
    """Yield pairs of columns of which one is nearly a line in the other.

    Parameters
    ----------
    block : Block
    steps : ndarray
        Lattice step of each column, 0 for none.
    rng : Generator
        Chooses the rows.
    """
    seen: set[tuple[int, ...]] = set()
    for rows in row_sets(block, rng):
        space = _directions(block, rows, steps)
        left = 1.0 - space.products**2
        np.fill_diagonal(left, np.inf)
        pivots = np.isin(space.columns, block.pivots)
        left[~(pivots[:, None] | pivots)] = np.inf
        yield from _confirmed(block, steps, rows, [_small(left, space, [])], seen)


def suspected_triples(block: Block, steps: Vector, rng: np.random.Generator) -> Iterator[Suspicion]:
    """Yield triples of columns of which one is nearly a plane in the others.

    For each pivot the other columns are made orthogonal to it; a partial correlation of one is a
    triple. Every triple with a pivot is looked at once for each set of rows.
    """
    seen: set[tuple[int, ...]] = set()
    for rows in row_sets(block, rng):
        space = _directions(block, rows, steps)
        pivots = np.isin(space.columns, block.pivots)
        places = np.arange(space.columns.size)
        found = []
        for pivot in places[pivots][::-1]:
            # A pivot that had its turn has been looked at with all others.
            others = (places != pivot) & ~(pivots & (places > pivot))
            narrowed, left = _beside(space, int(pivot), others)
            if np.any(left <= narrowed.allowed[:, None]):
                found.append(_small(left, narrowed, [int(space.columns[pivot])]))
        yield from _confirmed(block, steps, rows, found, seen)


def _beside(
    space: _Directions, pivot: int, others: npt.NDArray[np.bool_]
) -> tuple[_Directions, Matrix]:
    """Return other columns made orthogonal to a pivot, and what each leaves of each."""
    shares = space.products[pivot]
    free = others & (1.0 - shares**2 > np.maximum(4 * space.allowed, 1e-8))
    shares = shares[free]
    products = space.products[np.ix_(free, free)] - np.outer(shares, shares)
    lengths = 1.0 - shares**2
    left = lengths[:, None] - products**2 / lengths
    np.fill_diagonal(left, np.inf)
    return _Directions(space.columns[free], products, space.allowed[free]), left


def _directions(block: Block, rows: Indices, steps: Vector) -> _Directions:
    values = block.values[np.ix_(rows, block.columns)]
    half = rows.size // 2
    varied = (values != np.partition(values, half, axis=0)[half]).sum(axis=0) >= _LEAST_VARIED_ROWS
    varied &= varies(values)
    columns = block.columns[varied]
    centred = values[:, varied] - values[:, varied].mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    rounding = _ROUNDING * steps[columns] * np.sqrt(rows.size) / lengths
    allowed = np.clip(rounding, _LEAST_RESIDUAL, _MOST_RESIDUAL) ** 2
    units = centred / lengths
    return _Directions(columns, units.T @ units, allowed)


def _small(left: Matrix, space: _Directions, pivot: list[int]) -> tuple[Vector, Indices]:
    """Return how little is left, and columns with the one that the others explain in front."""
    target, other = np.nonzero(left <= space.allowed[:, None])
    # Rounded, as exact ones differ by what the processor leaves, and their order must not.
    excess = (left[target, other] / space.allowed[target]).round(6)
    best = np.argsort(excess, kind="stable")[:_MOST_SUSPICIONS]
    columns = np.column_stack(
        [space.columns[target[best]], space.columns[other[best]]]
        + [np.full(best.size, name) for name in pivot]
    )
    return excess[best], columns


def _confirmed(
    block: Block,
    steps: Vector,
    rows: Indices,
    found: list[tuple[Vector, Indices]],
    seen: set[tuple[int, ...]],
) -> Iterator[Suspicion]:
    """Yield the closest of what was found that other rows bear out, each set of columns once."""
    if not found:
        return
    order = np.argsort(np.concatenate([excess for excess, _ in found]), kind="stable")
    for columns in np.concatenate([columns for _, columns in found])[order[:_MOST_SUSPICIONS]]:
        names = tuple(sorted(int(column) for column in columns))
        if names not in seen:
            seen.add(names)
            if _holds_elsewhere(block, steps, rows, columns):
                yield Suspicion(names, rows)


def _holds_elsewhere(block: Block, steps: Vector, rows: Indices, columns: Indices) -> bool:
    """Return whether nearly all rows are as close to the relation as those that it came from."""
    few = block.values[np.ix_(rows, columns)]
    centre = few.mean(axis=0)
    few = few - centre
    scales = np.abs(few).max(axis=0)
    solution = np.linalg.lstsq(few[:, 1:] / scales[1:], few[:, 0], rcond=1e-10)[0]
    check = block.complete[:: max(1, block.complete.size // _CHECKED_ROWS)]
    many = block.values[np.ix_(check, columns)] - centre
    rest = np.abs(many[:, 0] - (many[:, 1:] / scales[1:]) @ solution)
    spread = float(few[:, 0].std())
    allowed = np.clip(_ROUNDING * steps[columns[0]], _LEAST_RESIDUAL * spread, 0.15 * spread)
    return bool(np.count_nonzero(rest <= 3 * allowed) >= _BORNE_OUT * rest.size)


def suspected_long(block: Block, rng: np.random.Generator) -> Iterator[list[Suspicion]]:
    """Yield sets of any size, those of one null space of the standardised columns together.

    Starts from all rows, from rows without far cells, and (up to 40 columns) from small sets of
    rows; each nearly singular direction is then fitted to the rows that it suits best, as in the
    concentration steps of least trimmed squares, so that wrong rows have no say.
    """
    values = block.values[np.ix_(block.complete, block.columns)]
    middles = np.median(values, axis=0)
    scales = values.std(axis=0)
    varied = varies(values)
    columns = block.columns[varied]
    if columns.size < 2 or block.complete.size < 1.2 * columns.size + 10:
        return
    # With fewer rows chance makes nearly singular directions, but no singular ones.
    limit = _SMALL_SINGULAR if block.complete.size >= 3 * columns.size + 10 else _ZERO
    z = (values[:, varied] - middles[varied]) / scales[varied]
    seen: set[tuple[int, ...]] = set()
    widest = 0
    for start in _starts(z, rng):
        most = 6 if columns.size <= 100 else 2
        spectrum = _spectrum(z[start])
        for place in range(min(most, columns.size)):
            directions, kept, size = _concentrated(z, start, spectrum, place)
            if size > limit:
                break
            cutoff = 1e-6 if size < _ZERO else 0.03
            # The same space again would give the same vectors.
            if 1 < directions.shape[1] <= widest:
                continue
            widest = max(widest, directions.shape[1])
            together = []
            for vector in _sparse(directions):
                support = np.flatnonzero(np.abs(vector) > cutoff * np.abs(vector).max())
                names = tuple(int(name) for name in columns[support])
                if len(names) > 1 and names not in seen:
                    seen.add(names)
                    together.append(Suspicion(names, block.complete[kept]))
            yield together


def _starts(z: Matrix, rng: np.random.Generator) -> Iterator[Indices]:
    n_rows, n_columns = z.shape
    everything = np.arange(n_rows)
    yield everything
    spread = 1.4826 * np.median(np.abs(z), axis=0)
    near = np.all(np.abs(z) <= _OUTLYING * np.where(spread > 0, spread, np.inf), axis=1)
    if 0.8 * n_rows <= near.sum() < n_rows:
        yield np.flatnonzero(near)
    size = int(2.5 * n_columns) + 10
    for _ in range(12 if n_columns <= 40 and size < n_rows // 2 else 0):
        yield np.sort(rng.choice(everything, size, replace=False))


def _concentrated(
    z: Matrix, start: Indices, spectrum: tuple[Vector, Matrix], place: int
) -> tuple[Matrix, Indices, float]:
    """Return null directions, the rows that they suit, and the singular value of the first.

    `spectrum` is that of the rows to start from; the direction at `place` is taken.
    """
    values, vectors = spectrum
    # More than one direction of length zero: a space, of which no single vector is meant.
    exact = int(np.count_nonzero(values < _ZERO))
    if exact > place:
        return vectors[:, :exact], start, float(values[0])
    vector, kept, size = vectors[:, place], start, float(values[place])
    if size > 2 * _SMALL_SINGULAR:
        return vector[:, None], kept, size
    for _ in range(_CONCENTRATIONS):
        residuals = z @ vector
        distances = np.abs(residuals - median(residuals[kept]))
        last = int(_KEPT * (len(z) - 1))
        kept = np.flatnonzero(distances <= np.partition(distances, last)[last])
        values, vectors = _spectrum(z[kept])
        # A true relation comes out at once; what only shrinks a little is none.
        if float(values[0]) > _SHRINKING * size:
            break
        vector, size = vectors[:, 0], float(values[0])
    exact = max(1, int(np.count_nonzero(values < _ZERO)))
    return vectors[:, :exact], kept, size


def _spectrum(z: Matrix) -> tuple[Vector, Matrix]:
    """Return singular values / sqrt(n) in increasing order, and the right vectors as columns."""
    centred = z - z.mean(axis=0)
    products = centred.T @ centred / len(z)
    # Columns that are constant in these rows would be relations of their own.
    constant = np.flatnonzero(np.diag(products) < _ZERO**2)
    products[constant, constant] = 1.0
    values, vectors = np.linalg.eigh(products)
    return np.sqrt(np.maximum(values, 0.0)), vectors


def _sparse(directions: Matrix) -> Iterator[Vector]:
    """Yield vectors of the span with few entries: of least absolute sum, one entry set to 1."""
    if directions.shape[1] == 1:
        yield directions[:, 0]
        return
    from scipy.optimize import linprog

    n_columns, n_directions = directions.shape
    weight = np.linalg.norm(directions, axis=1)
    for column in np.flatnonzero(weight > 1e-6)[:100]:
        above = np.hstack([directions, -np.eye(n_columns)])
        below = np.hstack([-directions, -np.eye(n_columns)])
        solution = linprog(
            np.concatenate([np.zeros(n_directions), np.ones(n_columns)]),
            A_ub=np.vstack([above, below]),
            b_ub=np.zeros(2 * n_columns),
            A_eq=np.append(directions[column], np.zeros(n_columns))[None, :],
            b_eq=np.ones(1),
            bounds=[(None, None)] * n_directions + [(0, None)] * n_columns,
        )
        if solution.x is not None:
            yield directions @ solution.x[:n_directions]
