"""Tasks, and another release, as the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from icsa.report.glossary import anchor
from icsa.report.wording import count, estimate, number, plural, shortened

__all__ = ["efficiency_view", "tasks_view"]

Record = Mapping[str, Any]
Lines = Callable[[Mapping[str, Record]], list[Record]]

_NAME = 60
_MOST_LISTED = 100


def tasks_view(tasks: Record, *, lines: Lines) -> dict[str, Any]:
    """Return what the template shows about tasks.

    Parameters
    ----------
    tasks : mapping
        The part of that name.
    lines : callable
        Makes lines of measures.

    Examples
    --------
    >>> tasks_view({}, lines=lambda measures: [])
    {'classification': [], 'clustering': None, 'selection': []}
    """
    groups = tasks.get("clustering")
    return {
        "classification": [_classification(task) for task in tasks.get("classification") or []],
        "clustering": None if groups is None else _clustering(groups),
        "selection": [_selection(task, lines) for task in tasks.get("selection") or []],
    }


def efficiency_view(efficiency: Record | None) -> Record | None:
    """Return what the template shows about another release.

    Examples
    --------
    >>> efficiency_view(None) is None
    True
    """
    if efficiency is None:
        return None
    other, ore = efficiency["other"], efficiency["ore"]
    return {
        "verdict": other["verdict"],
        "rows": plural(other["rows"], "row"),
        "notes": other.get("notes") or [],
        "ore_anchor": anchor(ore["is"]),
        "ore": [estimate(ore[side]) for side in ("released", "other")],
        "scaled": ore["is"] == "ore_scaled",
        "no_interval": efficiency["no_interval"],
        "lines": [_loss(line) for line in efficiency["lines"]],
    }


def _classification(task: Record) -> Record:
    return {
        "target": shortened(task["target"], _NAME),
        "model": {"forest": "A forest of 100 trees", "logistic": "Main effects"}.get(
            task["model"], "A model"
        ),
        "n_test": count(task["n_test"]),
        "guessing": number(task.get("guessing")),
        "reason": task.get("reason"),
        "rows": [
            {
                "name": shortened(row["original"]["label"], _NAME),
                "anchor": anchor(row["name"]),
                "guessing": number(task.get("guessing")) if row["name"] == "accuracy" else "0.500",
                "original": estimate(row["original"]),
                "released": estimate(row["released"]),
                "loss": number(row.get("loss")),
                "chance": number(row.get("chance")),
                "judged": _judged(row.get("loss"), row.get("chance")),
            }
            for row in ([] if task.get("reason") else task.get("rows") or [])
        ],
    }


def _judged(loss: float | None, limit: float | None) -> str:
    if loss is None or limit is None:
        return "not judged"
    if abs(loss) <= limit:
        return "within chance"
    return "worse" if loss > 0 else "better"


def _clustering(task: Record) -> Record:
    return {
        "clusters": count(task["clusters"]),
        "agreement": estimate(task["agreement"]),
        "of_a_sample": estimate(task["of_a_sample"]),
        "n": count(task["agreement"].get("n")),
    }


def _selection(task: Record, lines: Lines) -> Record:
    variables = task.get("variables") or []
    groups = (
        ("on both", True, True),
        ("on the original only", True, False),
        ("on the release only", False, True),
        ("on neither", False, False),
    )
    measures = {
        key: {**measure, "label": shortened(measure["label"], _NAME)}
        for key, measure in (task.get("measures") or {}).items()
    }
    return {
        "response": shortened(task["response"], _NAME),
        "reason": task.get("reason"),
        "n": [count(n) for n in task["n"]],
        "incomplete": [count(n) for n in task["n_incomplete"]],
        "left_out": [shortened(name, _NAME) for name in task.get("left_out") or []],
        "groups": [
            {"where": where, "names": _names(variables, first, second)}
            for where, first, second in groups
        ],
        "lines": [
            {**line, "sample": _number(measure.get("chance"))}
            for line, measure in zip(lines(measures), measures.values(), strict=True)
        ],
    }


def _names(variables: list[Record], original: bool, released: bool) -> str:
    found = [
        shortened(variable["name"], _NAME)
        for variable in variables
        if (variable["original"], variable["released"]) == (original, released)
    ]
    rest = len(found) - _MOST_LISTED
    listed = [*found[:_MOST_LISTED], *([f"and {rest} more"] if rest > 0 else [])]
    return ", ".join(listed) or "none"


def _loss(line: Record) -> Record:
    return {
        "loss": shortened(line["loss"], 160),
        "released": _number(line.get("released")),
        "other": _number(line.get("other")),
        "ratios": [
            {
                "text": estimate(line[form]),
                "missing": line[form]["value"] is None,
                "favours": _favours(line[form]["value"]),
            }
            for form in ("defined", "printed")
        ],
    }


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)


def _favours(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return "this" if ratio > 1 else "other" if ratio < 1 else "neither"
