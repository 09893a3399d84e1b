"""Key variables: columns by which people can be recognised, and how few share the same ones.

The cells of the keys together are a combination. Who is the only one with a combination in the
original is a sample unique; if the same combination is in the release, that may be this person, or
somebody else by chance. A fresh table of m people holds a combination with probability
1 - (1 - q)^m, q being its share among all people. For a unique combination q is not known; its mean
over all N1 uniques among n people is, by Good and Turing, 2 N2 / (n N1), N2 being the number of
combinations that two people have.

References
----------
Good, I. J. (1953), Biometrika 40, 237-264.
Samarati, P. (2001), IEEE Transactions on Knowledge and Data Engineering 13, 1010-1027.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.attacks.whom import places_of
from icsa.comparison.features import Features, FeatureTable
from icsa.errors import InputError

__all__ = ["KeyVariables", "key_variables"]

_Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class KeyVariables:
    """How people are told apart by their keys.

    Attributes
    ----------
    keys : tuple of str
    smallest : int
        k of k-anonymity: how many released rows share the rarest combination.
    unique_original, unique_released : int
        Rows that are the only one with their combination.
    recurring : int
        Unique originals whose combination is in the release.
    expected : float
        How many of them would be there in a fresh table of people of the same kind.
    rows, released_rows : int
        Of the two tables.
    """

    keys: tuple[str, ...]
    smallest: int
    unique_original: int
    unique_released: int
    recurring: int
    expected: float
    rows: int
    released_rows: int


def key_variables(features: Features, keys: Sequence[str]) -> KeyVariables:
    """Return k-anonymity of the release, sample uniques, and how many recur in the release.

    Cells are taken as they stand; missing is a value of its own.

    Parameters
    ----------
    features : Features
    keys : sequence of str
        Names of columns.

    Examples
    --------
    Ages and sexes. (30, 0) is the only one of its kind in the original and in the release; (40, 1)
    is shared by two in either.

    >>> from icsa.comparison.features import as_features
    >>> original, codes = [[30.0], [40.0], [40.0], [50.0]], [[0], [1], [1], [0]]
    >>> released, other = [[30.0], [40.0], [40.0], [60.0]], [[0], [1], [1], [0]]
    >>> both = as_features(
    ...     original, released, names=["age"], original_codes=codes, released_codes=other,
    ...     category_names=["sex"],
    ... )
    >>> found = key_variables(both, ["age", "sex"])
    >>> found.smallest, found.unique_original, found.unique_released, found.recurring
    (1, 2, 2, 1)
    """
    if not keys:
        raise InputError("Name one key variable or more.")
    places = places_of(features, keys)
    first, second = _combinations(features, places)
    n, m = first.size, second.size
    levels = int(max(first.max(), second.max())) + 1
    mine, theirs = (np.bincount(part, minlength=levels) for part in (first, second))
    alone = mine == 1
    return KeyVariables(
        keys=tuple(features.names[place] for place in places),
        smallest=int(theirs[theirs > 0].min()),
        unique_original=int(alone.sum()),
        unique_released=int((theirs == 1).sum()),
        recurring=int((alone & (theirs > 0)).sum()),
        expected=_expected(mine, n, m),
        rows=n,
        released_rows=m,
    )


def _expected(counts: _Integers, n: int, m: int) -> float:
    """Return how many of the unique combinations a fresh table of m people would hold."""
    unique, twice = int((counts == 1).sum()), int((counts == 2).sum())
    if not unique:
        return 0.0
    share = min(1.0, 2.0 * twice / (unique * n))
    return float(unique * -np.expm1(m * np.log1p(-share))) if share < 1.0 else float(unique)


def _combinations(features: Features, places: npt.NDArray[np.intp]) -> tuple[_Integers, _Integers]:
    """Return a number for each row of both tables: the same for the same cells in all keys."""
    n = features.original.n_rows
    number = np.zeros(n + features.released.n_rows, dtype=np.int64)
    for place in places.tolist():
        cells = np.concatenate(
            [_column(table, place) for table in (features.original, features.released)]
        )
        codes = np.unique(cells, return_inverse=True, equal_nan=True)[1].astype(np.int64)
        pairs = number * (int(codes.max()) + 1) + codes
        number = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return number[:n], number[n:]


def _column(table: FeatureTable, place: int) -> np.ndarray:
    p = table.numbers.shape[0]
    cells = table.numbers[place] if place < p else table.codes[place - p]
    return np.asarray(cells, dtype=np.float64)
