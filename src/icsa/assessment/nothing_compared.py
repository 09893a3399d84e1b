"""Two tables of which no column can be compared: what is said of them, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icsa.assessment.asked import Tasks
from icsa.assessment.privacy_words import MEASURES
from icsa.assessment.sameness import another_table
from icsa.assessment.usefulness import Usefulness
from icsa.comparison.matching import Comparison
from icsa.measures import Measure, NotEstimable
from icsa.privacy import Policy
from icsa.privacy.nothing_seen import NOTHING, nothing_seen
from icsa.privacy.reasons import Verdict
from icsa.privacy.verdict import verdict_of_release
from icsa.utility.beyond_range import values_beyond_range
from icsa.utility.chance import AgainstChance
from icsa.utility.lost_curves import lost_curves
from icsa.utility.pair_differences import compare_pairs

__all__ = ["nothing_compared"]


def nothing_compared(comparison: Comparison, policy: Policy | None) -> Mapping[str, Any]:
    """Return what `icsa.Assessment` holds about two tables without a column to compare.

    The word is "look again", as they do not look like a table and its release. Only identifiers and
    texts that were released as they are say more: they are somebody's, whatever else is there.

    Parameters
    ----------
    comparison : Comparison
        Without columns.
    policy : Policy, optional
    """
    files = comparison.files
    (n, _), (m, _) = comparison.shapes
    privacy = nothing_seen(n, m, policy)
    found = verdict_of_release(
        Verdict("release"), privacy.policy, n_released=m, as_they_are=comparison.as_they_are
    )
    found = another_table(files, found)
    return {
        "verdict": found.word,
        "reasons": found.reasons,
        "privacy": privacy,
        "measures": {key: _unknown(words.label) for key, words in MEASURES.items()},
        "ends": dict.fromkeys(MEASURES, (None, None)),
        "utility": Usefulness(
            margins=(),
            pairs=compare_pairs(()),
            curves=lost_curves(()),
            beyond=values_beyond_range(()),
            whole={name: AgainstChance(measure=_unknown(name)) for name in ("pmse", "s_pmse")},
            picture=NotEstimable(NOTHING),
            models=(),
            tasks=Tasks(),
        ),
        "tables": comparison,
    }


def _unknown(name: str) -> Measure:
    return Measure.of(NotEstimable(NOTHING), name=name)
