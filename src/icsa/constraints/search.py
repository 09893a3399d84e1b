"""Sets of columns that may satisfy a linear relation, and the rows to look for them in.

All pairs, all triples, and null vectors; each in rows in which its columns are present together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.constraints.fitting import median
from icsa.constraints.limits import LIMITS
from icsa.correlations import MAD_TO_DEVIATION, varies
from icsa.matrices import Matrix, Vector

__all__ = ["Block", "Suspicion", "blocks", "suspected_long", "suspected_pairs", "suspected_triples"]

Indices: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Some rows of a table, with those columns that are present together in many of them.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        At most 5,000 rows of all columns, NaN where missing.
    columns : ndarray of int
        Columns of `values` that have enough rows together.
    pivots : ndarray of int
        Those among them with the missing values that make up the block: every relation that is
        looked for here has one of them.
    complete : ndarray of int
        Rows in which all of `columns` are present.
    """

    values: Matrix
    columns: Indices
    pivots: Indices
    complete: Indices


def blocks(columns: Sequence[Vector], rng: np.random.Generator) -> Iterator[Block]:
    """Yield one block for each set of rows in which a column is missing, of most columns first.

    A derived column is missing wherever one of its parts is, so in the rows where it is present the
    parts are present too.

    Examples
    --------
    >>> a, b = np.arange(100.0), np.where(np.arange(100) < 10, np.nan, 1.0)
    >>> found = list(blocks([a, b, a], np.random.default_rng(1)))
    >>> [(block.pivots.tolist(), block.complete.size) for block in found]
    [([0, 2], 90), ([1], 90)]
    """
    patterns: dict[bytes, list[int]] = {}
    for position, column in enumerate(columns):
        patterns.setdefault(np.packbits(np.isnan(column)).tobytes(), []).append(position)
    most = LIMITS.block_rows if len(patterns) <= LIMITS.many_blocks else LIMITS.block_rows_of_many
    for pivots in sorted(patterns.values(), key=len, reverse=True):
        rows = np.flatnonzero(~np.isnan(columns[pivots[0]]))
        if rows.size > most:
            rows = np.sort(rng.choice(rows, most, replace=False))
        values = np.column_stack([column[rows] for column in columns])
        yield _block(values, pivots)


def _block(values: Matrix, pivots: list[int]) -> Block:
    """Return the block with as many columns as leave enough rows without missing values."""
    missing = np.isnan(values)
    counts = missing.sum(axis=0)
    counts[pivots] = -1
    together = ~missing[:, pivots[0]]
    least = min(LIMITS.block_least_rows, max(1, int(LIMITS.block_least_share * values.shape[0])))
    kept, failures = [], 0
    for position in np.argsort(counts, kind="stable"):
        if counts[position] <= 0:
            kept.append(position)
            continue
        narrower = together & ~missing[:, position]
        if np.count_nonzero(narrower) >= least:
            kept.append(position)
            together = narrower
        else:
            failures += 1
        if failures > LIMITS.block_failures:
            break
    return Block(
        values,
        np.sort(np.array(kept, dtype=np.intp)),
        np.array(pivots, dtype=np.intp),
        np.flatnonzero(together),
    )


