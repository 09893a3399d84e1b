"""What analyses lose, in one sentence each: for the top of the page and for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from icsa.report.wording import estimate, number, plural, shortened

__all__ = ["asked_sentences", "distance_beyond_chance", "utility_sentences"]

Record = Mapping[str, Any]

_NAME = 60


def utility_sentences(utility: Record) -> list[str]:
    """Return a sentence on columns, on pairs, on the whole table, and on what was asked for.

    Parameters
    ----------
    utility : mapping
        The assessment's part of that name.

    Examples
    --------
    >>> utility_sentences({"whole": {"pmse": {"label": "pMSE", "value": 0.25, "good": "0"}}})
    ['pMSE: 0.250 (good: 0).']
    """
    found = [
        _of_columns(utility.get("columns") or []),
        _of_pairs(utility.get("pairs") or {}),
        *(
            f"{measure.get('label') or key}: {estimate(measure)}"
            + (f" (good: {measure['good']})." if measure.get("good") else ".")
            for key, measure in (utility.get("whole") or {}).items()
        ),
        *asked_sentences(utility),
    ]
    return [sentence for sentence in found if sentence]


def asked_sentences(utility: Record) -> list[str]:
    """Return a sentence on every model and task that was asked for, and on another release.

    Examples
    --------
    >>> asked_sentences({"models": [{"formula": "y ~ x", "reason": "y is constant"}]})
    ['y ~ x: not estimable: y is constant.']
    """
    tasks = utility.get("tasks") or {}
    groups, efficiency = tasks.get("clustering"), utility.get("efficiency")
    return [
        *(_of_model(model) for model in utility.get("models") or []),
        *(_of_classification(task) for task in tasks.get("classification") or []),
        *([_of_clustering(groups)] if groups else []),
        *(_of_selection(task) for task in tasks.get("selection") or []),
        *([_of_efficiency(efficiency)] if efficiency else []),
    ]


def distance_beyond_chance(column: Record) -> float | None:
    """Return how far a column's distance is beyond what chance gives; None where not known.

    Examples
    --------
    >>> distance_beyond_chance({"distance": {"value": 0.5, "chance_high": 0.25}})
    0.25
    """
    distance = column.get("distance") or {}
    value, limit = distance.get("value"), _chance_of(distance)
    return None if value is None or limit is None else float(value) - float(limit)


def _of_columns(columns: Sequence[Record]) -> str:
    judged = [column for column in columns if distance_beyond_chance(column) is not None]
    if not judged:
        return ""
    kept = sum((distance_beyond_chance(column) or 0.0) <= 0 for column in judged)
    # Relative to the limit: counts that are kept exactly are not the nearest to a narrow one.
    worst = max(judged, key=_share_of_chance)
    distance = worst["distance"]
    place = "Furthest beyond" if kept < len(judged) else "Nearest to"
    return (
        f"{kept} of {plural(len(judged), 'column')} differ from the original no more than two "
        f"samples of this size would. {place} that limit is "
        f"{shortened(worst['name'], _NAME)}: {distance['name']} {number(distance['value'])}, where "
        f"chance gives up to {number(_chance_of(distance))}."
    )


def _share_of_chance(column: Record) -> float:
    value, limit = column["distance"]["value"], _chance_of(column["distance"])
    if not limit:
        return math.inf if value else 0.0
    return float(value) / float(limit)


def _chance_of(distance: Record) -> Any:
    high = distance.get("chance_high")
    return distance.get("chance") if high is None else high


def _of_pairs(pairs: Record) -> str:
    worst = pairs.get("worst") or []
    if not worst:
        return ""
    first = worst[0]
    return (
        f"The relation between two columns that changed most: {shortened(first['first'], _NAME)} "
        f"and {shortened(first['second'], _NAME)}, {first['measure']} {number(first['original'])} "
        f"in the original and {number(first['released'])} in the release; chance moves it by up to "
        f"{number(first['chance'])}."
    )


def _of_model(model: Record) -> str:
    formula = shortened(model.get("formula", ""), 120)
    if model.get("reason"):
        return f"{formula}: not estimable: {model['reason']}."
    rows = model.get("rows") or []
    signs = sum(bool(row.get("sign_flip")) for row in rows)
    significances = sum(bool(row.get("significance_flip")) for row in rows)
    overlaps = [row["overlap"] for row in rows if row.get("overlap") is not None]
    least = f"; the smallest overlap of intervals is {number(min(overlaps))}" if overlaps else ""
    return (
        f"{formula}: of {plural(len(rows), 'coefficient')}, {signs} changed sign and "
        f"{significances} changed significance{least}."
    )


def _of_classification(task: Record) -> str:
    target = f"Predicting {shortened(task['target'], _NAME)}"
    rows = [row for row in task.get("rows") or [] if row["name"] == "accuracy"]
    if task.get("reason") or not rows:
        return f"{target}: not estimable: {task.get('reason') or 'no reason was given'}."
    shares = [_percent(rows[0][side]["value"]) for side in ("released", "original")]
    return (
        f"{target}: {shares[0]} of {plural(task['n_test'], 'held-out row')} right when learnt from "
        f"the release, {shares[1]} from the original, {_percent(task.get('guessing'))} by guessing "
        f"the most frequent; chance moves the difference by up to {_percent(rows[0]['chance'])}."
    )


def _of_clustering(task: Record) -> str:
    return (
        f"{task['clusters']} groups: those of the release agree with those of the original by an "
        f"adjusted Rand index of {_bare(task['agreement'])}; resamples of the original have "
        f"{estimate(task['of_a_sample'])}."
    )


def _of_selection(task: Record) -> str:
    response = f"Lasso for {shortened(task['response'], _NAME)}"
    if task.get("reason"):
        return f"{response}: not estimable: {task['reason']}."
    variables = task.get("variables") or []
    first = sum(variable["original"] for variable in variables)
    second = sum(variable["released"] for variable in variables)
    both = sum(variable["original"] and variable["released"] for variable in variables)
    found = (task.get("measures") or {}).get("jaccard") or {}
    beside = ""
    if found.get("value") is not None and found.get("chance") is not None:
        beside = (
            f"; Jaccard index {number(found['value'])}, resamples of the original have "
            f"{number(found['chance'])}"
        )
    return (
        f"{response}: of {plural(len(variables), 'column')} {first} selected on the original, "
        f"{second} on the release, {both} on both{beside}."
    )


def _of_efficiency(efficiency: Record) -> str:
    lines = efficiency.get("lines") or []
    told = []
    for form in ("defined", "printed"):
        known = [line[form]["value"] for line in lines if line[form]["value"] is not None]
        above = sum(value > 1 for value in known)
        told.append(f"{above} of {plural(len(known), 'loss', 'losses')} as {form}")
    return (
        f"The other release is “{efficiency['other']['verdict']}”. This one gives more privacy for "
        f"what it loses (RPE above 1) by {told[0]}, and by {told[1]}."
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _bare(measure: Record) -> str:
    return estimate({**measure, "low": None, "high": None})
