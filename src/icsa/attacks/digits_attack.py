"""Digits, on tables: a rounded original beside a release that is not rounded like it.

The attack of `icsa.attacks.digits` is run where it can succeed: from two to five numeric columns,
all of them rounded in the original, and more digits in the release.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.attacks.complete_columns import complete_columns, matrix_of
from icsa.attacks.digits import FEWEST_ROWS, table_from_digits
from icsa.attacks.protocol import AttackResult, Targets
from icsa.attacks.tallies import NO_OUTSIDERS, not_applicable, outcome, tally_of_trials
from icsa.comparison.features import FeatureTable
from icsa.lattice import find_lattice
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable

__all__ = ["has_more_digits", "rows_from_digits"]

# Two digits more than the original's do not help the attack: what counts is off this finer lattice.
_HARMLESS = 100.0
# A cell is off the lattice when it is farther from it than this, in steps, and than rounding.
_OFF = 1e-6
_ROUNDING = 2.0**-50
# A row can only be among those found where its cells are as near to the lattice as this.
_ON = 1e-3
# p^2 hidden numbers must fit into the 52 p bits of a released row. The attack needs twice as much:
# rows came back up to 26/p bits (of steps in a standard deviation), none from 40/p on.
_BITS = 39.0
# A column is off its lattice when this share of its cells is: a few are so in any table.
_SHARE = 0.05
_ABOUT: dict[str, Any] = {"knows": "the release", "guesses": "whole rows of the original"}


def has_more_digits(targets: Targets) -> bool:
    """Return whether all complete numeric columns are rounded and the release is not like them.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> x = np.arange(40.0).reshape(20, 2)
    >>> has_more_digits(Targets(features=as_features(x, x + np.sqrt(2.0))))
    True
    >>> has_more_digits(Targets(features=as_features(x, x + 3.0)))
    False
    """
    return _why_not(targets) == ""


def rows_from_digits(
    targets: Targets,
    *,
    people: int,  # noqa: ARG001
    rng: np.random.Generator,
) -> tuple[AttackResult, ...]:
    """Return the share of the original's rows that the digits of the release give back.

    Parameters
    ----------
    targets : Targets
    people : int
        Not used: the attack gives back all rows or none.
    rng : numpy Generator

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> original = np.random.default_rng(1).integers(0, 60, size=(40, 2))
    >>> unmixing = np.array([[np.sqrt(2.0), 1.0], [-1.0, np.sqrt(5.0)]])
    >>> scores = original @ unmixing.T
    >>> scores[:, 1] = np.roll(scores[:, 1], 7)
    >>> targets = Targets(features=as_features(original, scores @ np.linalg.inv(unmixing).T))
    >>> found, = rows_from_digits(targets, people=40, rng=np.random.default_rng(1))
    >>> found.right.value
    1.0
    """
    features = targets.features
    reason = _why_not(targets) or _out_of_reach(targets)
    if reason:
        return (not_applicable("digits", reason=reason, **_ABOUT),)
    places = complete_columns((features.original, features.released))
    steps, offsets = _lattices(features.original, places)
    seed = int(rng.integers(2**31))
    released = matrix_of(features.released, places) - offsets
    rows = table_from_digits(released, steps, seed=seed).rows + offsets
    hit = _present(features.original, places, steps, offsets, rows)
    outsiders = targets.outsiders
    control = (
        NO_OUTSIDERS
        if outsiders is None
        else tally_of_trials(_present(outsiders, places, steps, offsets, rows))
    )
    share = float(hit.mean())
    means = (
        f"The digits of the release give back {share:.0%} of the original's rows"
        if hit.any()
        else "The release has more digits than the original, but they did not give back its rows"
    )
    return (
        outcome(
            "digits",
            right=tally_of_trials(hit),
            control=control,
            naive=NotEstimable("nobody guesses whole rows without a release"),
            control_is="nobody" if outsiders is None else "people who were not in the table",
            means=means,
            rows=np.flatnonzero(hit).tolist(),
            **_ABOUT,
        ),
    )


def _why_not(targets: Targets) -> str:
    """Return why digits tell nothing; empty where they may."""
    features = targets.features
    places = complete_columns((features.original, features.released))
    if places.size < 2:
        return "two numeric columns without missing cells are needed"
    steps, offsets = _lattices(features.original, places)
    if not np.all(steps > 0.0):
        return "not all numeric columns of the original are rounded"
    released = matrix_of(features.released, places) - offsets
    if not all(_off_lattice(column, step) for column, step in zip(released.T, steps, strict=True)):
        return "the release has no more digits than the original"
    return ""


def _out_of_reach(targets: Targets) -> str:
    """Return why rows cannot be found though there are digits; empty where they can."""
    features = targets.features
    places = complete_columns((features.original, features.released))
    p = places.size
    if p not in FEWEST_ROWS:
        return f"with {p} numeric columns doubles have too few digits; {max(FEWEST_ROWS)} at most"
    if features.released.n_rows <= FEWEST_ROWS[p]:
        return f"more than {FEWEST_ROWS[p]} released rows are needed with {p} numeric columns"
    steps, _ = _lattices(features.original, places)
    bits = np.log2(matrix_of(features.original, places).std(axis=0) / steps)
    if np.median(bits) > _BITS / p:
        return "the columns of the original have so many digits that a release has too few for them"
    return ""


def _lattices(table: FeatureTable, places: npt.NDArray[np.intp]) -> tuple[Vector, Vector]:
    """Return step and offset of the columns; a step of 0 where cells are not rounded."""
    found = [find_lattice(table.numbers[place]) for place in places]
    steps = [0.0 if lattice is None else lattice.width for lattice in found]
    offsets = [0.0 if lattice is None else float(lattice.offset) for lattice in found]
    return np.array(steps), np.array(offsets)


def _off_lattice(column: Vector, step: float) -> bool:
    positions = column * _HARMLESS / step
    away = np.abs(positions - np.rint(positions))
    return bool(np.mean(away > np.maximum(_OFF, _ROUNDING * np.abs(positions))) > _SHARE)


def _present(
    table: FeatureTable,
    places: npt.NDArray[np.intp],
    steps: Vector,
    offsets: Vector,
    rows: Matrix,
) -> npt.NDArray[np.bool_]:
    """Return for each person whether the row, in steps of the lattices, is among those found."""
    found = {tuple(row) for row in np.rint((rows - offsets) / steps).astype(np.int64).tolist()}
    exact = (matrix_of(table, places) - offsets) / steps
    wanted = np.rint(exact)
    full = np.all(np.abs(exact - wanted) < _ON, axis=1)  # nor are those with a missing cell
    keys = np.where(full[:, None], wanted, 0.0).astype(np.int64).tolist()
    among = np.array([tuple(row) in found for row in keys], dtype=bool)
    return np.asarray(among & full, dtype=bool)
