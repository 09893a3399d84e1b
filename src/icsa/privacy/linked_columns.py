"""Columns that were copied row by row: who knows one cell finds the row, and reads the others.

A value that one person alone has, and one released row, links the two. Where columns were masked, a
row's links lead to different people. Where some of them were copied together, they lead to the same
one, however many other columns were masked well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from icsa.comparison.column_pairs import Cells, RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.correlations import midranks
from icsa.matrices import Vector
from icsa.privacy.exact_rows import exact_rows
from icsa.privacy.reasons import Reason

__all__ = ["LinkedPair", "linked_columns", "of_linked_columns"]

# Larger tables are looked at in so many rows of each.
_MOST_ROWS = 100_000
# Rows with two links to one person: so many at least, and such a share of the people.
_FEWEST, _SHARE = 5, 0.02
# The chance of so many, each pair of columns counted; and how much likelier than for a random other
# person two links may lead to the same one, as somebody far out in one column is in others.
_CLEAR, _ALIKE = 1e-6, 10.0
# The chance that groups of people have both cells in common.
_OF_GROUPS = 1e-4
# Neighbours in a column, on either side, and the share of ranks within which they are near.
_NEIGHBOURS, _NEAR = 5, 0.01
# Fixed, and no secret: it chooses rows.
_SEED = 20_011


@dataclass(frozen=True)
class LinkedPair:
    """Two columns whose links lead to the same people.

    Attributes
    ----------
    columns : pair of str
    people : ndarray of int
        Whom both lead to.
    chance : float
        Of so many, for all pairs together.
    """

    columns: tuple[str, str]
    people: RowNumbers
    chance: float


def of_linked_columns(features: Features) -> tuple[Reason, ...]:
    """Return whether cells of two columns or more of one person stand in one released row."""
    pairs = linked_columns(features)
    if not pairs:
        return ()
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair.columns))
    people = np.unique(np.concatenate([pair.people for pair in pairs]))
    text = (
        f"{len(names)} columns were copied together for {people.size} people or more: values that "
        "only one person has stand in one released row with other such values of the same person "
        f"(P = {min(pair.chance for pair in pairs):.2g}). Who knows one of them learns the others"
    )
    rows = tuple(people.tolist())
    return (Reason("look again", "linked columns", text, rows, columns=names),)


def linked_columns(features: Features) -> tuple[LinkedPair, ...]:
    """Return the pairs of columns whose unique values lead from one released row to one person.

    Examples
    --------
    Two of four columns are copied row by row, the others are fresh:

    >>> from icsa.comparison.features import as_features
    >>> rng = np.random.default_rng(1)
    >>> x, released = rng.normal(size=(2, 200, 4)).round(3)
    >>> released[:, [0, 2]] = x[rng.permutation(200)][:, [0, 2]]
    >>> [pair.columns for pair in linked_columns(as_features(x, released))]
    [('number 0', 'number 2')]
    """
    rows = [_some_rows(table.n_rows) for table in (features.original, features.released)]
    n = rows[0].size
    links, ranks, names, places = [], [], [], []
    for place, column in enumerate(features.columns):
        link = _links(column.original[rows[0]], column.released[rows[1]])
        if np.count_nonzero(link >= 0) >= max(_FEWEST, _SHARE * n):
            links.append(link)
            ranks.append(midranks(np.asarray(column.original[rows[0]], float)[:, None])[:, 0])
            names.append(column.name)
            places.append(place)
    found = []
    pairs = len(names) * (len(names) - 1) // 2
    for k in range(len(names)):
        for j in range(k):
            both = (links[j] >= 0) & (links[k] >= 0)
            people = links[j][both & (links[j] == links[k])]
            if people.size < max(_FEWEST, _SHARE * n):
                continue
            people = people[_surprising(ranks[j], ranks[k])[people]]
            tried = np.count_nonzero(both)
            chance = pairs * float(bdtrc(people.size - 1, tried, min(1.0, _ALIKE / n)))
            if people.size < max(_FEWEST, _SHARE * n) or chance > _CLEAR:
                continue
            if _groups_share(features, rows, places[j], places[k]) <= _OF_GROUPS:
                found.append(LinkedPair((names[j], names[k]), rows[0][people], chance))
    return tuple(found)


def _some_rows(n: int) -> RowNumbers:
    rows = np.arange(n, dtype=np.int64)
    if n <= _MOST_ROWS:
        return rows
    return np.sort(np.random.default_rng(_SEED).choice(rows, _MOST_ROWS, replace=False))


def _links(original: Cells, released: Cells) -> RowNumbers:
    """Return for each released row the one original row with its value; -1 where none is alone."""
    n = original.size
    both = np.concatenate([original, released])
    known = ~np.isnan(both) if both.dtype.kind == "f" else both >= 0
    kinds, kind = np.unique(both, return_inverse=True)
    here = np.bincount(kind[:n][known[:n]], minlength=kinds.size)
    there = np.bincount(kind[n:][known[n:]], minlength=kinds.size)
    owner = np.full(kinds.size, -1, dtype=np.int64)
    owner[kind[:n]] = np.arange(n)
    owner[(here != 1) | (there != 1)] = -1
    return np.where(known[n:], owner[kind[n:]], -1)


def _groups_share(features: Features, rows: Sequence[RowNumbers], *places: int) -> float:
    """Return the chance of so many pairs of cells in common, by those that two originals have.

    What an employer or a region gives to all of its people recurs with others of them.
    """
    pair = [features.columns[place] for place in places]
    kinds = [
        np.unique(np.concatenate([c.original[rows[0]], c.released[rows[1]]]), return_inverse=True)
        for c in pair
    ]
    codes = np.array([kind for _, kind in kinds], dtype=np.int32)
    n = rows[0].size
    first, second = (
        FeatureTable(np.empty((0, part.shape[1])), np.ascontiguousarray(part))
        for part in (codes[:, :n], codes[:, n:])
    )
    return exact_rows(Features(first, second, tuple(pair))).chance


def _surprising(first: Vector, second: Vector) -> npt.NDArray[np.bool_]:
    """Return whose cell in either column those with nearly the same cell in the other do not have.

    Of a person whose neighbours in one column are neighbours in the other too, the one cell says
    where the other lies, in any release: dates in order, a time that is another where nothing
    happened between them.
    """
    found = np.ones(first.size, dtype=bool)
    for x, y in ((first, second), (second, first)):
        order = np.argsort(x, kind="stable")
        along = y[order]
        near = np.isnan(along)
        for step in range(1, _NEIGHBOURS + 1):
            close = np.abs(along[step:] - along[:-step]) <= max(1.0, _NEAR * x.size)
            near[step:] |= close
            near[:-step] |= close
        found[order[near]] = False
    return found
