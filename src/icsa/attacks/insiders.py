"""Insiders: p + 2 people who know their own rows find the map from one release.

`permute` keeps the scores w'm of every person m in every direction w of the map, so that for the
true w each insider's score is that of some released row: w is orthogonal to the difference of the
insider and this row. Which rows these are is found by trying.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.attacks.lattices import dot
from icsa.compilation import kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, as_matrix

__all__ = ["MapFromInsiders", "map_from_insiders"]

# Slopes agree when they differ by less than this share: rounding leaves 1e-12, and chance lets
# four people agree in about n^p 1e-27 of the tries.
_SAME = 1e-9
_MOST_TRIES = 10_000_000
# Equal rows, as rounded tables have them, give one direction several times.
_MOST_HITS = 1_000


@dataclass(frozen=True, eq=False, repr=False)
class MapFromInsiders:
    """The directions in which all insiders' scores are in the release.

    Attributes
    ----------
    directions : ndarray of shape (n_found, n_columns)
        Each of length 1; with all of them, and their lengths, the map is known.
    n_tries : int
        How many ways to match the first insiders with released rows were tried.
    """

    directions: Matrix
    n_tries: int

    def __repr__(self) -> str:
        """Show sizes only."""
        found, columns = self.directions.shape
        return f"<MapFromInsiders: {found} of {columns} directions>"


def map_from_insiders(released: object, insiders: object) -> MapFromInsiders:
    """Return the directions of the map that p + 2 people find who know their own rows.

    The first p - 2 insiders are matched with released rows in all n^(p - 2) ways. Each way leaves
    a plane of directions, in which every released row gives one direction for each of the other
    four insiders; a direction that all four have in common is one of the map.

    Parameters
    ----------
    released : array-like of shape (n_rows, n_columns)
        Two columns or more.
    insiders : array-like of shape (n_insiders, n_columns)
        Their rows of the original. Whoever is in the release as a whole says nothing about the map
        and is left out; the first p + 2 of the others are used.

    Returns
    -------
    MapFromInsiders

    Raises
    ------
    InputError
        If more than 10 million ways would have to be tried.

    Examples
    --------
    >>> original = np.random.default_rng(1).normal(size=(30, 2))
    >>> turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> scores = original @ turn.T
    >>> scores[:, 1] = np.roll(scores[:, 1], 7)
    >>> np.abs(map_from_insiders(scores @ turn, original[:4]).directions.round(6))
    array([[0.6, 0.8],
           [0.8, 0.6]])
    """
    rows, known = as_matrix(released), as_matrix(insiders)
    n, p = rows.shape
    if p < 2 or known.shape[1] != p or known.shape[0] < p + 2:
        raise InputError(
            f"{p + 2} insiders with {p} cells each are needed, and 2 columns or more: "
            f"got {known.shape[0]} with {known.shape[1]}."
        )
    tries = n ** (p - 2)
    if tries > _MOST_TRIES:
        raise InputError(
            f"{n} rows with {p} columns leave {tries:.1e} ways to match insiders with rows; at "
            f"most {_MOST_TRIES:.0e} are tried. Take fewer columns or fewer rows."
        )
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    standard, people = ((part - centre) / spread for part in (rows, known))
    people = people[[np.abs(standard - person).max(axis=1).min() > _SAME for person in people]]
    if people.shape[0] < p + 2:
        return MapFromInsiders(np.empty((0, p)), 0)
    hits = np.empty((_MOST_HITS, p))
    count = _search(np.ascontiguousarray(standard), np.ascontiguousarray(people), tries, hits)
    distinct: list[Vector] = []
    for hit in hits[:count]:
        if all(1.0 - abs(float(hit @ other)) > _SAME for other in distinct):
            distinct.append(hit)
    directions = np.array(distinct).reshape(-1, p) / spread
    return MapFromInsiders(directions / np.linalg.norm(directions, axis=1, keepdims=True), tries)


@kernel
def _search(rows: Matrix, people: Matrix, tries: int, hits: Matrix) -> int:
    """Write directions common to all people into `hits` and return how many there are."""
    n, p = rows.shape
    frame = np.empty((p, p))
    first, second = np.empty(n), np.empty(n)
    slopes, others = np.empty(n), np.empty(n)
    count = 0
    for number in range(tries):
        rest = number
        for person in range(p - 2):
            row = rest % n
            rest //= n
            for j in range(p):
                frame[person, j] = people[person, j] - rows[row, j]
        if not _complete(frame):
            continue
        for i in range(n):
            first[i] = dot(rows[i], frame[p - 2])
            second[i] = dot(rows[i], frame[p - 1])
        _set_slopes(people[p - 2], frame, first, second, slopes)
        slopes.sort()
        _set_slopes(people[p - 1], frame, first, second, others)
        for i in range(n):
            slope = others[i]
            if (
                _holds(slopes, slope)
                and _has_slope(people[p], frame, first, second, slope)
                and _has_slope(people[p + 1], frame, first, second, slope)
            ):
                if count == hits.shape[0]:
                    return count
                length = np.sqrt(1.0 + slope * slope)
                for j in range(p):
                    hits[count, j] = (frame[p - 2, j] + slope * frame[p - 1, j]) / length
                count += 1
    return count


@kernel
def _complete(frame: Matrix) -> bool:
    """Make the first p - 2 rows orthonormal and fill two more; False where they depend."""
    p = frame.shape[0]
    for k in range(p):
        if k < p - 2:
            if not _orthonormalize(frame, k, 1e-9):
                return False
            continue
        done = False
        for axis in range(p):
            for j in range(p):
                frame[k, j] = 1.0 if j == axis else 0.0
            # Some axis keeps at least this much of itself beside p - 1 others.
            if _orthonormalize(frame, k, 0.9 / np.sqrt(p)):
                done = True
                break
        if not done:
            return False
    # Turned by a radian, so that a direction along an axis has no slope of 0 or infinity.
    for j in range(p):
        one, two = frame[p - 2, j], frame[p - 1, j]
        frame[p - 2, j] = np.cos(1.0) * one + np.sin(1.0) * two
        frame[p - 1, j] = np.cos(1.0) * two - np.sin(1.0) * one
    return True


@kernel
def _orthonormalize(frame: Matrix, k: int, least: float) -> bool:
    """Make row k orthogonal to the rows before it, of length 1; False where too little is left."""
    p = frame.shape[0]
    before = np.sqrt(dot(frame[k], frame[k]))
    for _ in range(2):  # once more takes out what rounding left
        for i in range(k):
            part = dot(frame[k], frame[i])
            for j in range(p):
                frame[k, j] -= part * frame[i, j]
    length = np.sqrt(dot(frame[k], frame[k]))
    if not length > least * before:
        return False
    for j in range(p):
        frame[k, j] /= length
    return True


@kernel
def _set_slopes(
    person: Vector, frame: Matrix, first: Vector, second: Vector, slopes: Vector
) -> None:
    """Set slopes[i] to the s with (e + s f) orthogonal to person - row i; e, f end the frame."""
    p = frame.shape[0]
    one, two = dot(person, frame[p - 2]), dot(person, frame[p - 1])
    for i in range(slopes.size):
        below = two - second[i]
        # Where a row is the person's own, every direction would do: none is taken.
        slopes[i] = (first[i] - one) / below if below != 0.0 else np.inf


@kernel
def _holds(slopes: Vector, slope: float) -> bool:
    """Return whether a slope is among sorted ones."""
    place = np.searchsorted(slopes, slope)
    near = _SAME * (1.0 + slope * slope)
    below = place > 0 and slope - slopes[place - 1] < near
    above = place < slopes.size and slopes[place] - slope < near
    return bool(below or above)


@kernel
def _has_slope(person: Vector, frame: Matrix, first: Vector, second: Vector, slope: float) -> bool:
    """Return whether some row gives this person the slope."""
    p = frame.shape[0]
    one, two = dot(person, frame[p - 2]), dot(person, frame[p - 1])
    near, least = _SAME * (1.0 + slope * slope), np.inf
    for i in range(first.size):
        below = two - second[i]
        if below != 0.0:
            least = min(least, abs((first[i] - one) / below - slope))
    return least < near
