"""The part of an assessment's document about what analyses lose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import UNSET, UnsetType

from icsa.assessment import document_parts as doc
from icsa.assessment.asked import Failed
from icsa.assessment.bars import column_bars
from icsa.assessment.efficiency import NO_INTERVAL, Efficiency
from icsa.assessment.public_edition import FEWEST_TOLD
from icsa.assessment.usefulness import Usefulness
from icsa.assessment.utility_words import UTILITY_GOOD
from icsa.comparison.column_pairs import ColumnPair
from icsa.measures import Measure, NotEstimable
from icsa.utility.beyond_range import BeyondRange
from icsa.utility.chance import AgainstChance, SideBySide
from icsa.utility.classification import ClassificationTask
from icsa.utility.clustering import ClusteringTask
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome
from icsa.utility.lost_curves import CurveScreen
from icsa.utility.margins import Margin, NumericMargin
from icsa.utility.variable_selection import SelectionTask

if TYPE_CHECKING:
    from icsa.assessment.assessing import Assessment

__all__ = ["filled_utility"]

_WORST_PAIRS = 10
# In public one person makes up at most this share of a sum: what it tells of the largest value is
# then off by a third or more.
_MOST_OF_ONE = 0.5


def filled_utility(assessment: Assessment, public: bool) -> doc.Utility:
    """Return columns, pairs, models, tasks, ...; in public without levels and points."""
    useful, tasks = assessment.utility, assessment.utility.tasks
    columns = zip(assessment.tables.columns, useful.margins, strict=True)
    return doc.Utility(
        columns=[_column(column, margin, useful.beyond, public) for column, margin in columns],
        pairs=_pairs(useful),
        curves=_curves(useful.curves),
        whole={
            name: _good(found.measure, name, chance=found.expected)
            for name, found in useful.whole.items()
        },
        picture=None if public else _picture(useful),
        models=[_model(model, public) for model in useful.models],
        tasks=doc.Tasks(
            classification=[_classification(task) for task in tasks.classification],
            clustering=None if tasks.clustering is None else _clustering(tasks.clustering),
            selection=[_selection(task) for task in tasks.selection],
        ),
        efficiency=None if assessment.efficiency is None else _efficiency(assessment.efficiency),
    )


def _good(
    measure: Measure, definition: str, *, chance: float | UnsetType | None = UNSET
) -> doc.Measure:
    """Return a measure with what is good by its words."""
    good = UTILITY_GOOD[definition]
    return doc.measured(measure, definition=definition, good=good, chance=chance)


def _column(column: ColumnPair, margin: Margin, beyond: BeyondRange, public: bool) -> doc.Column:
    distance, reach = margin.distance, beyond.reaches.get(column.name)
    return doc.Column(
        name=column.name,
        kind=column.kind,
        unit=column.unit,
        original=_summary(column, margin, "original", public),
        released=_summary(column, margin, "released", public),
        missing=(_missing(column, margin, public), margin.missing.released.value),
        distance=doc.Distance(
            name="KS" if isinstance(margin, NumericMargin) else "TV",
            value=distance.measure.value,
            chance=distance.expected,
            chance_high=distance.limit,
        ),
        levels=None if public else _levels(column, margin),
        # Beside the release, counts tell where the original's extremes lie.
        beyond=None if public or reach is None else reach.describe(),
        bars=column_bars(column),
    )


def _missing(column: ColumnPair, margin: Margin, public: bool) -> float | None:
    """Return the share of missing cells in the original; in public not of one or two."""
    share = margin.missing.original.value
    count = int(column.missing[0].sum())
    return None if public and 0 < count < FEWEST_TOLD else share


def _summary(
    column: ColumnPair, margin: Margin, table: Literal["original", "released"], public: bool
) -> doc.Summary:
    if not isinstance(margin, NumericMargin):
        return doc.Summary(mean=None, sd=None, quantiles=(None,) * 5)

    def value(both: SideBySide) -> float | None:
        found: Measure = getattr(both, table)
        return found.value

    quantiles = [value(quantile) for quantile in margin.quantiles]
    if public:
        telling = _telling_values(column.original)
        quantiles = [
            None if q is None or q in telling or doc.rounded(q, doc.DIGITS) in telling else q
            for q in quantiles
        ]
    q05, q25, q50, q75, q95 = quantiles
    hidden = public and table == "original"
    return doc.Summary(
        mean=None if hidden and _is_one_persons(column.original, 1) else value(margin.mean),
        sd=None
        if hidden and _is_one_persons(column.original, 2)
        else value(margin.standard_deviation),
        quantiles=(q05, q25, q50, q75, q95),
    )


def _is_one_persons(numbers: np.ndarray, power: int) -> bool:
    """Return whether one person makes up most of a sum of deviations, which then tells the value.

    Examples
    --------
    >>> ages = np.array([41.0, 42.0, 43.0, 44.0, np.nan])
    >>> _is_one_persons(ages, 2), _is_one_persons(np.append(ages, 990.0), 2)
    (False, True)
    """
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        return False
    away = np.abs(known - np.median(known)) ** power
    return bool(away.max() > _MOST_OF_ONE * away.sum())


def _telling_values(numbers: np.ndarray) -> set[float]:
    """Return the values that only one person has, and the largest and smallest."""
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if not values.size:
        return set()
    return {*values[counts == 1].tolist(), float(values[0]), float(values[-1])}


def _levels(column: ColumnPair, margin: Margin) -> list[doc.Level] | None:
    if isinstance(margin, NumericMargin) or column.levels is None:
        return None
    return [
        doc.Level(level=level, original=share.original.value, released=share.released.value)
        for level, share in zip(column.levels, margin.shares, strict=True)
    ]


def _pairs(useful: Usefulness) -> doc.Pairs:
    pairs = useful.pairs
    expected = [p.difference.expected for p in pairs.pairs if p.difference.expected is not None]
    return doc.Pairs(
        names=list(pairs.names),
        difference=pairs.matrix().tolist(),
        limit=pairs.matrix("limit").tolist(),
        chance=float(np.median(expected)) if expected else None,
        worst=[
            doc.Pair(
                first=pair.first,
                second=pair.second,
                measure=pair.association,
                original=_estimate(pair.original),
                released=_estimate(pair.released),
                difference=pair.difference.measure.value,
                chance=pair.difference.limit,
            )
            for pair in pairs.worst(_WORST_PAIRS)
        ],
    )


def _curves(found: CurveScreen) -> doc.Curves:
    return doc.Curves(
        columns=found.n_columns,
        left_out=found.n_left_out,
        compared=found.n_terms,
        found=found.n_curves,
        lost=len(found.lost),
        worst=[
            doc.LostCurve(
                column=curve.column,
                first=curve.first,
                second=curve.second,
                original=curve.original,
                released=curve.released,
                chance=curve.limit,
            )
            for curve in found.lost[:_WORST_PAIRS]
        ],
    )


def _estimate(value: float | NotEstimable) -> float | None:
    return None if isinstance(value, NotEstimable) else value


def _picture(useful: Usefulness) -> doc.Picture | None:
    picture = useful.picture
    if isinstance(picture, NotEstimable):
        return None
    first, second = picture.explained.tolist()
    return doc.Picture(
        original=_drawn(picture.original),
        released=_drawn(picture.released),
        explained=(first, second),
    )


def _drawn(points: np.ndarray) -> list[tuple[float, float]]:
    """Return points with the digits that a drawing needs."""
    return [(float(f"{x:.4g}"), float(f"{y:.4g}")) for x, y in points.tolist()]


def _model(model: AnalysisComparison | Failed, public: bool) -> doc.Model:
    if isinstance(model, Failed):
        return doc.Model(formula=model.name, reason=model.reason)
    names = [estimate.name for estimate in model.estimates]
    shown = _without_levels(names) if public else names
    reasons = [e.released.reason for e in model.estimates if isinstance(e.released, NotEstimable)]
    return doc.Model(
        formula=model.name,
        family=model.method,
        n=(model.n_original, model.n_released),
        rows=[
            doc.Coefficient(
                term=name,
                original=_outcome(estimate.original),
                released=_outcome(estimate.released),
                overlap=estimate.overlap.value,
                error_in_se=estimate.error.value,
                sign_flip=estimate.sign_flip,
                significance_flip=estimate.significance_flip,
            )
            for name, estimate in zip(shown, model.estimates, strict=True)
        ],
        reason=reasons[0] if reasons else None,
    )


def _without_levels(names: list[str]) -> list[str]:
    """Return names of coefficients with numbers in place of levels, which are cells.

    Examples
    --------
    >>> _without_levels(["age", "ward[T.a]b]:sex[T.m]", "sex[T.f]"])
    ['age', 'ward (level 1):sex (level 1)', 'sex (level 2)']
    """
    seen: dict[str, dict[str, int]] = {}

    def numbered(match: re.Match[str]) -> str:
        levels = seen.setdefault(match[1], {})
        return f"{match[1]} (level {levels.setdefault(match[2], len(levels) + 1)})"

    return [re.sub(r"([^\[\]:]*)\[(.*?)\](?=:|$)", numbered, name) for name in names]


def _outcome(outcome: Outcome) -> doc.Estimate:
    if isinstance(outcome, Estimated):
        return doc.Estimate(estimate=outcome.value, low=outcome.low, high=outcome.high)
    return doc.Estimate(estimate=None, low=None, high=None)


def _classification(task: ClassificationTask | Failed) -> doc.Classification:
    if isinstance(task, Failed):
        return doc.Classification(target=task.name, reason=task.reason)
    return doc.Classification(
        target=task.target,
        model=task.model,
        n_test=task.n_test,
        guessing=task.accuracy_of_guessing,
        rows=[
            _learnt("accuracy", task.accuracy_original, task.accuracy_released, task.accuracy_loss),
            _learnt("auc", task.auc_original, task.auc_released, task.auc_loss),
        ],
        reason=task.accuracy_released.reason or None,
    )


def _learnt(
    name: Literal["accuracy", "auc"], original: Measure, released: Measure, loss: AgainstChance
) -> doc.Learnt:
    return doc.Learnt(
        name=name,
        original=doc.measured(original, definition=name, good="high"),
        released=_good(released, name),
        loss=loss.measure.value,
        chance=loss.limit,
    )


def _clustering(task: ClusteringTask) -> doc.Clustering:
    sample = task.of_a_sample
    return doc.Clustering(
        clusters=task.n_clusters,
        agreement=_good(task.agreement, "adjusted_rand", chance=sample.value),
        of_a_sample=doc.measured(sample, definition="adjusted_rand", good=""),
    )


def _selection(task: SelectionTask | Failed) -> doc.Selection:
    if isinstance(task, Failed):
        return doc.Selection(response=task.name, reason=task.reason)
    chosen = zip(task.variables, task.original, task.released, strict=True)
    return doc.Selection(
        response=task.response,
        n=(task.n_original, task.n_released),
        n_incomplete=task.n_incomplete,
        left_out=list(task.left_out),
        variables=[
            doc.Variable(name=name, original=bool(first), released=bool(second))
            for name, first, second in chosen
        ],
        measures={
            key: _good(
                value.measure,
                "coefficient_distance" if key == "distance" else key,
                chance=value.of_a_sample.value,
            )
            for key, value in task.values.items()
        },
        reason=task.reason or None,
    )


def _efficiency(efficiency: Efficiency) -> doc.Efficiency:
    other, which = efficiency.other, efficiency.ore_is
    released, others = (
        doc.measured(measure, definition=which, good="high") for measure in efficiency.ore
    )
    return doc.Efficiency(
        other=doc.OtherRelease(
            verdict=other.verdict,
            rows=other.tables.shapes[1][0],
            notes=list(other.tables.notes),
        ),
        ore=doc.Ore(which=which, released=released, other=others),
        lines=[
            doc.EfficiencyLine(
                loss=line.loss,
                released=line.released.value,
                other=line.other.value,
                defined=_good(line.defined, "efficiency"),
                printed=_good(line.printed, "efficiency"),
            )
            for line in efficiency.lines
        ],
        no_interval=NO_INTERVAL,
    )
