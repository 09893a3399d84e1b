"""Parts of trajectories: rows of people with several, such as visits, that the release repeats.

A released person who is nobody as a whole may hold visits of somebody. Every row of the original is
held against all released rows, and every two rows of a person that are near in time against all
such pairs: few columns tell one visit from others, but two visits together. What chance gives is
seen against one row, or pair, of everybody else: see `icsa.privacy.everybody.look_at_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.comparison.column_pairs import ColumnPair, RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.measures import Measure
from icsa.privacy.everybody import Resemblance, look_at_rows
from icsa.privacy.reasons import Reason, Word

__all__ = ["CopiedVisits", "copied_visits", "of_copied_visits"]

# Cells of pairs of rows that are compared: a second or so.
_WORK = 2_000_000_000
_FEWEST = 400
# Two rows of a person make a pair when at most two others are between them.
_LAGS = (1, 2, 3)
# Fixed, and no secret: it chooses one row of everybody.
_SEED = 20_015


class _Looked(NamedTuple):
    """Rows or pairs that were looked at: what was found, and whose they are."""

    found: Resemblance
    unit: RowNumbers


@dataclass(frozen=True, eq=False, repr=False)
class CopiedVisits:
    """Which rows the release repeats.

    Attributes
    ----------
    looked : tuple
        At single rows, and at pairs where people have two.
    n_rows : int
        Of the original.
    """

    looked: tuple[_Looked, ...]
    n_rows: int

    @property
    def chance(self) -> float:
        """The joint p of rows and of pairs; the smaller counts so many times as there are."""
        return min(1.0, len(self.looked) * min(each.found.chance for each in self.looked))

    def found(self, level: float) -> RowNumbers:
        """Return the units whose rows, or pairs of rows, make a joint p at most `level`."""
        share = level / len(self.looked)
        return np.unique(
            np.concatenate([each.unit[each.found.found(share)] for each in self.looked])
        )

    @property
    def measure(self) -> Measure:
        """The joint p of all rows that were looked at."""
        return Measure.of(
            self.chance,
            name="P of rows in common",
            direction="higher is safer",
            n=self.looked[0].found.looked_at,
        )

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<CopiedVisits: {self.n_rows} rows>"


def copied_visits(
    features: Features, unit: RowNumbers, released_unit: RowNumbers, *, threads: int = 1
) -> CopiedVisits:
    """Return which rows of the original the release repeats, and how likely that is by chance.

    Parameters
    ----------
    features : Features
        Rows of the original and of the release, with columns of rows only.
    unit, released_unit : ndarray
        Whose rows they are, counted from 0; rows of a unit stand together.
    threads : int

    Examples
    --------
    Somebody else was given two visits of the first person:

    >>> from icsa.comparison.features import as_features
    >>> rng = np.random.default_rng(1)
    >>> x, released = rng.normal(size=(2, 200, 4))
    >>> released[40:42] = x[0:2]
    >>> own = np.arange(200) // 4
    >>> copied_visits(as_features(x, released), own, own).found(0.001)
    array([0])
    """
    looked = [_looked_at(features, unit, threads)]
    pairs, released_pairs = _pairs(unit), _pairs(released_unit)
    if np.unique(unit[pairs[0]]).size > 1 and released_pairs[0].size:
        both = Features(
            _side_by_side(features.original, *pairs),
            _side_by_side(features.released, *released_pairs),
            (
                *_twice(features.columns[: features.n_numbers]),
                *_twice(features.columns[features.n_numbers :]),
            ),
        )
        looked.append(_looked_at(both, unit[pairs[0]], threads))
    return CopiedVisits(tuple(looked), unit.size)


def of_copied_visits(limits: Mapping[str, float], visits: CopiedVisits) -> list[Reason]:
    """Return whether rows were copied, with the people they are of."""
    chance = visits.chance
    if chance > limits["equal_look"]:
        return []
    people = visits.found(limits["equal_look"])
    text = (
        f"Rows of {people.size} people, alone or two together, have cells in common with released "
        f"rows that are too rare together for chance (joint P = {chance:.2g}): parts of these "
        "people are in the release"
    )
    word: Word = "do not release" if chance <= limits["equal_stop"] else "look again"
    return [Reason(word, "parts of trajectories", text, tuple(people.tolist()))]


def _looked_at(features: Features, unit: RowNumbers, threads: int) -> _Looked:
    """Return what is found of rows or pairs, whose units stand together."""
    number = np.unique(unit, return_inverse=True)[1].astype(np.int64)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.diff(np.append(starts, number.size))
    rng = np.random.default_rng(_SEED)
    others = starts + (rng.random(starts.size) * sizes).astype(np.int64)
    work = (others.size + features.released.n_rows) * max(1, features.n_columns)
    most = max(_FEWEST, _WORK // work)
    found = look_at_rows(features, number, others, most=most, threads=threads)
    return _Looked(found, unit)


def _pairs(unit: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
    """Return every two rows of a unit that are near each other, those of a unit together."""
    first, second = [], []
    for lag in _LAGS:
        early = np.flatnonzero(unit[:-lag] == unit[lag:])
        first.append(early)
        second.append(early + lag)
    every, later = np.concatenate(first), np.concatenate(second)
    order = np.argsort(unit[every], kind="stable")
    return every[order], later[order]


def _side_by_side(table: FeatureTable, first: RowNumbers, second: RowNumbers) -> FeatureTable:
    return FeatureTable(
        np.vstack([table.numbers[:, first], table.numbers[:, second]]),
        np.vstack([table.codes[:, first], table.codes[:, second]]),
    )


def _twice(columns: tuple[ColumnPair, ...]) -> tuple[ColumnPair, ...]:
    none = np.empty(0)
    return tuple(
        ColumnPair(f"{c.name} {place}", none, none, c.levels, c.grid)
        for place in (1, 2)
        for c in columns
    )
