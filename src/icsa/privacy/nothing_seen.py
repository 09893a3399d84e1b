"""The privacy of a release of which no column can be compared: nobody was looked at."""

from __future__ import annotations

import math

import numpy as np

from icsa.measures import Measure, NotEstimable
from icsa.privacy.everybody import CloserShare, Everybody, Resemblance
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.extremes import Extremes
from icsa.privacy.noticing import Noticing
from icsa.privacy.passport import PrivacyAssessment
from icsa.privacy.people_findings import Group
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Verdict
from icsa.privacy.self_test import End, EndName
from icsa.privacy.standing_out import StandingOut

__all__ = ["NOTHING", "nothing_seen"]

NOTHING = "no column of the two tables can be compared"
_NOBODY, _NO_NUMBERS = np.empty(0, dtype=np.int64), np.empty(0)


def nothing_seen(n_rows: int, n_released: int, policy: Policy | None = None) -> PrivacyAssessment:
    """Return what is known without a column: sizes, and that nothing can be trusted.

    Examples
    --------
    >>> found = nothing_seen(100, 90)
    >>> found, found.trusted
    (<PrivacyAssessment: look again, 0 people stand out of 100, 90 released rows>, False)
    """
    resemblance = Resemblance(_NOBODY, _NO_NUMBERS, _NOBODY, 0, 0.0)
    nobody = Measure.of(NotEstimable(NOTHING), name="share of people nearer to the release")
    return PrivacyAssessment(
        verdict=Verdict("look again"),
        people=(),
        standing_out=StandingOut(_NOBODY, (), _NO_NUMBERS, _NO_NUMBERS, math.inf, 0, 0),
        group=Group(nobody, 0.0, 1.0, math.nan),
        exact=ExactRows(n_rows, n_released, 0, 0, _NOBODY, 0, 0, 0, np.zeros(n_rows, np.int64)),
        everybody=Everybody(
            resemblance, resemblance, CloserShare(0.0, 0.0, 0.0, 0), _NO_NUMBERS, _NOBODY, n_rows
        ),
        extremes=Extremes(0, 0, 0, _NOBODY, _NO_NUMBERS),
        noticing=Noticing(0.0, None, 0.0, math.inf, 0),
        by_chance={},
        measures={},
        ends=(_end("shuffled copy"), _end("columns shuffled apart")),
        policy=Policy() if policy is None else policy,
        redrawn=None,
        n_rows=n_rows,
        n_released=n_released,
        n_columns=0,
    )


def _end(name: EndName) -> End:
    why = NOTHING if name == "shuffled copy" else ""
    return End(name, "look again", not why, why, {}, 0, 0)
