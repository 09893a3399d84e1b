"""Digits: a rounded original and a release with 15 digits give back the whole table.

Rows of the original are whole numbers (of cents, years, ...). A permuted release is the sum over
the p coordinates of a_j w_j'm, with m a hidden row for each: p^2 columns of hidden whole numbers,
mixed with unknown real weights. Whole multiples of released rows that cancel in all digits cancel
in the hidden columns, so lattice reduction finds what is orthogonal to them, and with that their
span. A short basis of the span keeps to single coordinates, which shows the directions a_j. One
score w_j'm then has digits enough for all p cells of its row. Decorrelation changes the a_j, and is
undone with them. The attack fails where the weights w_j are in whole proportions, as they are now
and then where a direction is orthogonal to the difference of two people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.attacks.lattices import Integers, integer_kernel, nearest_points, short_relations
from icsa.attacks.maps import before_decorrelation
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, as_matrix

__all__ = ["FEWEST_ROWS", "TableFromDigits", "table_from_digits"]

# Rows a lattice is made of, by columns: more make the relations shorter and take longer.
FEWEST_ROWS = {2: 30, 3: 40, 4: 64, 5: 110}
# What the release's arithmetic left in the last digits, in units of the last one.
_ROUNDING = 4.0
# Directions of two subsets of rows are one when they differ by less than this.
_SAME = 1e-7
# Two directions that are farther apart than this are not nearly parallel.
_APART = 1e-5
# After so many subsets without any direction in common there is nothing to be found.
_GIVE_UP = 2
# A score belongs to a row of whole numbers when it differs from theirs by less than this share.
_FITS = 1e-11


@dataclass(frozen=True, eq=False, repr=False)
class TableFromDigits:
    """Rows of the original, as far as they were found.

    Attributes
    ----------
    rows : ndarray of shape (n_found, n_columns)
        Rows that two coordinates or more hold independently of each other; none where the attack
        failed. They are in the original's units.
    directions : ndarray of shape (n_directions, n_columns)
        Directions of the mixing matrix, those found most often first.
    votes : ndarray of shape (n_directions,)
        In how many subsets of the rows each was found; once means nothing.
    """

    rows: Matrix
    directions: Matrix
    votes: Integers

    def __repr__(self) -> str:
        """Show sizes only: the rows may be people."""
        return f"<TableFromDigits: {self.rows.shape[0]} rows, {self.votes.size} directions>"


def table_from_digits(
    released: object, steps: object, *, subsets: int = 6, seed: int = 0
) -> TableFromDigits:
    """Return the original's rows from a release with all its digits.

    Parameters
    ----------
    released : array-like of shape (n_rows, n_columns)
        From two to five columns; with four the original's columns may have some ten steps of
        standard deviation, with five some three, with two or three thousands.
    steps : array-like of shape (n_columns,)
        What the original's columns are whole multiples of.
    subsets : int
        How many times some of the rows are drawn and reduced at most; fewer where the directions
        are found before, or where the first two have no direction in common.
    seed : int
        Of the draws.

    Returns
    -------
    TableFromDigits

    Examples
    --------
    Two coordinates of forty rows of whole numbers, the second one moved on by seven rows:

    >>> original = np.random.default_rng(1).integers(0, 60, size=(40, 2))
    >>> unmixing = np.array([[np.sqrt(2.0), 1.0], [-1.0, np.sqrt(5.0)]])
    >>> scores = original @ unmixing.T
    >>> scores[:, 1] = np.roll(scores[:, 1], 7)
    >>> found = table_from_digits(scores @ np.linalg.inv(unmixing).T, [1.0, 1.0])
    >>> found
    <TableFromDigits: 40 rows, 2 directions>
    >>> {tuple(row) for row in found.rows} == {tuple(row) for row in original.astype(float)}
    True
    """
    widths = np.asarray(steps, dtype=np.float64)
    rows = as_matrix(released)
    n, p = rows.shape
    if p not in FEWEST_ROWS or n <= FEWEST_ROWS[p]:
        needed = ", ".join(f"{FEWEST_ROWS[k] + 1} rows with {k}" for k in FEWEST_ROWS)
        raise InputError(
            f"The attack on digits needs 2 to {max(FEWEST_ROWS)} columns ({needed}): got {n} rows "
            f"with {p}."
        )
    if widths.shape != (p,) or not np.all(widths > 0):
        raise InputError(f"Give the step of each of the {p} columns, a positive number.")
    rows = rows / widths
    directions, votes = _recurring_directions(rows, subsets, np.random.default_rng(seed))
    enough = votes.size == p and votes.min() > 1
    whole = _whole_rows(rows, directions) if enough else np.empty((0, p))
    return TableFromDigits(whole * widths, directions * widths, votes)


def _recurring_directions(
    rows: Matrix, subsets: int, generator: np.random.Generator
) -> tuple[Matrix, Integers]:
    """Return the p independent directions that most subsets of the rows give."""
    n, p = rows.shape
    found: list[Vector] = []
    votes: list[int] = []
    kept: list[int] = []
    for drawn in range(subsets):
        if [votes[i] > 1 for i in kept] == [True] * p or (
            drawn == _GIVE_UP and max(votes, default=0) < 2
        ):
            break
        chosen = generator.choice(n, FEWEST_ROWS[p] + 1, replace=False)
        seen = set()
        # Each row less the next one: less a common row, all coordinates would go together.
        for direction in _hidden_directions(np.diff(rows[chosen], axis=0), rows):
            known = [i for i, other in enumerate(found) if _parallel(direction, other)]
            if not known:
                found.append(direction)
                votes.append(0)
            seen.add(known[0] if known else len(found) - 1)
        for i in seen:
            votes[i] += 1
        kept = _independent(found, votes)
    directions = np.array([found[k] for k in kept]).reshape(-1, p)
    return directions, np.array([votes[k] for k in kept], dtype=np.int64)


def _independent(found: list[Vector], votes: list[int]) -> list[int]:
    """Return the places of as many independent directions as there are, most votes first."""
    kept: list[int] = []
    for i in sorted(range(len(found)), key=lambda i: -votes[i]):
        trial = np.array([found[k] for k in (*kept, i)])
        if len(kept) < found[i].size and np.linalg.svd(trial, compute_uv=False)[-1] > _APART:
            kept.append(i)
    return kept


def _hidden_directions(differences: Matrix, rows: Matrix) -> Matrix:
    """Return the directions along which the hidden whole numbers of some rows are released."""
    m, p = differences.shape
    unit = _ROUNDING * np.finfo(np.float64).eps * np.abs(rows).max()
    relations = short_relations(np.rint(differences / unit).astype(np.int64))
    hidden = integer_kernel(relations[: m - p * p], p * p)
    if hidden is None:
        return np.empty((0, p))
    weights = np.linalg.lstsq(hidden.T.astype(np.float64), differences, rcond=None)[0]
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    used = lengths[:, 0] > 0
    return np.asarray(weights[used] / lengths[used])


def _parallel(one: Vector, other: Vector) -> bool:
    return bool(np.linalg.norm(one - (one @ other) * other) < _SAME)


def _whole_rows(rows: Matrix, directions: Matrix) -> Matrix:
    """Return the rows of whole numbers that the scores stand for, decorrelated or not."""
    unmixing: Matrix = np.asarray(np.linalg.inv(directions.T), dtype=np.float64)
    plain = _held_twice(_decoded(rows, unmixing, rows @ unmixing.T), rows.shape[1])
    undone = before_decorrelation(rows, unmixing)
    return max(plain, _held_twice(_decoded(rows, *undone), rows.shape[1]), key=len)


def _decoded(rows: Matrix, unmixing: Matrix, scores: Matrix) -> list[Integers]:
    """Return for every coordinate the rows of whole numbers whose scores are its scores."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    found = []
    for weights, values in zip(unmixing, scores.T, strict=True):
        points = nearest_points(values, weights, centre, spread)
        fits = np.abs(points @ weights - values) < _FITS * np.abs(values).max()
        found.append(points[fits])
    return found


def _held_twice(whole: list[Integers], p: int) -> Matrix:
    """Return the rows that two coordinates or more hold, each once."""
    sets = [{tuple(row) for row in part.tolist()} for part in whole]
    twice = {row for i, part in enumerate(sets) for other in sets[:i] for row in part & other}
    return np.array(sorted(twice), dtype=np.float64).reshape(-1, p)
