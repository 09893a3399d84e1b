"""The half of the document that says what analyses lose."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from icsa.assessment.asked import Failed
from icsa.assessment.json_tasks import efficiency_dict, tasks_dict
from icsa.assessment.json_values import DIGITS, measure_dict, rounded, tidy
from icsa.assessment.records import Assessment
from icsa.assessment.usefulness import Usefulness
from icsa.comparison.column_pairs import ColumnPair
from icsa.measures import Measure, NotEstimable
from icsa.utility.chance import SideBySide
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome
from icsa.utility.margins import Margin, NumericMargin

__all__ = ["utility_dict"]

_WORST_PAIRS = 10


def utility_dict(assessment: Assessment, public: bool) -> dict[str, Any]:
    """Return columns, pairs, models, tasks, ...; in public without levels and points."""
    useful = assessment.utility
    columns = zip(assessment.tables.columns, useful.margins, strict=True)
    whole = useful.whole
    return {
        "columns": [_column(column, margin, public) for column, margin in columns],
        "pairs": _pairs(useful),
        "whole": {
            "pmse": {
                **measure_dict(whole.pmse, definition="pmse", good="0"),
                "chance": whole.expected,
            },
            "s_pmse": {
                **measure_dict(whole.standardized, definition="s_pmse", good="about 1"),
                "chance": whole.standardized_of_a_sample,
            },
        },
        "picture": None if public else _picture(useful),
        "models": [_model(model, public) for model in useful.models],
        "tasks": tasks_dict(useful.tasks),
        "efficiency": efficiency_dict(assessment.efficiency),
    }


def _column(column: ColumnPair, margin: Margin, public: bool) -> dict[str, Any]:
    distance, numeric = margin.distance, isinstance(margin, NumericMargin)
    return {
        "name": column.name,
        "kind": column.kind,
        "unit": column.unit,
        "original": _summary(column, margin, "original", public),
        "released": _summary(column, margin, "released", public),
        "missing": [margin.missing.original.value, margin.missing.released.value],
        "distance": {
            "name": "KS" if numeric else "TV",
            "value": distance.measure.value,
            "chance": distance.expected,
            "chance_high": distance.limit,
        },
        "levels": None if public else _levels(column, margin),
    }


def _summary(column: ColumnPair, margin: Margin, table: str, public: bool) -> dict[str, Any]:
    if not isinstance(margin, NumericMargin):
        return {"mean": None, "sd": None, "quantiles": [None] * 5}

    def value(both: SideBySide) -> float | None:
        found: Measure = getattr(both, table)
        return found.value

    quantiles = [value(quantile) for quantile in margin.quantiles]
    if public:
        telling = _telling_values(column.original)
        quantiles = [
            None if q is None or q in telling or rounded(q, DIGITS) in telling else q
            for q in quantiles
        ]
    return {
        "mean": value(margin.mean),
        "sd": value(margin.standard_deviation),
        "quantiles": quantiles,
    }


def _telling_values(numbers: np.ndarray) -> set[float]:
    """Return the values that only one person has, and the largest and smallest."""
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if not values.size:
        return set()
    return {*values[counts == 1].tolist(), float(values[0]), float(values[-1])}


def _levels(column: ColumnPair, margin: Margin) -> list[dict[str, Any]] | None:
    if isinstance(margin, NumericMargin) or column.levels is None:
        return None
    return [
        {"level": level, "original": share.original.value, "released": share.released.value}
        for level, share in zip(column.levels, margin.shares, strict=True)
    ]


def _pairs(useful: Usefulness) -> dict[str, Any]:
    pairs = useful.pairs
    expected = [p.difference.expected for p in pairs.pairs if p.difference.expected is not None]
    return {
        "names": list(pairs.names),
        "difference": pairs.matrix().tolist(),
        "limit": pairs.matrix("limit").tolist(),
        "chance": float(np.median(expected)) if expected else None,
        "worst": [
            {
                "first": pair.first,
                "second": pair.second,
                "measure": pair.association,
                "original": _estimate(pair.original),
                "released": _estimate(pair.released),
                "difference": pair.difference.measure.value,
                "chance": pair.difference.limit,
            }
            for pair in pairs.worst(_WORST_PAIRS)
        ],
    }


def _picture(useful: Usefulness) -> dict[str, Any] | None:
    picture = useful.picture
    if isinstance(picture, NotEstimable):
        return None
    return {
        "original": tidy(picture.original.tolist(), 4),
        "released": tidy(picture.released.tolist(), 4),
        "explained": picture.explained.tolist(),
    }


def _model(model: AnalysisComparison | Failed, public: bool) -> dict[str, Any]:
    if isinstance(model, Failed):
        return {
            "formula": model.name,
            "family": "",
            "n": [0, 0],
            "rows": [],
            "reason": model.reason,
        }
    names = [estimate.name for estimate in model.estimates]
    shown = _without_levels(names) if public else names
    reasons = [e.released.reason for e in model.estimates if isinstance(e.released, NotEstimable)]
    return {
        "formula": model.name,
        "family": model.method,
        "n": [model.n_original, model.n_released],
        "rows": [
            {
                "term": name,
                "original": _outcome(estimate.original),
                "released": _outcome(estimate.released),
                "overlap": estimate.overlap.value,
                "error_in_se": estimate.error.value,
                "sign_flip": estimate.sign_flip,
                "significance_flip": estimate.significance_flip,
            }
            for name, estimate in zip(shown, model.estimates, strict=True)
        ],
        "reason": reasons[0] if reasons else None,
    }


def _without_levels(names: list[str]) -> list[str]:
    """Return names of coefficients with numbers in place of levels, which are cells.

    Examples
    --------
    >>> _without_levels(["age", "ward[T.north]", "ward[T.south]"])
    ['age', 'ward (level 1)', 'ward (level 2)']
    >>> _without_levels(["ward[T.a]b]:sex[T.m]", "sex[T.m]"])
    ['ward (level 1):sex (level 1)', 'sex (level 1)']
    """
    seen: dict[str, dict[str, int]] = {}

    def numbered(match: re.Match[str]) -> str:
        levels = seen.setdefault(match[1], {})
        return f"{match[1]} (level {levels.setdefault(match[2], len(levels) + 1)})"

    return [re.sub(r"([^\[\]:]*)\[(.*?)\](?=:|$)", numbered, name) for name in names]


def _outcome(outcome: Outcome) -> dict[str, float | None]:
    if isinstance(outcome, Estimated):
        return {"estimate": outcome.value, "low": outcome.low, "high": outcome.high}
    return {"estimate": None, "low": None, "high": None}


def _estimate(value: float | NotEstimable) -> float | None:
    return None if isinstance(value, NotEstimable) else value
