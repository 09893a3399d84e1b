"""What a known recipe does once more, on the sample: rehearsed on halves, and under fresh keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from icsa.assessment.blocks.large_comparison import LargeComparison
from icsa.assessment.blocks.unit_comparison import LargeUnitComparison
from icsa.assessment.controls import Control
from icsa.assessment.fresh_releases import FEWEST_REDRAWS, Before, how_before
from icsa.assessment.rehearsal import ControlledBy, how_controlled
from icsa.privacy import Policy
from icsa.privacy.before_release import RedrawnRisk
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.passport import risk_over_keys
from icsa.privacy.people import measure_surroundings
from icsa.privacy.reasons import WORDS
from icsa.privacy.standing_out import standing_out
from icsa.release import Plan
from icsa.release.design_plans import DesignPlan
from icsa.schema import Schema
from icsa.tables import Table

__all__ = ["MadeAgain", "MadeBy", "how_made_again"]

# From the sample and what its columns are: the plan that the release was made by, and a note on it.
# None where a sample cannot be released so, and nobody insists.
MadeBy: TypeAlias = Callable[[Table, Schema], tuple[Plan | DesignPlan | None, str]]

_NOT_OF_PEOPLE = (
    "The risk of single people before any key is drawn is not given for tables in files."
)


@dataclass(frozen=True, eq=False, repr=False)
class MadeAgain:
    """How the sample is released again.

    Attributes
    ----------
    comparison : LargeComparison or LargeUnitComparison
        Of the sample.
    before : Before
    by : ControlledBy
        What finds the control.
    note : str
        By which recipe, where one is known.
    """

    comparison: LargeComparison | LargeUnitComparison
    before: Before
    by: ControlledBy
    note: str

    def controlled(self, told: Callable[[str, float], None]) -> Control:
        """Return the control; a rehearsal says that it is one of the sample."""
        found = self.by(told)
        if found.kind != "rehearsal" or not self.comparison.is_sampled:
            return found
        words = f"of a sample of {self.comparison.sample_in_words}, {found.words}"
        return replace(found, words=words)

    def over_keys(self, policy: Policy, told: Callable[[str, float], None]) -> RedrawnRisk | None:
        """Return what fresh keys give for whoever stands out in the sample; None if not asked."""
        redraw, count = self.before.redraw, self.before.n_redraws
        if redraw is None:
            return None

        def drawn(number: int) -> Any:
            told("releasing again under fresh keys", 0.3 * number / count)
            return redraw(number)

        lenses = fit_lenses(self.comparison.features)
        around = measure_surroundings(lenses, standing_out(lenses))
        return risk_over_keys(lenses, around, drawn, count, policy)

    def notes(self, redrawn: RedrawnRisk | None) -> str:
        """Return what is to be said of the risk before any key."""
        if redrawn is None and self.before.note and self.comparison.is_sampled:
            return (
                "Not tried under fresh keys, as the table is large. Ask for that by --redraws "
                f"{FEWEST_REDRAWS}; each takes as long as a release of "
                f"{self.comparison.sample_in_words}."
            )
        if redrawn is None:
            return self.before.note
        counts = ", ".join(f'{redrawn.words.count(word)} "{word}"' for word in WORDS)
        return (
            f"{self.comparison.sample_in_words} drawn at random were released under "
            f"{len(redrawn.words)} fresh keys: {counts}. {_NOT_OF_PEOPLE}"
        )


def how_made_again(
    comparison: LargeComparison | LargeUnitComparison,
    made_by: MadeBy | None,
    *,
    rehearse: int | None,
    redraws: int,
    holdout: Table | None,
) -> MadeAgain:
    """Return how the sample is released again; what cannot be is refused here, before the work.

    Parameters are those of `icsa.assessment.blocks.Wanted`.
    """
    plan, note = None, ""
    if made_by is not None:
        sample = comparison.by_row if isinstance(comparison, LargeUnitComparison) else comparison
        plan, note = made_by(sample.original, sample.schema)
    before = how_before(comparison, plan, redraws)
    return MadeAgain(comparison, before, how_controlled(comparison, plan, rehearse, holdout), note)
