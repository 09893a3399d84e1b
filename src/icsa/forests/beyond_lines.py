"""What curves explain of a column beyond lines: squares, products, and a forest out of bag."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from icsa.forests.forest_kernels import Codes
from icsa.forests.growing import Targets, binned, cut_points, grown_forest
from icsa.forests.laws import middle_and_unit
from icsa.matrices import Matrix, Vector
from icsa.randomness import as_key

__all__ = ["ROWS_LOOKED_AT", "STRONG", "curved_shares", "rows_to_look_at"]

# Shares from here on are strong. Tables without curves, heavy tails included, had .014 at most;
# with .03 more of a wage equation was lost than its standard error many times.
STRONG = 0.03

# Rows that lines, squares and products are fitted to, and those of them that a forest is grown on;
# with so few trees all columns of a table take a tenth of the time of a release or less.
ROWS_LOOKED_AT = 1000
_FOREST_ROWS = 400
_TREES = 4
_FEWEST_ROWS = 100
_LEAF = 25
# Columns whose products are looked at, at most; of more, squares alone: products are as many as
# pairs, and a forest sees some of them.
_MOST_IN_PRODUCTS = 60
# Robust standard deviations from the middle that scores count as at most: nobody far out decides.
_REACH = 3.0
_RIDGE = 1e-3
# Rows for each square that are fitted together; with fewer their errors are not known.
_ROWS_A_SQUARE = 40
# Standard errors above what chance gives: a table has many columns.
_BEYOND_CHANCE = 4.0


def rows_to_look_at(n_rows: int, most: int) -> npt.NDArray[np.int64]:
    """Return so many rows at most, always the same, in a random order.

    Examples
    --------
    >>> rows_to_look_at(1_000, 3)
    array([ 93, 176, 441])
    """
    words = as_key(0).stream("rows to look at").words(n_rows)
    rows = np.arange(n_rows) if n_rows <= most else np.argpartition(words, most)[:most]
    return rows[np.argsort(words[rows], kind="stable")]


def curved_shares(
    scores: Matrix, undefined: npt.NDArray[np.bool_], blocks: Sequence[range]
) -> list[float]:
    """Return for each block of columns the share of variance that curves explain and lines do not.

    With e the residual of a column's regression on those of all other blocks, the largest one of
    three: what their squares explain of e together, what one product of two explains, both
    corrected for chance; and max(0, corr(g, e))^2, with g what a forest grown on e says out of bag.
    Each is 0 where chance gives as much, and is multiplied by var(e)/var(column). The largest share
    counts for a block.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        In any units; `rows_to_look_at` tells which rows do.
    undefined : ndarray of bool, shape (n_rows, n_columns)
        Where scores stand for nothing, and are not explained.
    blocks : sequence of range
        Columns that belong together.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> x[:, 2] = x[:, 0] ** 2 + 0.5 * x[:, 2]
    >>> blocks = [range(1), range(1, 2), range(2, 3)]
    >>> shares = curved_shares(x, np.zeros(x.shape, dtype=bool), blocks)
    >>> [round(share, 1) for share in shares]
    [0.0, 0.0, 0.6]
    """
    held = np.column_stack([_held(column) for column in scores.T])
    known: dict[bytes, _Curves] = {}
    shares = []
    for block in blocks:
        found = [0.0]
        for place in block:
            there = ~undefined[:, place]
            if there.sum() < _FEWEST_ROWS or len(block) == held.shape[1]:
                continue
            pattern = there.tobytes()
            if pattern not in known:
                known[pattern] = _Curves.of(held[there])
            found.append(known[pattern].share(place, block))
        shares.append(max(found))
    return shares


def _held(column: Vector) -> Vector:
    middle, unit = middle_and_unit(column)
    return np.clip((column - middle) / unit, -_REACH, _REACH)


@dataclass(frozen=True, eq=False, repr=False)
class _Curves:
    """Columns of the same rows, their squares and products, and what lines leave of these.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Centred.
    precision : ndarray of shape (n_columns, n_columns)
        The inverse of their products.
    terms, left : ndarray of shape (n_rows, n_terms)
        Centred squares, then products; and what lines in all columns leave of them.
    squared : ndarray of shape (n_rows, n_terms)
        The same, squared; and
    lengths : ndarray of shape (n_terms,)
        its sums.
    factors : ndarray of shape (n_terms, 2)
        The columns of each.
    codes : ndarray of uint8, shape (a few rows, n_columns)
        Bins, for forests.
    """

    columns: Matrix
    precision: Matrix
    terms: Matrix
    left: Matrix
    squared: Matrix
    lengths: Vector
    factors: npt.NDArray[np.int64]
    codes: Codes

    @classmethod
    def of(cls, held: Matrix) -> Self:
        """Return the curves of columns."""
        few = held[:_FOREST_ROWS]
        codes = np.column_stack([binned(column, cut_points(column)) for column in few.T])
        x = held - held.mean(axis=0)
        n, p = x.shape
        gram = x.T @ x
        gram[np.diag_indices_from(gram)] += _RIDGE * n
        precision = np.linalg.inv(gram)
        squares = np.column_stack([np.arange(p), np.arange(p)])
        pairs = np.column_stack(np.triu_indices(p, 1)) if p <= _MOST_IN_PRODUCTS else squares[:0]
        factors = np.concatenate([squares, pairs])
        terms = x[:, factors[:, 0]] * x[:, factors[:, 1]]
        terms -= terms.mean(axis=0)
        left = terms - x @ (precision @ (x.T @ terms))
        squared = left**2
        return cls(x, precision, terms, left, squared, squared.sum(axis=0), factors, codes)

    def share(self, place: int, block: range) -> float:
        """Return what curves in columns outside of its block explain of a column."""
        own = self.precision[np.ix_(block, block)]
        e = self.columns @ np.linalg.solve(own, self.precision[:, block].T)[place - block.start]
        whole, size = float(self.columns[:, place] @ self.columns[:, place]), float(e @ e)
        if size <= STRONG * whole:  # nor where the column does not vary
            return 0.0
        inside = (self.factors >= block.start) & (self.factors < block.stop)
        outside = ~inside.any(axis=1) & (self.lengths > 1e-2 * e.size)
        squares = np.flatnonzero(outside[: self.columns.shape[1]])
        found = max(self._by_squares(e, squares), self._by_one(e, outside))
        if found * size / whole < STRONG:
            others = np.delete(np.arange(self.columns.shape[1]), block)
            found = max(found, _by_forest(self.codes[:, others], e[: self.codes.shape[0]]))
        return found * size / whole

    def _by_squares(self, e: Vector, used: npt.NDArray[np.int64]) -> float:
        """Return what squares explain together, corrected for chance."""
        n, k = e.size, used.size
        if k == 0 or n <= _ROWS_A_SQUARE * k:
            return 0.0
        left, across = self.left[:, used], e @ self.terms[:, used]
        # Errors of any law: where tails are heavy, people vary more where others do.
        by_chance = left.T @ (left * (e**2)[:, None])
        if _wald(across, by_chance) < k + _BEYOND_CHANCE * math.sqrt(2.0 * k):
            return 0.0
        gain = _wald(across, left.T @ left) / float(e @ e)
        explained = gain / (1.0 + gain)  # as lines in e itself were taken out of the squares
        return max(0.0, float((explained - k / n) / (1.0 - k / n)))

    def _by_one(self, e: Vector, used: npt.NDArray[np.bool_]) -> float:
        """Return what the best of some terms explains, 0 where the best by chance does."""
        across = (e @ self.terms)[used] ** 2
        beyond = 2.0 * math.log(max(1, across.size)) + _BEYOND_CHANCE**2
        seen = across > beyond * ((e**2) @ self.squared)[used]
        gain = across[seen] / self.lengths[used][seen] / float(e @ e)
        best = float(np.max(gain, initial=0.0))
        return max(0.0, best / (1.0 + best) - 1.0 / e.size)


def _wald(across: Vector, gram: Matrix) -> float:
    """Return across' gram^-1 across, with a ridge for squares that follow from others or vanish."""
    sizes = np.diag(gram)
    if not sizes.any():
        return 0.0
    gram = gram + _RIDGE * np.diag(np.maximum(sizes, sizes.mean()))
    return float(across @ np.linalg.solve(gram, across))


def _by_forest(codes: Codes, left: Vector) -> float:
    """Return the squared correlation with what a forest says out of bag, 0 below zero."""
    targets = Targets.measured(left)
    bags = as_key(0)
    forest = grown_forest(codes, codes.shape[1], targets, trees=_TREES, fewest=_LEAF, bags=bags)
    told = forest.unseen(codes, bags)[:, 0]
    seen = ~np.isnan(told)
    told, true = told[seen] - told[seen].mean(), left[seen] - left[seen].mean()
    together, size = float(told @ true), float(told @ told) * float(true @ true)
    if together <= 0.0 or together**2 * told.size < _BEYOND_CHANCE**2 * size:
        return 0.0
    return together**2 / size
