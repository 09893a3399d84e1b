"""Singling out: predicates that hold for one released row, and for one person in the table.

The attacker reads predicates off the release, such as "the only one with this value", "the largest"
or, of several columns, "at least as old, at most as heavy, of this ward". A guess is right when
exactly one person in the table meets it. The same predicates are tried on as many people who were
not in the table.

References
----------
Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023), A unified framework for quantifying
privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.attacks.predicates import Predicates, draws_of_nothing, of_one_column, of_several_columns
from icsa.attacks.protocol import AttackResult, Tally, Targets
from icsa.attacks.tallies import NO_OUTSIDERS, not_applicable, outcome
from icsa.attacks.whom import drawn, places_of
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.measures import NotEstimable

__all__ = ["single_out"]

_COLUMNS = 3


def single_out(
    targets: Targets, *, people: int, rng: np.random.Generator
) -> tuple[AttackResult, ...]:
    """Return how often a predicate read off the release is met by exactly one person.

    Parameters
    ----------
    targets : Targets
        With `knows` predicates are about these columns only.
    people : int
        How many predicates are tried at most; they are tried on everybody.
    rng : numpy Generator

    Returns
    -------
    tuple of AttackResult
        Predicates of one column, and of three (of two where there are no more).

    Examples
    --------
    The release is the table itself: each predicate holds for one person.

    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(50, 4))
    >>> targets = Targets(features=as_features(x, x[::-1]))
    >>> one, three = single_out(targets, people=50, rng=np.random.default_rng(2))
    >>> one.right.value, three.right.value
    (1.0, 1.0)
    """
    features = targets.features
    members, outsiders = _as_many(features.original, targets.outsiders, rng)
    places = places_of(features, targets.knows) if targets.knows else np.arange(features.n_columns)
    width = min(_COLUMNS, places.size)
    kinds = (
        (1, of_one_column(features, places, people, rng)),
        (width, of_several_columns(features, places, width, people, rng)),
    )
    records = []
    for columns, predicates in kinds[: 1 + (width > 1)]:
        what = "a value" if columns == 1 else f"{columns} columns"
        about: dict[str, Any] = {"knows": "the release", "guesses": f"{what} of one person only"}
        if not predicates.size:
            reason = "no predicate holds for exactly one released row"
            records.append(not_applicable("singling out", reason=reason, **about))
            continue
        chance = draws_of_nothing(features, places, columns, predicates.size, rng)
        records.append(
            outcome(
                "singling out",
                right=_tally(predicates, members),
                control=NO_OUTSIDERS if outsiders is None else _tally(predicates, outsiders),
                naive=_tally(chance, members),
                control_is="nobody" if outsiders is None else "people who were not in the table",
                **about,
            )
        )
    return tuple(records)


def _as_many(
    original: FeatureTable, outsiders: FeatureTable | None, rng: np.random.Generator
) -> tuple[FeatureTable, FeatureTable | None]:
    """Return as many people of both kinds: the more people, the fewer are the only one."""
    if outsiders is None:
        return original, None
    size = min(original.n_rows, outsiders.n_rows)
    both = (original, outsiders)
    first, second = (
        table if table.n_rows == size else table.rows(drawn(table.n_rows, size, rng))
        for table in both
    )
    return first, second


def _tally(predicates: Predicates, people: FeatureTable) -> Tally | NotEstimable:
    """Return how many predicates exactly one person meets.

    Predicates that find the same person are not independent: with c predicates for each of those
    found, the sum of c varies like the sum of c^2, not like their number.
    """
    counts, first = predicates.met_by(people)
    found: RowNumbers = first[counts == 1]
    hits = found.size
    each: npt.NDArray[np.intp] = np.unique(found, return_counts=True)[1]
    factor = float(np.sum(each**2)) / hits if hits else 1.0
    return Tally(float(hits), predicates.size, predicates.size / factor)
