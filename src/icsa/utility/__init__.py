"""Utility: what analyses lose when they are run on a release instead of the original.

One metric a function. Each returns its value, or a `icsa.measures.NotEstimable` with the reason.
"""

from __future__ import annotations

from icsa.utility.regression import (
    LeastSquares,
    coefficient_distance,
    least_squares,
    regression_loss,
)
from icsa.utility.selection import false_positive_rate, jaccard, precision, recall

__all__ = [
    "LeastSquares",
    "coefficient_distance",
    "false_positive_rate",
    "jaccard",
    "least_squares",
    "precision",
    "recall",
    "regression_loss",
]
