"""Copies: released rows and extreme values that are an original's own, cell by cell."""

from __future__ import annotations

from icsa.measures import Measure, NotEstimable
from icsa.privacy.everybody import Everybody
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.extremes import Extremes
from icsa.privacy.people_findings import share_measure

__all__ = ["copied_row_measures", "resemblance_measures", "verbatim_extremes"]


def copied_row_measures(exact: ExactRows) -> dict[str, Measure]:
    """Return the measures of rows that are equal in every cell, by name.

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


def resemblance_measures(found: Everybody) -> dict[str, Measure]:
    """Return what the resemblance of everybody comes to, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.everybody import look_at_everybody
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.random.default_rng(1).normal(size=(60, 5))
    >>> measures = resemblance_measures(look_at_everybody(fit_lenses(as_features(x, x))))
    >>> measures["closer_share"].value, measures["equal_cells_chance"].value < 0.005
    (1.0, True)
    """
    closer = found.closer
    return {
        "equal_cells_chance": Measure.of(
            found.equal.chance,
            name="P of rare cells in common",
            direction="higher is safer",
            n=found.equal.looked_at,
        ),
        "near_cells_chance": Measure.of(
            found.near.chance,
            name="P of near cells",
            direction="higher is safer",
            n=found.near.looked_at,
        ),
        "closer_share": Measure.of(
            closer.share, name="closer share", direction="lower is safer", n=closer.n
        ),
    }


def verbatim_extremes(found: Extremes) -> Measure:
    """Return how many unique largest or smallest values of a column the release holds.

    `n` is the number of columns' ends that only one person has.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.extremes import verbatim_ends
    >>> both = as_features([[1.0], [1.0], [4.0], [9.0]], [[2.0], [9.0]])
    >>> measure = verbatim_extremes(verbatim_ends(both))
    >>> measure.value, measure.n
    (1.0, 1)
    """
    value: float | NotEstimable = float(found.released_ends)
    if not found.ends:
        value = NotEstimable("no column has an end of one person only")
    return Measure.of(value, name="verbatim extremes", direction="lower is safer", n=found.ends)


def _replicated(exact: ExactRows) -> Measure:
    if not exact.unique:
        return Measure.of(
            NotEstimable("no row of the original is unique"),
            name="replicated uniques",
            direction="lower is safer",
        )
    return share_measure(exact.matched.size, exact.unique, "replicated uniques")
