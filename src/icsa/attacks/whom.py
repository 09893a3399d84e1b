"""Whom an attack is tried on: some of the people in the table, and some of those who are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.attacks.protocol import ControlIs, Targets
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.errors import UnknownNameError

__all__ = ["Whom", "drawn", "places_of", "whom"]


@dataclass(frozen=True, eq=False, repr=False)
class Whom:
    """People in the table and people who are not, as many as are tried.

    Attributes
    ----------
    original, released : FeatureTable
    rows : ndarray of shape (n_members,)
        Row numbers of the members in the original, in their order.
    members : FeatureTable
    outsiders : FeatureTable, optional
    """

    original: FeatureTable
    released: FeatureTable
    rows: RowNumbers
    members: FeatureTable
    outsiders: FeatureTable | None

    @property
    def control_is(self) -> ControlIs:
        """Who the control are, for attacks that can be tried within the original."""
        if self.outsiders is None:
            return "the original without the person"
        return "people who were not in the table"

    def __repr__(self) -> str:
        """Show sizes only."""
        others = 0 if self.outsiders is None else self.outsiders.n_rows
        return f"<Whom: {self.rows.size} members, {others} outsiders>"


def whom(targets: Targets, people: int, rng: np.random.Generator) -> Whom:
    """Return the people to be tried, at most `people` of either kind, drawn without replacement.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> features = as_features([[1.0], [2.0], [3.0]], [[1.0]])
    >>> whom(Targets(features=features), 2, np.random.default_rng(1))
    <Whom: 2 members, 0 outsiders>
    """
    original = targets.features.original
    rows = drawn(original.n_rows, people, rng)
    outsiders = targets.outsiders
    if outsiders is not None:
        outsiders = outsiders.rows(drawn(outsiders.n_rows, people, rng))
    return Whom(original, targets.features.released, rows, original.rows(rows), outsiders)


def drawn(n_rows: int, most: int, rng: np.random.Generator) -> RowNumbers:
    """Return numbers of at most so many rows, drawn at random, in their order.

    Examples
    --------
    >>> drawn(3, 5, np.random.default_rng(1))
    array([0, 1, 2])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=most, replace=False, shuffle=False))


def places_of(features: Features, names: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the places of columns by their names, in the table's order.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> places_of(as_features([[1.0, 2.0]], [[1.0, 2.0]], names=["age", "bmi"]), ["bmi"])
    array([1])
    """
    known = {name: place for place, name in enumerate(features.names)}
    for name in names:
        if name not in known:
            raise UnknownNameError("column", name, list(known))
    return np.array(sorted({known[name] for name in names}), dtype=np.intp)
