"""What analyses lose, for all columns of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from icsa.assessment.asked import Asked, Failed, Tasks, run_tasks
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.matching import Comparison
from icsa.errors import InputError
from icsa.measures import NotEstimable
from icsa.utility.chance import AgainstChance
from icsa.utility.distinguish import distinguishability
from icsa.utility.estimates import AnalysisComparison
from icsa.utility.margins import Margin, compare_margins
from icsa.utility.models import fit_models, run_analysis
from icsa.utility.pair_differences import PairComparison, compare_pairs
from icsa.utility.principal import PrincipalPicture, principal_picture

__all__ = ["Usefulness", "measure_usefulness"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Usefulness:
    """What analyses lose on a release.

    Attributes
    ----------
    margins : tuple
        One for each compared column.
    pairs : PairComparison
    whole : mapping of str to AgainstChance
        Measures of the whole table, by their names in files.
    picture : PrincipalPicture or NotEstimable
        Points of people: for an internal report only.
    models : tuple of AnalysisComparison or Failed
    tasks : Tasks
    """

    margins: tuple[Margin, ...]
    pairs: PairComparison
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
    progress("telling the tables apart", 0.8)
    whole = _of_the_whole(columns)
    picture = principal_picture(columns, max_points=1_000)
    progress("running analyses", 0.9)
    original, released = comparison.original.frame, _in_types_of_the_original(comparison)
    fitted = [_fitted(original, released, formula) for formula in asked.models]
    fitted += [
        run_analysis(original, released, analysis, name=name)
        for name, analysis in asked.analyses.items()
    ]
    progress("learning from both tables", 0.95)
    return Usefulness(
        margins=margins,
        pairs=pairs,
        whole=whole,
        picture=picture,
        models=tuple(fitted),
        tasks=run_tasks(asked, comparison),
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


def _in_types_of_the_original(comparison: Comparison) -> pl.DataFrame:
    """Return the release with numbers where the original has numbers and the release text."""
    frame, original = comparison.released.frame, comparison.original.frame
    return frame.with_columns(
        pl.Series(column.name, column.released, nan_to_null=True)
        for column in comparison.columns
        if column.levels is None
        and original.schema[column.name].is_numeric()
        and not frame.schema[column.name].is_numeric()
    )


def _fitted(
    original: pl.DataFrame, released: pl.DataFrame, formula: str
) -> AnalysisComparison | Failed:
    """Return a fitted formula; a formula that cannot be read or fitted is the user's to correct."""
    try:
        return fit_models(original, released, formula)
    except InputError as error:
        if "in the original but not in the release" in str(error):
            return Failed(formula, str(error))
        raise
