"""What analyses lose, in one sentence each: for the top of the page and for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from icsa.assessment.document_parts import (
    Classification,
    Clustering,
    Column,
    Curves,
    Distance,
    Efficiency,
    LostCurve,
    Model,
    Number,
    Pair,
    Selection,
    Utility,
)
from icsa.report.wording import estimate, measured, number, plural, shortened

__all__ = [
    "asked_sentences",
    "curve_sentences",
    "curve_term",
    "distance_beyond_chance",
    "utility_sentences",
]


def utility_sentences(utility: Utility) -> list[str]:
    """Return a sentence on columns, on pairs, on the whole table, and on what was asked for."""
    return [
        *_of_columns(utility.columns),
        *(_of_pair(pair) for pair in utility.pairs.worst[:1]),
        *curve_sentences(utility.curves),
        *(
            f"{measure.label}: {measured(measure)} (good: {measure.good})."
            for measure in utility.whole.values()
        ),
        *asked_sentences(utility),
    ]


def asked_sentences(utility: Utility) -> list[str]:
    """Return a sentence on every model and task that was asked for, and on another release."""
    tasks = utility.tasks
    return [
        *(_of_model(model) for model in utility.models),
        *(_of_classification(task) for task in tasks.classification),
        *([_of_clustering(tasks.clustering)] if tasks.clustering else []),
        *(_of_selection(task) for task in tasks.selection),
        *([_of_efficiency(utility.efficiency)] if utility.efficiency else []),
    ]


def distance_beyond_chance(distance: Distance) -> float | None:
    """Return how far a column's distance is beyond what chance gives; None where not known.

    Examples
    --------
    >>> distance_beyond_chance(Distance(name="KS", value=0.5, chance=0.1, chance_high=0.25))
    0.25
    """
    value, limit = distance.value, distance.chance_high
    return None if value is None or limit is None else value - limit


def _of_columns(columns: Sequence[Column]) -> list[str]:
    judged = [column for column in columns if distance_beyond_chance(column.distance) is not None]
    if not judged:
        return []
    kept = sum((distance_beyond_chance(column.distance) or 0.0) <= 0 for column in judged)
    # Relative to the limit: counts that are kept exactly are not the nearest to a narrow one.
    worst = max(judged, key=lambda column: _share_of_chance(column.distance))
    distance = worst.distance
    place = "Furthest beyond" if kept < len(judged) else "Nearest to"
    return [
        f"{kept} of {plural(len(judged), 'column')} differ from the original no more than two "
        f"samples of this size would. {place} that limit is {shortened(worst.name)}: "
        f"{distance.name} {number(distance.value)}, where chance gives up to "
        f"{number(distance.chance_high)}."
    ]


def _share_of_chance(distance: Distance) -> float:
    value, limit = distance.value or 0.0, distance.chance_high
    if not limit:
        return math.inf if value else 0.0
    return value / limit


def _of_pair(pair: Pair) -> str:
    return (
        f"The relation between two columns that changed most: {shortened(pair.first)} and "
        f"{shortened(pair.second)}, {pair.measure} {number(pair.original)} in the original and "
        f"{number(pair.released)} in the release; chance moves it by up to {number(pair.chance)}."
    )


def curve_sentences(curves: Curves) -> list[str]:
    """Return a sentence on curves that were lost, or that none was; none where none is known."""
    if not curves.compared:
        return []
    looked = (
        f"Squares and products of columns ({curves.compared} compared): {curves.found} with an "
        "effect on another column in the original,"
    )
    if not curves.worst:
        return [f"{looked} none of them lost beyond chance."]
    worst = curves.worst[0]
    return [
        f"{looked} {curves.lost} lost beyond chance, most of all {curve_term(worst)} on "
        f"{shortened(worst.column)}: partial correlation {number(worst.original)} in the original "
        f"and {number(worst.released)} in the release; chance moves it by up to "
        f"{number(worst.chance)}. Forests keep such effects (icsa anonymize --method forest)."
    ]


def curve_term(curve: LostCurve) -> str:
    """Return a square or product in words.

    Examples
    --------
    >>> curve_term(LostCurve("wage", "years", "years", -0.4, 0.0, 0.1))
    'years²'
    """
    if curve.first == curve.second:
        return f"{shortened(curve.first)}²"
    return f"{shortened(curve.first)} × {shortened(curve.second)}"


def _of_model(model: Model) -> str:
    formula = shortened(model.formula, 120)
    if model.reason is not None:
        return _not_estimable(formula, model.reason)
    signs = sum(row.sign_flip for row in model.rows)
    significances = sum(row.significance_flip for row in model.rows)
    overlaps = [row.overlap for row in model.rows if row.overlap is not None]
    least = f"; the smallest overlap of intervals is {number(min(overlaps))}" if overlaps else ""
    return (
        f"{formula}: of {plural(len(model.rows), 'coefficient')}, {signs} changed sign and "
        f"{significances} changed significance{least}."
    )


def _of_classification(task: Classification) -> str:
    target = f"Predicting {shortened(task.target)}"
    if task.reason is not None:
        return _not_estimable(target, task.reason)
    (accuracy,) = (row for row in task.rows if row.name == "accuracy")
    return (
        f"{target}: {_percent(accuracy.released.value)} of {plural(task.n_test, 'held-out row')} "
        f"right when learnt from the release, {_percent(accuracy.original.value)} from the "
        f"original, {_percent(task.guessing)} by guessing the most frequent; chance moves the "
        f"difference by up to {_percent(accuracy.chance)}."
    )


def _of_clustering(task: Clustering) -> str:
    agreement = estimate(task.agreement.value, reason=task.agreement.reason)
    return (
        f"{task.clusters} groups: those of the release agree with those of the original by an "
        f"adjusted Rand index of {agreement}; resamples of the original have "
        f"{measured(task.of_a_sample)}."
    )


def _of_selection(task: Selection) -> str:
    response = f"Lasso for {shortened(task.response)}"
    if task.reason is not None:
        return _not_estimable(response, task.reason)
    first = sum(variable.original for variable in task.variables)
    second = sum(variable.released for variable in task.variables)
    both = sum(variable.original and variable.released for variable in task.variables)
    found, beside = task.measures["jaccard"], ""
    if found.value is not None and isinstance(found.chance, float):
        beside = (
            f"; Jaccard index {number(found.value)}, resamples of the original have "
            f"{number(found.chance)}"
        )
    return (
        f"{response}: of {plural(len(task.variables), 'column')} {first} selected on the original, "
        f"{second} on the release, {both} on both{beside}."
    )


def _of_efficiency(efficiency: Efficiency) -> str:
    forms = {
        "defined": [line.defined.value for line in efficiency.lines],
        "printed": [line.printed.value for line in efficiency.lines],
    }
    told = []
    for form, values in forms.items():
        known = [value for value in values if value is not None]
        above = sum(value > 1 for value in known)
        told.append(f"{above} of {plural(len(known), 'loss', 'losses')} as {form}")
    return (
        f"The other release is “{efficiency.other.verdict}”. This one gives more privacy for "
        f"what it loses (RPE above 1) by {told[0]}, and by {told[1]}."
    )


def _not_estimable(what: str, reason: str) -> str:
    return f"{what}: not estimable{f': {reason}' if reason else ''}."


def _percent(share: Number) -> str:
    return "–" if share is None else f"{share:.0%}"
