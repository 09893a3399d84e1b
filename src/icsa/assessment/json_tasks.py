"""The part of the document about what is learnt from the release, and about another release."""

from __future__ import annotations

from typing import Any

from icsa.assessment.asked import Failed, Tasks
from icsa.assessment.efficiency import NO_INTERVAL, Efficiency, EfficiencyLine
from icsa.assessment.json_values import measure_dict
from icsa.measures import Measure
from icsa.utility.chance import AgainstChance
from icsa.utility.classification import ClassificationTask
from icsa.utility.clustering import ClusteringTask
from icsa.utility.variable_selection import SelectionTask

__all__ = ["efficiency_dict", "tasks_dict"]

_LIKE_A_SAMPLE = "near what resamples of the original have"


def tasks_dict(tasks: Tasks) -> dict[str, Any]:
    """Return classification, clustering and selection; columns by name, no level, no cell."""
    groups = tasks.clustering
    return {
        "classification": [_classification(task) for task in tasks.classification],
        "clustering": None if groups is None else _clustering(groups),
        "selection": [_selection(task) for task in tasks.selection],
    }


def efficiency_dict(efficiency: Efficiency | None) -> dict[str, Any] | None:
    """Return the release against another one, or None."""
    if efficiency is None:
        return None
    other, key = efficiency.other, efficiency.ore_is
    measures = [measure_dict(measure, definition=key, good="high") for measure in efficiency.ore]
    return {
        "other": {
            "verdict": other.verdict,
            "rows": other.tables.released.frame.height,
            "notes": list(other.tables.notes),
        },
        "ore": {"is": key, "released": measures[0], "other": measures[1]},
        "lines": [_line(line) for line in efficiency.lines],
        "no_interval": NO_INTERVAL,
    }


def _classification(task: ClassificationTask | Failed) -> dict[str, Any]:
    if isinstance(task, Failed):
        found: dict[str, Any] = {"target": task.name, "model": "", "n_test": 0, "guessing": None}
        return {**found, "rows": [], "reason": task.reason}
    return {
        "target": task.target,
        "model": task.model,
        "n_test": task.n_test,
        "guessing": task.accuracy_of_guessing,
        "rows": [
            _learnt("accuracy", task.accuracy_original, task.accuracy_released, task.accuracy_loss),
            _learnt("auc", task.auc_original, task.auc_released, task.auc_loss),
        ],
        "reason": task.accuracy_released.reason or None,
    }


def _learnt(name: str, original: Measure, released: Measure, loss: AgainstChance) -> dict[str, Any]:
    return {
        "name": name,
        "original": measure_dict(original, definition=name, good="high"),
        "released": measure_dict(released, definition=name, good="as from the original"),
        "loss": loss.measure.value,
        "chance": loss.limit,
    }


def _clustering(task: ClusteringTask) -> dict[str, Any]:
    return {
        "clusters": task.n_clusters,
        "agreement": _beside(task.agreement, task.of_a_sample, "adjusted_rand"),
        "of_a_sample": measure_dict(task.of_a_sample, definition="adjusted_rand"),
    }


def _selection(task: SelectionTask | Failed) -> dict[str, Any]:
    if isinstance(task, Failed):
        return {
            "response": task.name,
            "n": [0, 0],
            "n_incomplete": [0, 0],
            "left_out": [],
            "variables": [],
            "measures": {},
            "reason": task.reason,
        }
    chosen = zip(task.variables, task.original, task.released, strict=True)
    return {
        "response": task.response,
        "n": [task.n_original, task.n_released],
        "n_incomplete": list(task.n_incomplete),
        "left_out": list(task.left_out),
        "variables": [
            {"name": name, "original": bool(first), "released": bool(second)}
            for name, first, second in chosen
        ],
        "measures": {
            key: _beside(
                value.measure,
                value.of_a_sample,
                "coefficient_distance" if key == "distance" else key,
            )
            for key, value in task.values.items()
        },
        "reason": task.reason or None,
    }


def _beside(measure: Measure, of_a_sample: Measure, definition: str) -> dict[str, Any]:
    """Return a measure beside what resamples of the original give."""
    shown = measure_dict(measure, definition=definition, good=_LIKE_A_SAMPLE)
    return {**shown, "chance": of_a_sample.value}


def _line(line: EfficiencyLine) -> dict[str, Any]:
    return {
        "loss": line.loss,
        "released": line.released.value,
        "other": line.other.value,
        **{
            form: measure_dict(measure, definition="efficiency", good="above 1")
            for form, measure in (("defined", line.defined), ("printed", line.printed))
        },
    }
