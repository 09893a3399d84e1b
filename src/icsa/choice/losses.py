"""What a release loses, in units of what another sample of the same people would differ by.

Everything is measured by the functions of an assessment and divided by what chance gives there: 1
is as much as a second sample of the same population would differ, 0 is nothing. What is lost many
times over counts as ten, so that no single column, pair or coefficient decides alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from icsa.assessment.analyses import in_types_of_the_original
from icsa.assessment.asked import Asked, Failed
from icsa.assessment.usefulness import fitted_models
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.matching import Comparison
from icsa.matrices import Vector
from icsa.schema import NO_DESIGN
from icsa.utility.chance import AgainstChance
from icsa.utility.classification import classification_task
from icsa.utility.estimates import AnalysisComparison, Estimated
from icsa.utility.lost_curves import Curve, curve_differences
from icsa.utility.margins import compare_margins
from icsa.utility.models import fit_models
from icsa.utility.pair_differences import compare_pairs

__all__ = ["GENERAL", "OWN", "loss_of", "losses_of", "values_beyond"]

# What the custodian asked for, and what is looked at in any table.
OWN = ("models", "predictions")
GENERAL = ("pairs", "curves", "columns", "beyond")
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
        "beyond": values beyond the original's range, as far as they are more than chance gives.
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


def values_beyond(original: Vector, released: Vector) -> float:
    """Return how far released numbers lie beyond the original's range, over what chance gives.

    All lengths beyond the smallest and the largest are added up. For the yardstick people are
    halved at random: with x_1 >= x_2 >= ... the larger half of those numbers lies beyond the other
    by sum over i < j of x_i - x_j, where x_j is the largest of the other half, which it is with
    probability 2^-j. The range over the number of people is the least that counts.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> values_beyond(x, x), round(values_beyond(x, np.append(x, [101.0, -1.0])), 2)
    (0.0, 0.75)
    """
    known, new = (numbers[~np.isnan(numbers)] for numbers in (original, released))
    if known.size < 2 or not new.size:
        return 0.0
    ordered = np.sort(known)
    low, high = float(ordered[0]), float(ordered[-1])
    beyond = np.maximum(new - high, 0.0).sum() + np.maximum(low - new, 0.0).sum()
    usual = _usual_excess(ordered[::-1]) + _usual_excess(-ordered)
    least = max(usual, (high - low) / known.size)
    return float(beyond / least) if least > 0.0 else 0.0


def _usual_excess(descending: Vector) -> float:
    """Return the mean of how far one random half of numbers lies above the other."""
    top = descending[: min(descending.size, 60)]
    count = np.arange(1, top.size + 1)
    # sum over i < j of x_i - x_j, for every j
    above = np.cumsum(top) - count * top
    return float(np.sum(above * 0.5**count))


def _beyond(column: ColumnPair) -> float:
    return min(_MOST, values_beyond(np.asarray(column.original), np.asarray(column.released)))


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
