"""Which cells are missing, person by person: a pattern that only one has is as good as a name."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.comparison.features import Features, FeatureTable
from icsa.privacy.exact_rows import ExactRows, exact_rows
from icsa.privacy.reasons import Reason

__all__ = ["gap_patterns", "of_gaps"]

# The chance of so many patterns in common, as rows that are equal by chance tell it.
_CLEAR = 0.001


def of_gaps(features: Features) -> tuple[Reason, ...]:
    """Return whether more people's own patterns of gaps are released than chance explains."""
    found = gap_patterns(features)
    if found is None or found.chance > _CLEAR:
        return ()
    text = (
        f"{found.matched.size} of the {found.unique} people whose missing cells are those of "
        "nobody else have the same ones missing in a released row; chance would give about "
        f"{found.expected:.0f} (P = {found.chance:.2g}). Who knows what is missing finds them"
    )
    return (Reason("look again", "gaps", text, tuple(found.matched.tolist())),)


def gap_patterns(features: Features) -> ExactRows | None:
    """Return how patterns of missing cells recur; None where the original has no gaps.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> nan = np.nan
    >>> gaps = [[1.0, nan, 3.0], [1.0, 2.0, 3.0], [nan, nan, 3.0], [1.0, 2.0, 4.0]]
    >>> found = gap_patterns(as_features(gaps, [[9.0, nan, 9.0], [8.0, 8.0, 8.0]]))
    >>> found.unique, found.matched.tolist()
    (2, [0])
    """
    missing = [_missing(table) for table in (features.original, features.released)]
    some = np.flatnonzero(missing[0].any(axis=1))
    if not some.size:
        return None
    first, second = (
        FeatureTable(np.empty((0, gaps.shape[1])), gaps[some].astype(np.int32)) for gaps in missing
    )
    return exact_rows(Features(first, second, tuple(features.columns[j] for j in some)))


def _missing(table: FeatureTable) -> npt.NDArray[np.bool_]:
    return np.vstack([np.isnan(table.numbers), table.codes < 0])
