"""The part of an assessment about what analyses lose, as the page shows it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from icsa.assessment.document_parts import (
    Coefficient,
    Column,
    Model,
    Number,
    Pairs,
    Utility,
)
from icsa.report.drawings import heat_map, two_clouds
from icsa.report.glance import curve_term, distance_beyond_chance, utility_sentences
from icsa.report.glossary import anchor
from icsa.report.strips import interval_bars, overlay
from icsa.report.wording import dashed, estimate, listed, number, shortened

__all__ = ["utility_view"]

_MOST_TERMS = 60
_MOST_LEVELS = 12
_MOST_PAIRED = 100
# Columns up to which a map has names; more are numbered.
_MOST_NAMED = 30


def utility_view(utility: Utility, *, internal: bool, most: int) -> dict[str, Any]:
    """Return what the template shows about columns, pairs, the picture and models."""
    return {
        "glance": utility_sentences(utility),
        "columns": [_column(column, internal) for column in utility.columns[:most]],
        "beyond": any(column.beyond for column in utility.columns[:most]),
        "overlays": any(column.bars for column in utility.columns[:most]),
        "pairs": _pairs(utility.pairs) if utility.pairs.names else None,
        "curves": [(curve_term(curve), curve) for curve in utility.curves.worst],
        "picture": two_clouds(utility.picture) if internal and utility.picture else "",
        "models": [_model(model) for model in utility.models],
    }


def _column(column: Column, internal: bool) -> dict[str, Any]:
    before, after, distance = column.original, column.released, column.distance
    excess = distance_beyond_chance(distance)
    ends = (distance.chance, distance.chance_high)
    return {
        "name": shortened(column.name),
        "kind": column.kind,
        "means": [_at(side.mean, column, internal) for side in (before, after)],
        "deviations": [_length(side.sd, column) for side in (before, after)],
        "medians": [_at(side.quantiles[2], column, internal) for side in (before, after)],
        "missing": [
            f"{share:.1%}" if share is not None and 0 < share < 1 else dashed(share)
            for share in column.missing
        ],
        "distance": "not estimable: no value is defined"
        if distance.value is None
        else f"{distance.name} {number(distance.value)}",
        "anchor": anchor(distance.name.lower()),
        "judged": "" if excess is None else "within chance" if excess <= 0 else "beyond chance",
        "chance": "–" if None in ends else ", up to ".join(number(end) for end in ends),
        "overlay": overlay(column.bars, column.name) if column.bars else "",
        "levels": _levels(column),
        "beyond": column.beyond or "",
    }


def _at(value: Number, column: Column, internal: bool) -> str:
    """Return a number of a column, a day as a day; of a rounded one the year is left."""
    if value is not None and column.unit == "seconds since midnight":
        return f"{datetime.fromtimestamp(value, UTC):%H:%M}"
    if value is not None and column.unit.endswith(" since 1970-01-01"):
        seconds = value * (86_400 if column.unit.startswith("days") else 1)
        with suppress(OverflowError, ValueError, OSError):
            found = datetime.fromtimestamp(seconds, UTC)
            return found.date().isoformat() if internal else f"{found.year}"
    return _like(value, column.original.sd)


def _length(value: Number, column: Column) -> str:
    """Return a distance between numbers of a column; of moments in days."""
    if value is not None and column.unit == "seconds since 1970-01-01":
        return f"{number(value / 86_400)} days"
    told = _like(value, column.original.sd)
    return f"{told} days" if value is not None and column.unit.startswith("days") else told


def _like(value: Number, spread: Number) -> str:
    """Return a number with the decimals that the column's spread asks for."""
    return "–" if value is None else number(value, like=spread)


def _levels(column: Column) -> str:
    """Return the shares of categories in a line, where the assessment lists them."""
    told = [
        f"{shortened(level.level, 24)} {number(level.original)} → {number(level.released)}"
        for level in column.levels or ()
    ]
    return listed(told, _MOST_LEVELS, "; ")


def _pairs(pairs: Pairs) -> dict[str, Any]:
    names = pairs.names[:_MOST_PAIRED]
    return {
        "map": heat_map(names, pairs.difference, pairs.limit),
        "numbered": [] if len(names) <= _MOST_NAMED else [shortened(name) for name in names],
        "more": len(pairs.names) - len(names),
        "worst": pairs.worst,
    }


def _model(model: Model) -> dict[str, Any]:
    return {
        "formula": shortened(model.formula, 200),
        "family": model.family[:1].upper() + model.family[1:],
        "n": [number(n, like=n) for n in model.n],
        "reason": model.reason,
        "rows": [_coefficient(row) for row in model.rows[:_MOST_TERMS]],
        "more": len(model.rows) - _MOST_TERMS,
    }


def _coefficient(row: Coefficient) -> dict[str, Any]:
    shown = [estimate(side.estimate, side.low, side.high) for side in (row.original, row.released)]
    flips = [
        word
        for flipped, word in ((row.sign_flip, "sign"), (row.significance_flip, "significance"))
        if flipped
    ]
    return {
        "term": shortened(row.term),
        "original": shown[0],
        "released": shown[1],
        "overlap": number(row.overlap),
        "error": number(row.error_in_se),
        "flips": " and ".join(flips) or "none",
        "flipped": bool(flips),
        "bars": interval_bars(row.original, row.released, row.term),
    }
