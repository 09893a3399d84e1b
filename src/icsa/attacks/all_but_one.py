"""All but one: what a release tells about the last person to somebody who knows all others.

Where the release keeps the number of rows, what it has more of than the known rows is the last
one's: the level whose count is one higher, the number that is in the sorted cells of the release
and not in the known ones, or the difference of two sums. There is no control: nobody outside the
table is its last row. What a guess without the release gives stands beside it.
"""

from __future__ import annotations

import numpy as np

from icsa.attacks.inference import Tolerances, mean_of_defined
from icsa.attacks.protocol import AttackResult, Targets
from icsa.attacks.tallies import not_applicable, outcome, tally_of_people
from icsa.attacks.whom import drawn
from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.matrices import Vector
from icsa.measures import NotEstimable

__all__ = ["last_person"]

_KNOWS = "all rows but one"
_GUESSES = "cells of the last row"
_NO_CONTROL = NotEstimable("nobody outside the table is its last row")
# Sorted cells are the same where they differ by less than this share of their size.
_SAME = 1e-12


def last_person(
    targets: Targets, *, people: int, rng: np.random.Generator
) -> tuple[AttackResult, ...]:
    """Return the share of the last row's cells that all other rows and the release give.

    Parameters
    ----------
    targets : Targets
    people : int
        How many are taken for the last one, each in turn.
    rng : numpy Generator

    Examples
    --------
    Counts are kept, and so is the mean:

    >>> from icsa.comparison.features import as_features
    >>> x = np.array([[1.0], [2.0], [4.0], [9.0]])
    >>> released = np.array([[0.0], [3.0], [5.0], [8.0]])
    >>> wards = np.array([[0], [1], [1], [2]])
    >>> features = as_features(x, released, original_codes=wards, released_codes=wards[::-1])
    >>> found, = last_person(Targets(features=features), people=4, rng=np.random.default_rng(1))
    >>> found.right.value, found.naive.value
    (1.0, 0.0)
    """
    features = targets.features
    original, released = features.original, features.released
    if released.n_rows != original.n_rows or original.n_rows < 2:
        reason = "original and release have different numbers of rows, or only one"
        return (not_applicable("all but one", knows=_KNOWS, guesses=_GUESSES, reason=reason),)
    rows = drawn(original.n_rows, people, rng)
    members, limits = original.rows(rows), Tolerances(original)
    numbers, plain = np.empty_like(members.numbers), np.empty_like(members.numbers)
    for j, (mine, theirs) in enumerate(zip(original.numbers, released.numbers, strict=True)):
        numbers[j] = _last_number(mine, theirs, rows)
        plain[j] = np.nanmedian(mine) if not np.isnan(mine).all() else np.nan
    codes, common = np.empty_like(members.codes), np.empty_like(members.codes)
    for j, (level, other) in enumerate(zip(original.codes, released.codes, strict=True)):
        codes[j] = _last_level(level, other, rows)
        common[j] = _commonest_other(level, rows)
    shares = (
        mean_of_defined(
            np.array([limits.right(members, guess, j) for j in range(features.n_columns)])
        )
        for guess in (FeatureTable(numbers, codes), FeatureTable(plain, common))
    )
    right, naive = (tally_of_people(share) for share in shares)
    return (
        outcome(
            "all but one",
            knows=_KNOWS,
            guesses=_GUESSES,
            right=right,
            control=_NO_CONTROL,
            naive=naive,
            means="" if isinstance(right, NotEstimable) else _in_words(right.share),
        ),
    )


def _in_words(share: float) -> str:
    return (
        f"Counts, sorted cells or means give {share:.0%} of the last row's cells away"
        if share > 0.0
        else "Counts, sorted cells and means give nothing of the last row away"
    )


def _last_number(original: Vector, released: Vector, rows: RowNumbers) -> Vector:
    """Return the guess of each last cell: exactly, or by the difference of two sums.

    It is exact where the release has the original's cells; otherwise the sums differ by the last
    cell, and by what the release changed of the sum.
    """
    mine, theirs = np.sort(original), np.sort(released)
    with np.errstate(invalid="ignore"):
        gaps = np.abs(mine - theirs)
    same = gaps <= _SAME * np.abs(mine)
    if np.all(same | (np.isnan(mine) & np.isnan(theirs))):
        return np.asarray(original[rows])
    if np.count_nonzero(np.isnan(mine)) != np.count_nonzero(np.isnan(theirs)):
        return np.full(rows.size, np.nan)
    # The sum of the release less that of the known: the cell itself and the change of the sum.
    guess = original[rows] + (np.nansum(released) - np.nansum(original))
    return np.clip(guess, np.nanmin(original), np.nanmax(original))


def _last_level(original: Codes, released: Codes, rows: RowNumbers) -> Codes:
    """Return the level whose count in the release exceeds that in the known rows most."""
    size = int(max(original.max(), released.max(), 0)) + 2  # -1 is missing, counted in place 0
    excess = np.bincount(released + 1, minlength=size) - np.bincount(original + 1, minlength=size)
    most = np.empty(size, dtype=np.int32)
    for level in range(size):
        mine = excess.copy()
        mine[level] += 1
        most[level] = int(np.argmax(mine)) - 1
    return most[original[rows] + 1]


def _commonest_other(original: Codes, rows: RowNumbers) -> Codes:
    """Return the commonest level of all other rows."""
    counts = np.bincount(original[original >= 0], minlength=1)
    most = np.empty(counts.size + 1, dtype=np.int32)
    for level in range(counts.size):
        mine = counts.copy()
        mine[level] -= 1
        most[level + 1] = int(np.argmax(mine))
    most[0] = int(np.argmax(counts))
    return most[original[rows] + 1]
