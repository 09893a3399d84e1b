"""Privacy: how much of a person, above all of one who stands out, can be found in a release.

One metric a function. Each returns its value, or a `icsa.measures.NotEstimable` with the reason.
"""

from __future__ import annotations

from icsa.privacy.replication import (
    mean_replication_error,
    outlier_replication_error,
    replication_errors,
    replication_measure,
)

__all__ = [
    "mean_replication_error",
    "outlier_replication_error",
    "replication_errors",
    "replication_measure",
]
