"""What a release loses, in units of what another sample of the same people would differ by.

Everything is measured by the functions of an assessment and divided by what chance gives there: 1
is as much as a second sample of the same population would differ, 0 is nothing. What is lost many
times over counts as ten, so that no single column, pair or coefficient decides alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from icsa.assessment.analyses import analyses_of_the_design, in_types_of_the_original
from icsa.assessment.asked import Asked, Failed
from icsa.assessment.usefulness import fitted_models
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.matching import Comparison
from icsa.schema import NO_DESIGN
from icsa.utility.beyond_range import lengths_beyond
from icsa.utility.chance import AgainstChance
from icsa.utility.classification import classification_task
from icsa.utility.estimates import AnalysisComparison, Estimated
from icsa.utility.lost_curves import Curve, curve_differences
from icsa.utility.margins import compare_margins
from icsa.utility.models import fit_models
from icsa.utility.pair_differences import compare_pairs

__all__ = ["GENERAL", "OWN", "loss_of", "losses_of"]

# What the custodian asked for, and what is looked at in any table.
OWN = ("models", "predictions")
GENERAL = ("pairs", "curves", "columns", "beyond", "design")
# More than so many samples' worth of loss is no use, and how much more does not matter.
_MOST = 10.0
# Differences below this are rounding.
_NOTHING = 1e-9


def losses_of(
    comparison: Comparison, asked: Asked, curves: Sequence[Curve] = ()
) -> dict[str, float]:
    """Return the losses of a release by name; those that the table does not define are left out.

    Parameters
    ----------
    comparison : Comparison
    asked : Asked
        Its models and columns to predict.
    curves : sequence of Curve
        Of the original, from `icsa.utility.lost_curves.curves_of`.

    Returns
    -------
    dict of str to float
        "models": errors of coefficients; "predictions": what is predicted worse; "pairs":
        associations of two columns; "curves": squares and products; "columns": each on its own;
        "beyond": values beyond the original's range, as far as they are more than chance gives;
        "design": weighted means, and what rows of one person have in common.
    """
    columns = comparison.columns
    models = [
        _of_model(_that_exists(model, comparison, asked))
        for model in fitted_models(comparison, asked)
    ]
    named = {column.name for column in columns}
    predictions = [
        _over_chance(classification_task(columns, name).auc_loss, signed=True)
        for name in asked.classify
        if name in named
    ]
    pairs = [_over_chance(pair.difference) for pair in compare_pairs(columns).pairs]
    parts: Mapping[str, Iterable[float | None]] = {
        "models": models,
        "predictions": predictions,
        "pairs": pairs,
        "curves": curve_differences(columns, curves),
        "columns": [_over_chance(margin.distance) for margin in compare_margins(columns)],
        "beyond": [_beyond(column) for column in columns if column.levels is None],
        "design": [_of_model(each) for each in analyses_of_the_design(comparison, asked.design)],
    }
    found = {name: mean for name, values in parts.items() if (mean := _mean(values)) is not None}
    if "beyond" in found:  # to stay within the range is no gain: whoever repeats it does
        found["beyond"] = max(0.0, found["beyond"] - 1.0)
    return found


def loss_of(parts: Mapping[str, float]) -> float:
    """Return one number for all losses: what was asked for counts as much as everything else.

    Examples
    --------
    >>> loss_of({"models": 1.0, "pairs": 0.4, "columns": 0.2})
    0.65
    >>> loss_of({"pairs": 0.4, "columns": 0.2})
    0.30000000000000004
    """
    own, general = ([parts[name] for name in names if name in parts] for names in (OWN, GENERAL))
    means = [math.fsum(found) / len(found) for found in (own, general) if found]
    return math.fsum(means) / len(means)


def _beyond(column: ColumnPair) -> float:
    return min(_MOST, lengths_beyond(np.asarray(column.original), np.asarray(column.released)))


def _that_exists(
    model: AnalysisComparison | Failed, comparison: Comparison, asked: Asked
) -> AnalysisComparison | Failed:
    """Return a model; a logistic one that the release does not allow by Firth's likelihood.

    A cell of few people is empty in one release and not in the next, as it would be in another
    sample: the estimate goes to infinity there, and takes all others with it.
    """
    if isinstance(model, Failed) or model.method != "logistic" or asked.design != NO_DESIGN:
        return model
    if model.error.value is not None:
        return model
    files = comparison.files
    tables = files.original.frame, in_types_of_the_original(files)
    return fit_models(*tables, model.name, bias_reduced=True)


def _of_model(model: AnalysisComparison | Failed) -> float:
    """Return the mean error of coefficients, none of which counts for more than ten samples."""
    if isinstance(model, Failed):
        return _MOST
    compared = [
        _MOST
        if each.error.value is None
        else min(_MOST, abs(each.error.value) / model.error_of_a_sample)
        for each in model.estimates
        if each.name != "Intercept" and isinstance(each.original, Estimated)
    ]
    return math.fsum(compared) / len(compared) if compared else _MOST


def _over_chance(found: AgainstChance, *, signed: bool = False) -> float | None:
    """Return a difference over what chance gives; None where the original has none."""
    if found.expected is None or found.expected <= _NOTHING:
        return None
    value = found.measure.value
    if value is None:
        return _MOST
    return min(_MOST, (max(0.0, value) if signed else abs(value)) / found.expected)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
