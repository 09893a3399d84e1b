"""Copies: released rows and extreme values that are an original's own, cell by cell."""

from __future__ import annotations

import numpy as np

from icsa.comparison.features import Features
from icsa.measures import Measure, NotEstimable
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.people_findings import share_measure

__all__ = ["copied_row_measures", "verbatim_extremes"]


def copied_row_measures(exact: ExactRows) -> dict[str, Measure]:
    """Return the measures of rows that are equal in every cell, by name; 0 copied rows is good.

    The number and the share of released rows that equal an original row (IMS), the share of the
    original's unique rows that occur in the release, with intervals of Clopper and Pearson, and
    the probability that fresh people would give so many of these.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.exact_rows import exact_rows
    >>> both = as_features([[1.0], [1.0], [2.0], [3.0]], [[3.0], [1.0]])
    >>> measures = copied_row_measures(exact_rows(both))
    >>> {name: measure.value for name, measure in measures.items()}
    {'verbatim_rows': 2.0, 'identical_match_share': 1.0, 'replicated_uniques': 0.5, \
'exact_rows_chance': 1.0}
    """
    copied, n = exact.copied, exact.n_released
    return {
        "verbatim_rows": Measure.of(
            float(copied), name="verbatim rows", direction="lower is safer", n=n
        ),
        "identical_match_share": share_measure(copied, n, "identical match share (IMS)"),
        "replicated_uniques": _replicated(exact),
        "exact_rows_chance": Measure.of(
            exact.chance, name="P of so many exact rows", direction="higher is safer", n=exact.n
        ),
    }


def verbatim_extremes(features: Features) -> Measure:
    """Return how many unique largest or smallest values of a column the release holds; 0 is good.

    `n` is the number of columns' ends that only one person has.

    Examples
    --------
    The largest value 9 is released; the smallest, 1, belongs to two people and counts for nothing.

    >>> from icsa.comparison.features import as_features
    >>> measure = verbatim_extremes(as_features([[1.0], [1.0], [4.0], [9.0]], [[2.0], [9.0]]))
    >>> measure.value, measure.n
    (1.0, 1)
    """
    n_ends, n_released = 0, 0
    columns = zip(features.original.numbers, features.released.numbers, strict=True)
    for column, released in columns:
        cells = column[~np.isnan(column)]
        if not cells.size or cells.min() == cells.max():
            continue
        for end in (cells.min(), cells.max()):
            if int(np.sum(cells == end)) == 1:
                n_ends += 1
                n_released += bool(np.any(released == end))
    value = float(n_released) if n_ends else NotEstimable("no column has an end of one person only")
    return Measure.of(value, name="verbatim extremes", direction="lower is safer", n=n_ends)


def _replicated(exact: ExactRows) -> Measure:
    if not exact.unique:
        return Measure.of(
            NotEstimable("no row of the original is unique"),
            name="replicated uniques",
            direction="lower is safer",
        )
    return share_measure(exact.matched.size, exact.unique, "replicated uniques")
