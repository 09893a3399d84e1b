"""Which way an analysis is made: as the table's design asks for, on the tables as they are."""

from __future__ import annotations

import numpy as np
import polars as pl

from icsa.assessment.asked import Failed
from icsa.comparison.matching import Comparison
from icsa.comparison.unit_matching import UnitComparison
from icsa.errors import InputError
from icsa.schema import Design
from icsa.utility.design_estimates import SampleDesign, fit_design_models, weighted_means
from icsa.utility.estimates import AnalysisComparison
from icsa.utility.mixed_models import fit_mixed_models, is_mixed
from icsa.utility.models import fit_models
from icsa.utility.unit_statistics import compare_units

__all__ = ["analyses_of_the_design", "fitted", "in_types_of_the_original"]


def fitted(comparison: Comparison, formula: str, design: Design) -> AnalysisComparison | Failed:
    """Return a fitted formula; a formula that cannot be read or fitted is the user's to correct.

    A random part makes a mixed model. Where rows have weights, strata or units, standard errors
    are those of the design; survival models know none of these.

    Parameters
    ----------
    comparison : Comparison
    formula : str
    design : Design
    """
    original = comparison.files.original.frame
    released = in_types_of_the_original(comparison.files)
    try:
        if is_mixed(formula):
            return fit_mixed_models(original, released, formula)
        if formula.lstrip().startswith("surv") and not design.weight:
            return fit_models(original, released, formula)
        samples = [_sample(frame, design) for frame in (original, released)]
        if all(sample is not None for sample in samples):
            first, second = (sample for sample in samples if sample is not None)
            return fit_design_models(original, released, formula, (first, second))
        return fit_models(original, released, formula)
    except InputError as error:
        if "in the original but not in the release" in str(error):
            return Failed(formula, str(error))
        raise


def analyses_of_the_design(
    comparison: Comparison, design: Design
) -> tuple[AnalysisComparison, ...]:
    """Return the analyses that every table with units or weights gets."""
    found: list[AnalysisComparison] = []
    if isinstance(comparison, UnitComparison):
        found += compare_units(comparison.visit_columns, *comparison.both_visits)
    files = comparison.files
    if design.weight:
        samples = [_sample(t.frame, design) for t in (files.original, files.released)]
        columns = [column for column in files.columns if column.name != design.weight]
        first, second = samples
        if first is not None and second is not None and columns:
            found.append(weighted_means(columns, first, second))
    return tuple(found)


def _sample(frame: pl.DataFrame, design: Design) -> SampleDesign | None:
    """Return how the rows of a table were drawn; None for one by one, and where it lacks that."""
    names = [name for name in (design.weight, *design.strata, design.unit) if name]
    if not names or any(name not in frame.columns for name in names):
        return None
    weights = np.ones(frame.height)
    if design.weight:
        cells = frame[design.weight].cast(pl.Float64, strict=False)
        weights = cells.fill_null(float("nan")).to_numpy()
    return SampleDesign(
        weights,
        _numbered(frame, list(design.strata)),
        _numbered(frame, [design.unit] if design.unit else []),
    )


def _numbered(frame: pl.DataFrame, names: list[str]) -> np.ndarray | None:
    if not names:
        return None
    return frame.select(pl.struct(names).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1


def in_types_of_the_original(comparison: Comparison) -> pl.DataFrame:
    """Return the release with numbers where the original has numbers and the release text."""
    frame, original = comparison.released.frame, comparison.original.frame
    return frame.with_columns(
        pl.Series(column.name, column.released, nan_to_null=True)
        for column in comparison.columns
        if column.levels is None
        and original.schema[column.name].is_numeric()
        and not frame.schema[column.name].is_numeric()
    )
