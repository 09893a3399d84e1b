"""The part of an assessment about what analyses lose, as the page shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from icsa.report.drawings import heat_map, two_clouds
from icsa.report.glossary import anchor
from icsa.report.strips import interval_bars, margin_strip
from icsa.report.wording import estimate, number, plural, shortened

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
    tasks = utility.get("tasks") or []
    named_tasks = {str(task.get("label") or f"task {k + 1}"): task for k, task in enumerate(tasks)}
    return {
        "glance": _glance(utility),
        "columns": [_column(column) for column in columns[:most]],
        "more_columns": max(0, len(columns) - most),
        "pairs": _pairs(pairs) if pairs.get("names") else None,
        "whole": lines(utility.get("whole") or {}),
        "picture": two_clouds(picture["original"], picture["released"], picture["explained"])
        if picture
        else "",
        "models": [_model(model) for model in utility.get("models") or []],
        "tasks": lines(_as_tasks(named_tasks)),
    }


def _as_tasks(tasks: Mapping[str, Record]) -> dict[str, Record]:
    return {
        key: {**task, "definition": task.get("definition") or "task"} for key, task in tasks.items()
    }


def _glance(utility: Record) -> list[str]:
    found = [
        _columns_at_a_glance(utility.get("columns") or []),
        _pairs_at_a_glance(utility.get("pairs") or {}),
        *(
            f"{measure.get('label') or key}: {estimate(measure)}"
            + (f" (good: {measure['good']})." if measure.get("good") else ".")
            for key, measure in (utility.get("whole") or {}).items()
        ),
        *(_model_at_a_glance(model) for model in utility.get("models") or []),
    ]
    return [sentence for sentence in found if sentence]


def _columns_at_a_glance(columns: Sequence[Record]) -> str:
    judged = [column for column in columns if _excess(column) is not None]
    if not judged:
        return ""
    kept = sum((_excess(column) or 0.0) <= 0 for column in judged)
    worst = max(judged, key=lambda column: _excess(column) or 0.0)
    distance = worst["distance"]
    place = "Furthest beyond" if kept < len(judged) else "Nearest to"
    return (
        f"{kept} of {plural(len(judged), 'column')} differ from the original no more than two "
        f"samples of this size would. {place} that limit is "
        f"{shortened(worst['name'], _NAME)}: {distance['name']} {number(distance['value'])}, where "
        f"chance gives up to {number(_chance_of(distance))}."
    )


def _chance_of(distance: Record) -> Any:
    high = distance.get("chance_high")
    return distance.get("chance") if high is None else high


def _excess(column: Record) -> float | None:
    """Return how far a column's distance is beyond what chance gives."""
    distance = column.get("distance") or {}
    value, limit = distance.get("value"), _chance_of(distance)
    return None if value is None or limit is None else float(value) - float(limit)


def _pairs_at_a_glance(pairs: Record) -> str:
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


def _model_at_a_glance(model: Record) -> str:
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


def _column(column: Record) -> Record:
    before, after = column.get("original") or {}, column.get("released") or {}
    distance = column.get("distance") or {}
    missing = list(column.get("missing") or (None, None))
    excess = _excess(column)
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
    return {
        "map": heat_map(names, pairs["difference"], chance),
        "chance": number(chance),
        "double": number(None if chance is None else 2 * chance),
        "fourfold": number(None if chance is None else 4 * chance),
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
        "family": model.get("family") or "",
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
