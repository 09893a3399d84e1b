"""The search for a start from which the S-estimate's smallest determinant is reached."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from icsa.errors import ExactFitError, InputError
from icsa.matrices import Matrix, Vector
from icsa.scatters.ogk_estimate import deterministic_distances
from icsa.scatters.reweighting import NO_SPREAD, unit_factors
from icsa.scatters.univariate import bisquare_radii, bisquare_weights, tied_direction_error

__all__ = ["Candidates", "best_start"]

# After so many steps from all starts, so many candidates go on; and so on with these.
_ROUNDS = ((3, 50), (6, 15), (10, 6), (30, 2))

# Candidates whose squared radii agree to this are taken to be on the way to the same minimum.
_SAME = 1e-7

# The random starts of longer tables are first tried on this many rows.
_SCREENING_ROWS = 1000

# Candidates are stepped together, in blocks that hold about this many numbers.
_BLOCK_NUMBERS = 1 << 18

# Newton's method doubles the digits, so that radii found to this are right to its square.
_SEARCH_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Candidates:
    """Locations, lower triangular factors of determinant 1, and squared radii of no weight."""

    locations: Matrix  # (candidates, columns)
    factors: Matrix  # (candidates, columns, columns)
    radii: Vector  # (candidates,), what the search lowers; infinite before the first step

    def best(self, number: int) -> Candidates:
        """Return the candidates with the smallest radii, one a minimum."""
        order = np.argsort(self.radii, kind="stable")
        order = order[np.isfinite(self.radii[order])]
        gaps = np.diff(self.radii[order], prepend=0.0)
        return self.take(order[gaps > _SAME * self.radii[order]][:number])

    def take(self, which: slice | npt.NDArray[np.intp]) -> Candidates:
        """Return some of the candidates."""
        return Candidates(self.locations[which], self.factors[which], self.radii[which])


def best_start(
    unit: Matrix, breakdown: float, n_starts: int, generator: np.random.Generator
) -> Candidates:
    """Return the candidate from which the smallest radius is expected."""
    screen = unit
    if unit.shape[0] > _SCREENING_ROWS:
        screen = unit[np.sort(generator.choice(unit.shape[0], _SCREENING_ROWS, replace=False))]
    (steps, keep), *later = _ROUNDS
    drawn = _from_subsets(_random_subsets(screen, n_starts, generator), unit.shape[1])
    fixed = _from_subsets(_central_halves(unit), unit.shape[1])
    drawn = _stepped(screen, drawn, breakdown, steps, unit).best(keep)
    fixed = _stepped(unit, fixed, breakdown, steps, unit)
    found = _joined(drawn, fixed)
    for steps, keep in later:
        found = _stepped(unit, found, breakdown, steps, unit).best(keep)
    if not found.radii.size:
        raise InputError(
            f"s found no start of full rank in {n_starts} random ones: too many rows are equal. "
            "Use more starts (n_starts), or drop columns that take few values."
        )
    return found.best(1)


def _random_subsets(rows: Matrix, number: int, generator: np.random.Generator) -> Iterator[Matrix]:
    for _ in range(number):
        yield rows[generator.choice(rows.shape[0], rows.shape[1] + 1, replace=False)]


def _central_halves(unit: Matrix) -> Iterator[Matrix]:
    """Yield the half of the rows nearest the centre of each deterministic start."""
    half = (unit.shape[0] + 1) // 2
    try:
        for distances in deterministic_distances(unit):
            yield unit[np.argsort(distances, kind="stable")[:half]]
    except ExactFitError:
        return  # more than half, but fewer than n (1 - breakdown) rows tie: random starts remain


def _from_subsets(subsets: Iterable[Matrix], n_columns: int) -> Candidates:
    """Return mean and covariance of each subset; those that do not span the space are left out."""
    locations, factors = [], []
    for subset in subsets:
        mean = subset.mean(axis=0)
        upper = np.linalg.qr(subset - mean)[1]
        pivots = np.diagonal(upper)
        size = np.abs(pivots)
        if size.min() > NO_SPREAD * size.max():
            locations.append(mean)
            factors.append(upper.T * (np.sign(pivots) / math.exp(float(np.mean(np.log(size))))))
    number = len(locations)
    return Candidates(
        np.array(locations).reshape(number, n_columns),
        np.array(factors).reshape(number, n_columns, n_columns),
        np.full(number, np.inf),
    )


def _joined(one: Candidates, other: Candidates) -> Candidates:
    return Candidates(
        np.concatenate([one.locations, other.locations]),
        np.concatenate([one.factors, other.factors]),
        np.concatenate([one.radii, other.radii]),
    )


def _stepped(
    rows: Matrix, candidates: Candidates, breakdown: float, steps: int, table: Matrix
) -> Candidates:
    """Return the candidates after some reweighting steps on rows of the table, block by block."""
    size = max(1, _BLOCK_NUMBERS // rows.size)
    done = candidates.take(slice(0, 0))
    for first in range(0, candidates.radii.size, size):
        block = candidates.take(slice(first, first + size))
        done = _joined(done, _stepped_block(rows, block, breakdown, steps, table))
    return done


def _stepped_block(
    rows: Matrix, block: Candidates, breakdown: float, steps: int, table: Matrix
) -> Candidates:
    """Return the block after some steps; radii are those of the last but one step's metric."""
    locations, factors, radii = block.locations, block.factors, block.radii
    for _ in range(steps):
        white = (rows - locations[:, None]) @ np.linalg.inv(factors).transpose(0, 2, 1)
        squared = np.einsum("bij,bij->bi", white, white)
        guess = radii if np.isfinite(radii).all() else None
        radii = bisquare_radii(squared, breakdown, guess, _SEARCH_TOLERANCE)
        weights = bisquare_weights(squared, radii[:, None])
        weights /= weights.sum(axis=1, keepdims=True)
        shifts = np.einsum("bi,bij->bj", weights, white)
        white -= shifts[:, None]
        changes = unit_factors((white * weights[:, :, None]).transpose(0, 2, 1) @ white)
        locations = locations + np.einsum("bij,bj->bi", factors, shifts)
        factors = factors @ changes
        full = np.isfinite(changes[:, 0, 0])
        for lost in np.flatnonzero(~full):
            _reject_hyperplane(rows[weights[lost] > 0], table, breakdown)
        locations, factors, radii = locations[full], factors[full], radii[full]
    return Candidates(locations, factors, radii)


def _reject_hyperplane(weighted: Matrix, table: Matrix, breakdown: float) -> None:
    """Raise when the hyperplane nearest the rows of weight really holds too much of the table."""
    normal = eigh(np.atleast_2d(np.cov(weighted, rowvar=False)))[1][:, 0]
    allowed = math.ceil(table.shape[0] * (1.0 - breakdown)) - 1
    error = tied_direction_error("s", table, normal, allowed=allowed)
    if error.rows_on_it > allowed:
        raise error