def _row_sets(block: Block, rng: np.random.Generator) -> Iterator[Indices]:
    """Yield sets of complete rows: enough of them for small residuals, then small ones.

    Relations with wrong rows show in small sets.
    """
    n_rows, n_columns = block.complete.size, block.columns.size
    small = [LIMITS.small_set_rows] * 5 + [80] * (6 if n_columns <= 60 else 0)
    sizes = [min(n_rows, LIMITS.set_rows), *small]
    for place, size in enumerate(sizes):
        if place == 0 or size < n_rows:
            yield np.sort(rng.choice(block.complete, min(size, n_rows), replace=False))


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

    `steps` are those of the lattices, 0 for none; `rng` chooses the rows.
    """
    seen: set[tuple[int, ...]] = set()
    for rows in _row_sets(block, rng):
        space = _directions(block, rows, steps)
        left = 1.0 - space.products**2
        np.fill_diagonal(left, np.inf)
        pivots = np.isin(space.columns, block.pivots)
        left[~(pivots[:, None] | pivots)] = np.inf
        yield from _confirmed(block, steps, rows, [_small(left, space, [])], seen)


def suspected_triples(block: Block, steps: Vector, rng: np.random.Generator) -> Iterator[Suspicion]:
    """Yield triples of columns of which one is nearly a plane in the others.

    For each pivot the other columns are made orthogonal to it; a partial correlation of one is a
    triple. Every triple with a pivot is looked at once for each set of rows; none among very many
    columns.
    """
    if block.columns.size > LIMITS.most_in_triples:
        return
    seen: set[tuple[int, ...]] = set()
    for rows in _row_sets(block, rng):
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
    unusual = (values != np.partition(values, half, axis=0)[half]).sum(axis=0)
    varied = (unusual >= LIMITS.least_varied_rows) & varies(values)
    columns = block.columns[varied]
    centred = values[:, varied] - values[:, varied].mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    rounding = LIMITS.rounding_left * steps[columns] * np.sqrt(rows.size) / lengths
    allowed = np.clip(rounding, LIMITS.least_residual, LIMITS.most_residual) ** 2
    units = centred / lengths
    return _Directions(columns, units.T @ units, allowed)


def _small(left: Matrix, space: _Directions, pivot: list[int]) -> tuple[Vector, Indices]:
    """Return how little is left, and columns with the one that the others explain in front."""
    target, other = np.nonzero(left <= space.allowed[:, None])
    # Rounded, as exact ones differ by what the processor leaves, and their order must not.
    excess = (left[target, other] / space.allowed[target]).round(6)
    best = np.argsort(excess, kind="stable")[: LIMITS.most_suspicions]
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
    excess, suspected = map(np.concatenate, zip(*found, strict=True))
    for columns in suspected[np.argsort(excess, kind="stable")[: LIMITS.most_suspicions]]:
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
    check = block.complete[:: max(1, block.complete.size // LIMITS.checked_rows)]
    many = block.values[np.ix_(check, columns)] - centre
    rest = np.abs(many[:, 0] - (many[:, 1:] / scales[1:]) @ solution)
    spread = float(few[:, 0].std())
    rounding = LIMITS.rounding_left * steps[columns[0]]
    allowed = np.clip(rounding, LIMITS.least_residual * spread, LIMITS.most_residual * spread)
    return bool(np.count_nonzero(rest <= 3 * allowed) >= LIMITS.borne_out * rest.size)


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
    many = block.complete.size >= 3 * columns.size + 10
    limit = LIMITS.small_singular if many else LIMITS.zero_singular
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
            cutoff = 1e-6 if size < LIMITS.zero_singular else 0.03
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
    spread = MAD_TO_DEVIATION * np.median(np.abs(z), axis=0)
    near = np.all(np.abs(z) <= LIMITS.outlying * np.where(spread > 0, spread, np.inf), axis=1)
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
    exact = int(np.count_nonzero(values < LIMITS.zero_singular))
    if exact > place:
        return vectors[:, :exact], start, float(values[0])
    vector, kept, size = vectors[:, place], start, float(values[place])
    if size > 2 * LIMITS.small_singular:
        return vector[:, None], kept, size
    for _ in range(LIMITS.concentrations):
        residuals = z @ vector
        distances = np.abs(residuals - median(residuals[kept]))
        last = int(LIMITS.concentrated_share * (len(z) - 1))
        kept = np.flatnonzero(distances <= np.partition(distances, last)[last])
        values, vectors = _spectrum(z[kept])
        # A true relation comes out at once; what only shrinks a little is none.
        if float(values[0]) > LIMITS.shrinking * size:
            break
        vector, size = vectors[:, 0], float(values[0])
    exact = max(1, int(np.count_nonzero(values < LIMITS.zero_singular)))
    return vectors[:, :exact], kept, size


def _spectrum(z: Matrix) -> tuple[Vector, Matrix]:
    """Return singular values / sqrt(n) in increasing order, and the right vectors as columns."""
    centred = z - z.mean(axis=0)
    products = centred.T @ centred / len(z)
    # Columns that are constant in these rows would be relations of their own.
    constant = np.flatnonzero(np.diag(products) < LIMITS.zero_singular**2)
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
