"""Traces that masked cells do not hide: the order of rows, gaps, columns copied together."""

from __future__ import annotations

from icsa.comparison.features import Features
from icsa.privacy.copied_gaps import of_gaps
from icsa.privacy.linked_columns import of_linked_columns
from icsa.privacy.reasons import Reason
from icsa.privacy.row_order import of_row_order

__all__ = ["of_traces"]

# A rule is a function and an entry here.
_TRACES = (of_row_order, of_gaps, of_linked_columns)


def of_traces(features: Features) -> tuple[Reason, ...]:
    """Return what leads from released rows to people besides the nearness of their cells.

    Examples
    --------
    >>> import numpy as np
    >>> from icsa.comparison.features import as_features
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(200, 4))
    >>> [reason.rule for reason in of_traces(as_features(x, x + rng.normal(size=x.shape)))]
    ['row order']
    """
    return tuple(reason for rule in _TRACES for reason in rule(features))
