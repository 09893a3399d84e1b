"""Privacy for utility: a release against another release of the same original.

The ratio of the two relative privacy efficiencies (`icsa.tradeoff`), one for each loss of utility.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from icsa.assessment.asked import Failed
from icsa.measures import Estimate, Measure, NotEstimable
from icsa.tradeoff import Form, Replicates, efficiency_ratio

if TYPE_CHECKING:
    from icsa.assessment.assessing import Assessment

__all__ = ["NO_INTERVAL", "Efficiency", "EfficiencyLine", "compare_efficiency"]

NO_INTERVAL = (
    "there is one release of each, and how much the ratio varies from key to key cannot be told "
    "from one"
)
# Losses are shares, or counted in standard errors: this little is what the sums of a copy whose
# rows are in another order leave. Errors of people are squares of such.
_NOTHING = 1e-9


@dataclass(frozen=True, kw_only=True)
class EfficiencyLine:
    """One loss of utility under two releases, and the ratio of their efficiencies.

    Attributes
    ----------
    loss : str
        What was lost.
    released, other : Measure
        How much, by the release and by the other one; lower is better.
    defined, printed : Measure
        How many times as efficient the release is as the other, with the square root of the outlier
        replication error as defined, and without it as in the published table. Above 1 favours the
        release.
    """

    loss: str
    released: Measure
    other: Measure
    defined: Measure
    printed: Measure


@dataclass(frozen=True, eq=False, kw_only=True)
class Efficiency:
    """A release against another one.

    Attributes
    ----------
    other : Assessment
        Of the other release, for the same people.
    ore_is : "ore" or "ore_scaled"
        Which outlier replication error was used: the raw one as published, or where numbers are
        missing the centred and scaled one.
    ore : pair of Measure
        Of the release and of the other one.
    lines : tuple of EfficiencyLine
    """

    other: Assessment
    ore_is: Literal["ore", "ore_scaled"]
    ore: tuple[Measure, Measure]
    lines: tuple[EfficiencyLine, ...]


def compare_efficiency(found: Assessment, other: Assessment) -> Efficiency:
    """Return the relative privacy efficiency of a release against that of another.

    Both are of one original, with the same people and the same analyses.
    """
    raw = all(each.measures["ore"].value is not None for each in (found, other))
    key: Literal["ore", "ore_scaled"] = "ore" if raw else "ore_scaled"
    ore = found.measures[key], other.measures[key]
    reason = _not_comparable(found, other)
    lines = []
    for loss, first, second in _losses(found, other):
        ratios = {
            form: Measure.of(
                reason or _ratio(ore, (first, second), root=form == "defined"),
                name=f"efficiency ratio ({form})",
                direction="higher is better",
                n=2,
            )
            for form in get_args(Form)
        }
        lines.append(EfficiencyLine(loss=loss, released=first, other=second, **ratios))
    return Efficiency(other=other, ore_is=key, ore=ore, lines=tuple(lines))


def _not_comparable(found: Assessment, other: Assessment) -> NotEstimable | None:
    compared = [{column.name for column in each.tables.columns} for each in (found, other)]
    if compared[0] == compared[1]:
        return None
    names = ", ".join(repr(name) for name in sorted(compared[0] ^ compared[1])[:5])
    return NotEstimable(f"only one of the releases has columns such as {names} to compare")


def _ratio(ore: tuple[Measure, Measure], loss: tuple[Measure, Measure], *, root: bool) -> Estimate:
    values = []
    for measure in (*ore, *loss):
        if measure.value is None:
            return NotEstimable(measure.reason)
        values.append(measure.value)
    if values[2] <= _NOTHING:
        return NotEstimable("the release loses nothing, and nothing can be divided by that")
    if values[1] <= _NOTHING**2:
        return NotEstimable("the other release copies all of the people: its error is 0")
    a, b = (Replicates(np.array([values[k]]), np.array([values[k + 2]])) for k in (0, 1))
    return efficiency_ratio(a, b, root=root)


def _losses(found: Assessment, other: Assessment) -> Iterator[tuple[str, Measure, Measure]]:
    """Yield each loss with its name, for both releases."""
    yield ("mean distance of columns (KS or TV)", *_mean_distances(found, other))
    for (name, first), (_, second) in zip(_losses_of(found), _losses_of(other), strict=True):
        yield name, first, second


def _mean_distances(found: Assessment, other: Assessment) -> tuple[Measure, Measure]:
    """Return the mean distance of the columns that both releases have."""
    first, second = (
        {
            margin.name: value
            for margin in each.utility.margins
            if (value := margin.distance.measure.value) is not None
        }
        for each in (found, other)
    )
    names = [name for name in first if name in second]
    if not names:
        nothing = _loss(NotEstimable("no column has a distance in both releases"))
        return nothing, nothing
    means = [float(np.mean([distances[name] for name in names])) for distances in (first, second)]
    return _loss(means[0], len(names)), _loss(means[1], len(names))


def _losses_of(assessment: Assessment) -> list[tuple[str, Measure]]:
    """Return the losses of the analyses that were asked for, in a fixed order."""
    useful = assessment.utility
    losses = []
    for model in useful.models:
        name = f"mean error of coefficients, in standard errors: {model.name}"
        losses.append((name, _failed(model) if isinstance(model, Failed) else model.error))
    for task in useful.tasks.classification:
        if isinstance(task, Failed):
            losses.append((f"1 − accuracy of predicting {task.name!r}", _failed(task)))
        else:
            name = f"1 − accuracy of predicting {task.target!r}"
            losses.append((name, _lacking(task.accuracy_released)))
    groups = useful.tasks.clustering
    if groups is not None:
        name = f"1 − adjusted Rand index of {groups.n_clusters} groups"
        losses.append((name, _lacking(groups.agreement)))
    for chosen in useful.tasks.selection:
        response = chosen.name if isinstance(chosen, Failed) else chosen.response
        for key, words in _SELECTION.items():
            loss = _failed(chosen) if isinstance(chosen, Failed) else chosen.values[key].measure
            if words.startswith("1 − "):
                loss = _lacking(loss)
            losses.append((f"{words}, lasso for {response!r}", loss))
    return losses


_SELECTION = {
    "recall": "1 − recall",
    "fpr": "false positive rate",
    "precision": "1 − precision",
    "jaccard": "1 − Jaccard index",
    "distance": "distance of coefficients",
}


def _lacking(measure: Measure) -> Measure:
    """Return what a measure that is better when higher lacks to 1."""
    if measure.value is None:
        return _loss(NotEstimable(measure.reason))
    return _loss(1.0 - measure.value, measure.n)


def _failed(failed: Failed) -> Measure:
    return _loss(NotEstimable(failed.reason))


def _loss(estimate: Estimate, n: int = 0) -> Measure:
    return Measure.of(estimate, name="loss", direction="lower is better", n=n)
