"""Two releases, on tables: what another release of the same people that is already out gives away.

A mask that keeps each coordinate's scores gives both releases the same ones, and the directions in
which they are the same are the map. Who has it sees whether a person's scores are in the release.
After rounding the scores are only nearly the same: then the directions that come nearest are tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.attacks.complete_columns import complete_columns, matrix_of, spread_columns
from icsa.attacks.maps import gaps_to, scores_present
from icsa.attacks.membership_attack import area_tally
from icsa.attacks.protocol import AttackResult, Tally, Targets
from icsa.attacks.tallies import (
    NO_OUTSIDERS,
    constant,
    not_applicable,
    outcome,
    tally_of_trials,
)
from icsa.attacks.two_releases import MapFromReleases, map_from_flips, map_from_releases
from icsa.comparison.features import FeatureTable
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable

__all__ = ["NEAR_SCORES", "THE_MAP", "compare_releases"]

THE_MAP = "the map that both were made with"
_SCORES = "who is in the table, by scores in both"
NEAR_SCORES = "who is in the table, by scores nearly in both"
_KNOWS = "two releases of the same table"
# Sorting takes the time: fewer starts for many rows, none for too many.
_SORTED = 400_000
_FEWEST_STARTS, _MOST_STARTS = 10, 40
_MOST_ROWS = 100_000
_LEAST_GAP = 1e-12


def compare_releases(
    targets: Targets, *, people: int, rng: np.random.Generator
) -> tuple[AttackResult, ...]:
    """Return how much of the map two releases give away, and whose scores they hold.

    Parameters
    ----------
    targets : Targets
        With `also_released`.
    people : int
        How many members and outsiders are looked for in the scores.
    rng : numpy Generator

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(40, 2)) ** 3
    >>> mixing = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> one = np.column_stack([x[::-1, 0], np.roll(x[:, 1], 5)]) @ mixing.T
    >>> two = np.column_stack([np.roll(x[:, 0], 9), x[:, 1]]) @ mixing.T
    >>> features = as_features(x @ mixing.T, one)
    >>> targets = Targets(features=features, also_released=as_features(two, two).original)
    >>> the_map, scores = compare_releases(targets, people=40, rng=np.random.default_rng(1))
    >>> the_map.right.value, scores.right.value
    (1.0, 1.0)
    """
    reason = _why_not(targets)
    if reason:
        about: dict[str, Any] = {"knows": _KNOWS, "guesses": THE_MAP}
        return (not_applicable("two releases", reason=reason, **about),)
    features, other = targets.features, targets.also_released
    assert other is not None
    places = _columns(targets)
    one, two = matrix_of(features.released, places), matrix_of(other, places)
    starts = int(np.clip(_SORTED // one.shape[0], _FEWEST_STARTS, _MOST_STARTS))
    found = map_from_releases(one, two, starts=starts, seed=int(rng.integers(2**31)))
    if 0 < found.directions.shape[0] < places.size:  # worth looking for the rest
        more = 3 * starts
        found = map_from_releases(one, two, starts=more, seed=int(rng.integers(2**31)))
    flipped = map_from_flips(one, two)
    records = [_of_the_map(max(found.directions.shape[0], flipped.shape[0]), places.size)]
    tables = (features.original, targets.outsiders)
    inside, outside = (
        None if table is None else _complete(table, places, people, rng) for table in tables
    )
    assert inside is not None
    if found.directions.shape[0]:
        records.append(_of_scores(found, inside, outside))
    elif outside is not None:
        records.append(_of_near_scores(found, (one, two), inside, outside))
    return tuple(records)


def _why_not(targets: Targets) -> str:
    other, released = targets.also_released, targets.features.released
    if other is None:
        return "another release of the same table is needed (--also-released)"
    if other.n_rows != released.n_rows:
        return "the two releases have different numbers of rows"
    if other.n_rows > _MOST_ROWS:
        return f"the search sorts all rows many times; it is made up to {_MOST_ROWS:,} of them"
    places = _columns(targets)
    if places.size < 2 or released.n_rows <= 2 * places.size:
        return "two numeric columns without missing cells are needed, and more rows than columns"
    return ""


def _columns(targets: Targets) -> npt.NDArray[np.intp]:
    assert targets.also_released is not None
    both = targets.features.released, targets.also_released
    return spread_columns(both[0], spread_columns(both[1], complete_columns(both)))


def _complete(
    table: FeatureTable, places: npt.NDArray[np.intp], people: int, rng: np.random.Generator
) -> Matrix:
    """Return people without missing cells, so many at most."""
    rows = matrix_of(table, places)
    rows = rows[~np.isnan(rows).any(axis=1)]
    return rows[rng.permutation(rows.shape[0])[:people]]


def _of_the_map(found: int, columns: int) -> AttackResult:
    means = (
        f"{found} of {columns} coordinates of the map follow from the two releases: with them it "
        "can be computed who is in the table"
        if found
        else "The two releases did not give away the map"
    )
    return outcome(
        "two releases",
        knows=_KNOWS,
        guesses=THE_MAP,
        right=Tally(float(found), columns, float(columns)),
        control=NotEstimable("a map is no person"),
        naive=constant(0.0),
        means=means,
    )


def _of_scores(found: MapFromReleases, inside: Matrix, outside: Matrix | None) -> AttackResult:
    """Return whose exact scores stand in the first release, in all directions that were found."""

    def held(people: Matrix) -> Tally:
        here = scores_present(people @ found.directions.T, found.scores)
        return tally_of_trials(here == found.directions.shape[0])

    return outcome(
        "two releases",
        knows=_KNOWS,
        guesses=_SCORES,
        right=held(inside),
        control=NO_OUTSIDERS if outside is None else held(outside),
        naive=NotEstimable("scores are not known without the releases"),
        control_is="nobody" if outside is None else "people who were not in the table",
    )


def _of_near_scores(
    found: MapFromReleases, releases: tuple[Matrix, Matrix], inside: Matrix, outside: Matrix
) -> AttackResult:
    """Return how well members are told apart by scores in the directions that came nearest."""

    def nearness(people: Matrix) -> Vector:
        total = np.zeros(people.shape[0])
        for direction in found.nearly:
            gaps = [gaps_to(people @ direction, np.sort(rows @ direction)) for rows in releases]
            spread = float((releases[0] @ direction).std())
            total -= np.log(np.maximum(np.maximum(*gaps) / spread, _LEAST_GAP))
        return total

    return outcome(
        "two releases",
        knows=_KNOWS,
        guesses=NEAR_SCORES,
        right=area_tally(nearness(inside), nearness(outside)),
        control=constant(0.5),
        naive=constant(0.5),
        control_is="people who were not in the table",
    )
