"""What was found in a sample of a long table, held against all of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from icsa.constraints.computing import Computed, own_missing
from icsa.constraints.derived_columns import ColumnFacts, Derived, fit_derived, is_computable
from icsa.constraints.fitting import tolerances
from icsa.constraints.gaps import Gap, gap_between
from icsa.constraints.limits import LIMITS
from icsa.constraints.linear import LinearRelation
from icsa.matrices import Vector

__all__ = ["gap_in_all", "relation_in_all"]


def relation_in_all(
    one: Computed, numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts]
) -> Computed | None:
    """Return a column that others give, with what all rows say of it; None where they do not.

    Only its own columns are looked at.
    """
    if isinstance(one, Derived):
        found = fit_derived(one.target, one.expression.text, numbers, facts)
        kept = found is not None and found.share >= LIMITS.least_share
        return found if kept and found is not None and is_computable(found, numbers) else None
    assert isinstance(one, LinearRelation)
    return _linear_in_all(one, numbers, facts[one.target].step)


def _linear_in_all(
    one: LinearRelation, numbers: Mapping[str, Vector], step: float | None
) -> LinearRelation | None:
    target, predicted = numbers[one.target], one.predict(numbers)
    there = ~np.isnan(target)
    both = there & ~np.isnan(predicted)
    if not np.array_equal(both, there):  # cells that could not be computed
        return None
    terms = np.column_stack([numbers[name][both] for name in one.sources])
    slopes = np.array([factor for _, factor in one.terms])
    allowed = tolerances(target[both], terms, slopes, step)
    share = float(np.mean(np.abs(target[both] - predicted[both]) <= allowed))
    if share < LIMITS.least_share:
        return None
    missing = int(np.count_nonzero(~there)) if own_missing(one, numbers).any() else 0
    return replace(one, share=share, covered=1.0, missing=missing)


def gap_in_all(gap: Gap, numbers: Mapping[str, Vector]) -> Gap | None:
    """Return a gap with what all rows say of it; None where it is no way to code its column.

    Examples
    --------
    >>> days = {"ill": np.array([1.0, 5.0]), "well": np.array([4.0, 2.0])}
    >>> gap_in_all(Gap(("ill",), "well", share=0.0, ordered=True), days) is None
    True
    """
    rest = gap.forward(numbers)
    ordered = gap.ordered and not np.any(rest < 0.0)  # never true of NaN
    found = gap_between(numbers, gap.bases, gap.other, ordered=ordered)
    return found if ordered or found.share >= LIMITS.least_equal else None
