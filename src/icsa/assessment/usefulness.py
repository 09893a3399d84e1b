"""What analyses lose, for all columns of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from icsa.assessment.analyses import analyses_of_the_design, fitted, in_types_of_the_original
from icsa.assessment.asked import Asked, Failed, Tasks, run_tasks
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.matching import Comparison
from icsa.measures import NotEstimable
from icsa.utility.beyond_range import BeyondRange, values_beyond_range
from icsa.utility.chance import AgainstChance
from icsa.utility.distinguish import distinguishability
from icsa.utility.estimates import AnalysisComparison
from icsa.utility.lost_curves import CurveScreen, lost_curves
from icsa.utility.margins import Margin, compare_margins
from icsa.utility.models import run_analysis
from icsa.utility.pair_differences import PairComparison, compare_pairs
from icsa.utility.principal import PrincipalPicture, principal_picture

__all__ = ["Usefulness", "fitted_models", "measure_usefulness"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Usefulness:
    """What analyses lose on a release.

    Attributes
    ----------
    margins : tuple
        One for each compared column.
    pairs : PairComparison
    curves : CurveScreen
        Squares and products that lost their effect.
    beyond : BeyondRange
        Numbers that lie beyond the original's: for an internal report only.
    whole : mapping of str to AgainstChance
        Measures of the whole table, by their names in files.
    picture : PrincipalPicture or NotEstimable
        Points of people: for an internal report only.
    models : tuple of AnalysisComparison or Failed
    tasks : Tasks
    """

    margins: tuple[Margin, ...]
    pairs: PairComparison
    curves: CurveScreen
    beyond: BeyondRange
    whole: Mapping[str, AgainstChance]
    picture: PrincipalPicture | NotEstimable
    models: tuple[AnalysisComparison | Failed, ...]
    tasks: Tasks

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Usefulness: {len(self.margins)} columns, {len(self.models)} models>"


def measure_usefulness(
    comparison: Comparison, asked: Asked, *, progress: Callable[[str, float], None]
) -> Usefulness:
    """Return margins, pairs, whole-table measures and what was asked for of a comparison."""
    columns = comparison.columns
    progress("comparing columns", 0.6)
    margins = compare_margins(columns)
    progress("comparing pairs of columns", 0.7)
    pairs = compare_pairs(columns)
    curves = lost_curves(columns)
    progress("telling the tables apart", 0.8)
    whole = _of_the_whole(columns)
    picture = principal_picture(columns, max_points=1_000)
    progress("running analyses", 0.9)
    models = (
        *analyses_of_the_design(comparison, asked.design),
        *fitted_models(comparison, asked),
    )
    progress("learning from both tables", 0.95)
    return Usefulness(
        margins=margins,
        pairs=pairs,
        curves=curves,
        beyond=values_beyond_range(columns),
        whole=whole,
        picture=picture,
        models=models,
        tasks=run_tasks(asked, comparison),
    )


def fitted_models(comparison: Comparison, asked: Asked) -> tuple[AnalysisComparison | Failed, ...]:
    """Return the models and other analyses that were asked for, on both tables."""
    tables = comparison.files.original.frame, in_types_of_the_original(comparison.files)
    return (
        *(fitted(comparison, formula, asked.design) for formula in asked.models),
        *(run_analysis(*tables, analysis, name=name) for name, analysis in asked.analyses.items()),
    )


def _of_the_whole(columns: Sequence[ColumnPair]) -> dict[str, AgainstChance]:
    """Return the measures of the whole table, each beside what a second sample would give.

    A new one gets a file of its own and a line here.
    """
    told_apart = distinguishability(columns)
    return {
        "pmse": AgainstChance(measure=told_apart.pmse, expected=told_apart.expected),
        "s_pmse": AgainstChance(
            measure=told_apart.standardized, expected=told_apart.standardized_of_a_sample
        ),
    }
