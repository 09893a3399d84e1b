"""The part of an assessment about what analyses lose, as the page shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from icsa.report.drawings import heat_map, two_clouds
from icsa.report.glance import distance_beyond_chance, utility_sentences
from icsa.report.glossary import anchor
from icsa.report.strips import interval_bars, margin_strip
from icsa.report.tasks_view import efficiency_view, tasks_view
from icsa.report.wording import estimate, number, shortened

__all__ = ["utility_view"]

Record = Mapping[str, Any]
Lines = Callable[[Mapping[str, Record]], list[Record]]

_NAME = 60
_MOST_TERMS = 60
_MOST_LEVELS = 12
_MOST_PAIRED = 100


def utility_view(utility: Record, *, internal: bool, most: int, lines: Lines) -> dict[str, Any]:
    """Return what the template shows about utility.

    Parameters
    ----------
    utility : mapping
        The assessment's part of that name.
    internal : bool
        The picture of single rows is for the internal edition only.
    most : int
        Lines of the table with a line for each column.
    lines : callable
        Makes lines of measures.

    Examples
    --------
    >>> shown = utility_view({}, internal=True, most=10, lines=lambda measures: [])
    >>> shown["glance"], shown["columns"]
    ([], [])
    """
    columns = utility.get("columns") or []
    pairs = utility.get("pairs") or {}
    picture = utility.get("picture") if internal else None
    return {
        "glance": utility_sentences(utility),
        "columns": [_column(column) for column in columns[:most]],
        "more_columns": max(0, len(columns) - most),
        "pairs": _pairs(pairs) if pairs.get("names") else None,
        "whole": lines(utility.get("whole") or {}),
        "picture": two_clouds(picture["original"], picture["released"], picture["explained"])
        if picture
        else "",
        "models": [_model(model) for model in utility.get("models") or []],
        "tasks": tasks_view(utility.get("tasks") or {}, lines=lines),
        "efficiency": efficiency_view(utility.get("efficiency")),
    }


def _column(column: Record) -> Record:
    before, after = column.get("original") or {}, column.get("released") or {}
    distance = column.get("distance") or {}
    missing = list(column.get("missing") or (None, None))
    excess = distance_beyond_chance(column)
    return {
        "name": shortened(column["name"], _NAME),
        "kind": column.get("kind") or "",
        "means": _side_by_side(before, after, "mean"),
        "deviations": _side_by_side(before, after, "sd"),
        "medians": _medians(before, after),
        "missing": [_missing(value) for value in missing],
        "distance": _distance(distance),
        "anchor": anchor("tv" if distance.get("name") == "TV" else "ks"),
        "judged": "" if excess is None else "within chance" if excess <= 0 else "beyond chance",
        "chance": _chance_words(distance),
        "strip": margin_strip(before, after, str(column["name"])),
        "levels": _levels(column.get("levels")),
    }


def _side_by_side(before: Record, after: Record, key: str) -> list[str]:
    """Return both tables' numbers with the decimals that the spread asks for."""
    spread = before.get("sd")
    return [
        "–" if side.get(key) is None else number(side[key], like=spread) for side in (before, after)
    ]


def _medians(before: Record, after: Record) -> list[str]:
    both = [side.get("quantiles") or [None] * 5 for side in (before, after)]
    return [
        "–" if quantiles[2] is None else number(quantiles[2], like=before.get("sd"))
        for quantiles in both
    ]


def _missing(value: Any) -> str:
    """Return missing cells: a share where it lies between 0 and 1, else a count."""
    if isinstance(value, float) and 0 < value < 1:
        return f"{value:.1%}"
    return "–" if value is None else number(value, like=value or None)


def _distance(distance: Record) -> str:
    if distance.get("value") is None:
        return f"not estimable: {distance.get('reason') or 'no value is defined'}"
    return f"{distance.get('name', '')} {number(distance['value'])}"


def _chance_words(distance: Record) -> str:
    usual, high = distance.get("chance"), distance.get("chance_high")
    if usual is None and high is None:
        return "–"
    if usual is None or high is None:
        return f"up to {number(high if usual is None else usual)}"
    return f"{number(usual)}, up to {number(high)}"


def _levels(levels: Any) -> str:
    """Return the shares of categories in a line, where the assessment lists them."""
    if not isinstance(levels, Sequence) or isinstance(levels, str):
        return ""
    told = [
        f"{shortened(level.get('level', level.get('name', '')), 24)} "
        f"{number(level.get('original'))} → {number(level.get('released'))}"
        for level in levels[:_MOST_LEVELS]
    ]
    rest = len(levels) - len(told)
    return "; ".join([*told, f"and {rest} more"] if rest > 0 else told)


def _pairs(pairs: Record) -> Record:
    names, chance = pairs["names"][:_MOST_PAIRED], pairs.get("chance")
    limits = pairs.get("limit") or [[chance] * len(names)] * len(names)
    return {
        "map": heat_map(names, pairs["difference"], limits),
        "numbered": [] if len(names) <= 30 else [shortened(name, _NAME) for name in names],
        "more": len(pairs["names"]) - len(names),
        "worst": [
            {
                **pair,
                "first": shortened(pair["first"], _NAME),
                "second": shortened(pair["second"], _NAME),
                **{
                    key: number(pair.get(key))
                    for key in ("original", "released", "difference", "chance")
                },
            }
            for pair in (pairs.get("worst") or [])[:20]
        ],
    }


def _model(model: Record) -> Record:
    rows = model.get("rows") or []
    return {
        "formula": shortened(model.get("formula", ""), 200),
        "family": (model.get("family") or "")[:1].upper() + (model.get("family") or "")[1:],
        "n": [number(n, like=n) for n in model.get("n") or ()],
        "reason": model.get("reason"),
        "rows": [_coefficient(row) for row in rows[:_MOST_TERMS]],
        "more": max(0, len(rows) - _MOST_TERMS),
    }


def _coefficient(row: Record) -> Record:
    sides = [row.get("original") or {}, row.get("released") or {}]
    shown = [
        estimate({"value": side.get("estimate"), "low": side.get("low"), "high": side.get("high")})
        for side in sides
    ]
    flips = [
        word
        for key, word in (("sign_flip", "sign"), ("significance_flip", "significance"))
        if row.get(key)
    ]
    return {
        "term": shortened(row["term"], _NAME),
        "original": shown[0],
        "released": shown[1],
        "overlap": number(row.get("overlap")),
        "error": number(row.get("error_in_se")),
        "flips": " and ".join(flips) or "none",
        "flipped": bool(flips),
        "bars": interval_bars(sides[0], sides[1], str(row["term"])),
    }
