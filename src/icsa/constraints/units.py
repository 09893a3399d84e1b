"""Whether two columns of numbers have a unit or a meaning in common, so that an order says much."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Set

import numpy as np

from icsa.constraints.limits import LIMITS
from icsa.matrices import Vector

__all__ = ["are_comparable", "words_of_most"]

# What is measured, by words that names have: columns of two of these have no unit in common.
_DIMENSIONS: Mapping[str, str] = {
    word: dimension
    for dimension, words in {
        "time": "age year years yr yrs month months week weeks day days hour hours minute minutes",
        "mass": "weight wt kg g mg ug lb lbs gram grams mass",
        "length": "height ht length width depth diameter cm mm km inch inches metre metres meter",
        "money": "income cost costs price salary wage wages pay eur euro euros usd dollar dollars "
        "expenses expenditure spent tax",
        "pressure": "mmhg systolic diastolic sbp dbp bp",
        "share": "pct percent percentage share ratio index bmi prob probability",
        "logarithm": "log ln logarithm log10",
    }.items()
    for word in words.split()
}
# Words that say how or where something was taken, not what it is.
_GENERAL: Set[str] = {
    *("per", "the", "and", "for", "num", "number", "val", "value", "var"),
    *("mean", "avg", "max", "min", "sum", "tot", "total"),
}
_LEAST_LETTERS = 3
# Of the words above, those whose numbers mean something else than what they were made from.
_UNITLESS: Set[str] = {"share", "logarithm"}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def are_comparable(
    first: str, second: str, x: Vector, y: Vector, general: Set[str] = frozenset()
) -> bool:
    """Return whether two columns of numbers seem to have a unit in common.

    Their names have a word in common, or words of one dimension such as money; or nothing in the
    names speaks against it, they lie in the same range, and go together.

    Parameters
    ----------
    first, second : str
        Names of the columns.
    x, y : ndarray
        Their numbers, NaN where missing.
    general : set of str
        Words that say nothing, besides those that never do; see `words_of_most`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> low = rng.normal(70.0, 9.0, 200)
    >>> high = low + rng.exponential(20.0, 200)
    >>> are_comparable("pulse_rest", "pulse_stairs", low, high), are_comparable(
    ...     "age", "weight", low, high)
    (True, False)
    """
    both = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))[: LIMITS.order_rows]
    x, y = x[both], y[both]
    words, others = _words(first), _words(second)
    measures = [
        {_DIMENSIONS[word] for word in some & _DIMENSIONS.keys()} for some in (words, others)
    ]
    if measures[0] != measures[1] and (all(measures) or _UNITLESS & (measures[0] | measures[1])):
        return False
    shared = words & others - _GENERAL - general
    if (all(measures) and not _UNITLESS & measures[0]) or any(map(_is_telling, shared)):
        return True
    if _overlap(x, y) < LIMITS.order_overlap:
        return False
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1]) >= LIMITS.order_correlation


def words_of_most(names: Collection[str]) -> frozenset[str]:
    """Return the words in more than half of several names, such as those of x1, x2 and x3.

    Examples
    --------
    >>> sorted(words_of_most(["feature_1", "feature_2", "feature_3", "age"]))
    ['feature']
    """
    counts = Counter(word for name in names for word in _words(name))
    most = max(2.0, len(names) / 2)
    return frozenset(word for word, count in counts.items() if count > most)


def _is_telling(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS or word in _DIMENSIONS


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name) if not word.isdigit())


def _ranks(x: Vector) -> Vector:
    """Return ranks, their mean where numbers are equal."""
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    middles: Vector = np.cumsum(counts) - counts / 2.0
    return middles[place]


def _overlap(x: Vector, y: Vector) -> float:
    """Return how much of the range of both their middle nine tenths have in common."""
    # A quarter of each number, because differences of the largest ones overflow.
    (low, high), (lower, higher) = (np.quantile(some / 4.0, (0.05, 0.95)) for some in (x, y))
    union = max(high, higher) - min(low, lower)
    return float(max(0.0, min(high, higher) - max(low, lower)) / union) if union > 0.0 else 1.0
