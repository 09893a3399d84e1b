"""Privacy: how much of a person, above all of one who stands out, can be found in a release.

`assess_privacy` puts everything together. One metric a function, in the module that is named after
it; each returns its value, or a `icsa.measures.NotEstimable` with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icsa.lazily import imported_when_asked

if TYPE_CHECKING:
    from icsa.comparison.features import Features, FeatureTable, as_features
    from icsa.privacy.costs import Cost, estimate_cost
    from icsa.privacy.passport import Person, PrivacyAssessment, assess_privacy
    from icsa.privacy.policy import Policy, Threshold
    from icsa.privacy.reasons import Reason, Verdict
    from icsa.privacy.replication import (
        mean_replication_error,
        outlier_replication_error,
        replication_errors,
        replication_measure,
    )

__all__ = [
    "Cost",
    "FeatureTable",
    "Features",
    "Person",
    "Policy",
    "PrivacyAssessment",
    "Reason",
    "Threshold",
    "Verdict",
    "as_features",
    "assess_privacy",
    "estimate_cost",
    "mean_replication_error",
    "outlier_replication_error",
    "replication_errors",
    "replication_measure",
]

_HOMES = {
    "Cost": "costs",
    "FeatureTable": "icsa.comparison.features",
    "Features": "icsa.comparison.features",
    "Person": "passport",
    "Policy": "policy",
    "PrivacyAssessment": "passport",
    "Reason": "reasons",
    "Threshold": "policy",
    "Verdict": "reasons",
    "as_features": "icsa.comparison.features",
    "assess_privacy": "passport",
    "estimate_cost": "costs",
    "mean_replication_error": "replication",
    "outlier_replication_error": "replication",
    "replication_errors": "replication",
    "replication_measure": "replication",
}

__getattr__ = imported_when_asked(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
