"""Reassembly, on tables: whether a person who stands out is the sum of far released rows.

The attacker whitens the release robustly, takes rows that are far out in nearly orthogonal
directions and adds them up, all of them or some. A guess is right when it lies within .2 of a
person who stands out (squared distance over the person's own from the centre), and no released row
and nobody else in the original comes within twice that; within .1 and four times that for sums of
some of the pieces. Where many stand out and many sums are made, some come near by chance: the
distance is then so small that balls of this radius around all people who stand out would catch one
of the sums, spread over the ball around the centre that reaches to the person, in one case of five;
the balls have as many dimensions as there are pieces.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.attacks.complete_columns import complete_columns, matrix_of, spread_columns
from icsa.attacks.protocol import AttackResult, Tally, Targets
from icsa.attacks.reassembly import Pieces, pieces_of
from icsa.attacks.tallies import NO_OUTSIDERS, not_applicable, outcome, tally_of_trials
from icsa.comparison.features import FeatureTable
from icsa.errors import ICSAError
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.privacy.neighbours import nearest

__all__ = ["ALL_PIECES", "SOME_PIECES", "put_together"]

# By what is guessed: how near a sum must be, and for which part of the squared distance to the next
# released row and to the next other original. False alarms were counted: docs/attacks.rst.
_LIMITS = {True: (0.2, 0.5), False: (0.1, 0.25)}
_CHANCE = 0.2
_MOST_PIECES = 10
# A robust scatter of so many rows is as good as one of all.
_SAMPLE = 5_000
ALL_PIECES = "a person who stands out, from all far rows"
SOME_PIECES = "a person who stands out, from some far rows"
_KNOWS = "the release"
_NAIVE = NotEstimable("nobody guesses a person who stands out without a release")


def put_together(
    targets: Targets,
    *,
    people: int,  # noqa: ARG001
    rng: np.random.Generator,  # noqa: ARG001
) -> tuple[AttackResult, ...]:
    """Return which of the people who stand out are sums of far released rows.

    Parameters
    ----------
    targets : Targets
    people : int
        Not used: everybody who stands out is looked at.
    rng : numpy Generator
        Not used: nothing is drawn.

    Examples
    --------
    Somebody at (40, 30) among people around zero is broken into (40, .) and (., 30):

    >>> from icsa.comparison.features import as_features
    >>> original, released = np.random.default_rng(1).normal(size=(2, 60, 2))
    >>> original[7] = 40.0, 30.0
    >>> released[0, 0], released[1, 1] = 40.0, 30.0
    >>> targets = Targets(features=as_features(original, released))
    >>> every, some = put_together(targets, people=60, rng=np.random.default_rng(1))
    >>> every.right.value, every.rows
    (1.0, (7,))
    """
    features = targets.features
    whole = complete_columns((features.original, features.released))
    places = spread_columns(features.released, whole)
    if places.size < 2:
        return _neither("two numeric columns without missing cells and few equal ones are needed")
    released = matrix_of(features.released, places)
    try:
        pieces = pieces_of(released, most=_MOST_PIECES, sample=_SAMPLE)
    except ICSAError:
        return _neither("the release has no robust scatter: too few rows for its columns")
    if pieces.rows.size < 2:
        return _neither("the release has no two far rows that could be pieces of a person")
    return tuple(
        _record(targets, places, released, pieces, guesses) for guesses in (ALL_PIECES, SOME_PIECES)
    )


def _record(
    targets: Targets,
    places: npt.NDArray[np.intp],
    released: Matrix,
    pieces: Pieces,
    guesses: str,
) -> AttackResult:
    """Return the record for the sum of all pieces, or for the sums of some."""
    everything = guesses == ALL_PIECES
    sums = (
        pieces.whitened.sum(axis=0, keepdims=True) if everything else _partial_sums(pieces.whitened)
    )
    original = matrix_of(targets.features.original, places)
    tables = released, original
    far, hit = _hits(original, tables, pieces, sums, _LIMITS[everything], themselves=True)
    control: Tally | NotEstimable = NO_OUTSIDERS
    if targets.outsiders is not None:
        rows = matrix_of(targets.outsiders, places)
        rows = rows[~np.isnan(rows).any(axis=1)]
        others, found = _hits(rows, tables, pieces, sums, _LIMITS[everything], themselves=False)
        nobody = NotEstimable("nobody of those who were not in the table stands out")
        control = tally_of_trials(found) if others.size else nobody
    if not far.size:
        return _not_made(guesses, "nobody stands out in columns without missing cells")
    means = (
        "Somebody who stands out can be put together from far rows of the release, which are "
        "pieces of this person"
        if hit.any()
        else "No person who stands out can be put together from far released rows"
    )
    return outcome(
        "reassembly",
        knows=_KNOWS,
        guesses=guesses,
        right=tally_of_trials(hit),
        control=control,
        naive=_NAIVE,
        control_is="nobody" if targets.outsiders is None else "people who were not in the table",
        means=means,
        rows=far[hit].tolist(),
    )


def _hits(
    people: Matrix,
    tables: tuple[Matrix, Matrix],
    pieces: Pieces,
    sums: Matrix,
    limits: tuple[float, float],
    *,
    themselves: bool,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return who stands out, and whether a sum is near, and much nearer than every row."""
    whitened = pieces.whiten(people)
    own = np.einsum("ij,ij->i", whitened, whitened)
    far = np.flatnonzero(own > pieces.limit)
    if not far.size:
        return far, np.zeros(0, dtype=bool)
    guessed = _least_squares(whitened[far], sums)
    within, part = limits
    by_chance = (_CHANCE / (far.size * sums.shape[0])) ** (2.0 / pieces.rows.size)
    hit = guessed <= min(within, by_chance) * own[far]
    # Seldom anybody: all rows are looked through for these people only.
    near = np.flatnonzero(hit)
    if near.size:
        rows = far[near]
        released, original = (pieces.whiten(table) for table in tables)
        next_row = np.minimum(
            _least_squares(whitened[rows], released),
            _least_squares(whitened[rows], original, rows if themselves else None),
        )
        hit[near] = guessed[near] < part * next_row
    return far, hit


def _least_squares(people: Matrix, rows: Matrix, own: npt.NDArray[np.intp] | None = None) -> Vector:
    """Return the squared distance of each person to the nearest row."""
    one, other = (
        FeatureTable(np.ascontiguousarray(part.T), np.empty((0, part.shape[0]), dtype=np.int32))
        for part in (people, rows)
    )
    return np.asarray(nearest(one, other, own=own).distances[:, 0] ** 2)


def _partial_sums(pieces: Matrix) -> Matrix:
    """Return the sums of two pieces or more, in every choice."""
    choices = np.array(list(product((0.0, 1.0), repeat=pieces.shape[0])))
    return np.asarray(choices[choices.sum(axis=1) > 1] @ pieces)


def _not_made(guesses: str, reason: str) -> AttackResult:
    about: dict[str, Any] = {"knows": _KNOWS, "guesses": guesses}
    return not_applicable("reassembly", reason=reason, **about)


def _neither(reason: str) -> tuple[AttackResult, ...]:
    return tuple(_not_made(guesses, reason) for guesses in (ALL_PIECES, SOME_PIECES))
