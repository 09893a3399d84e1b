"""Predicting a column after learning from a release instead of from the original.

Needs scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from icsa.comparison.column_pairs import Codes, ColumnPair, RowNumbers, named, sampled
from icsa.comparison.designs import encoded
from icsa.correlations import area_under_curve
from icsa.errors import InputError, UnknownNameError
from icsa.matrices import Matrix, Vector
from icsa.measures import Estimate, Measure, NotEstimable
from icsa.utility.chance import LIMIT, AgainstChance, folded_normal

__all__ = [
    "ClassificationTask",
    "Classifier",
    "category_to_predict",
    "class_probabilities",
    "classification_task",
]

Classifier: TypeAlias = Literal["forest", "logistic"]

_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationTask:
    """What `classification_task` found. All numbers are of the same held-out original rows.

    Attributes
    ----------
    target : str
        The column to predict.
    model : "forest" or "logistic"
    n_test : int
        Number of held-out rows.
    accuracy_original, accuracy_released : Measure
        Share of held-out rows predicted rightly, after training on the original's other rows and
        on the release.
    accuracy_of_guessing : float or None
        Of guessing the most frequent level.
    accuracy_loss : AgainstChance
        Original minus released, with its standard error over the held-out rows.
    auc_original, auc_released : Measure
        Area under the curve; with more than two levels the mean over levels, each against the rest.
    auc_loss : AgainstChance
    """

    target: str
    model: Classifier
    n_test: int
    accuracy_original: Measure
    accuracy_released: Measure
    accuracy_of_guessing: float | None
    accuracy_loss: AgainstChance
    auc_original: Measure
    auc_released: Measure
    auc_loss: AgainstChance


def classification_task(
    columns: Sequence[ColumnPair],
    target: str,
    *,
    model: Classifier = "forest",
    test_share: float = 0.3,
    max_rows: int = 20_000,
) -> ClassificationTask:
    """Return how well a column is predicted after training on the release and on the original.

    Rows of the original are held out, and both models predict them. The release was made from all
    rows of the original, the held-out ones too: only the original's model has never seen them.

    Parameters
    ----------
    columns : sequence of ColumnPair
        The target among them.
    target : str
        A category column; rows where it is missing are left out.
    model : "forest" or "logistic"
        100 trees, or the main effects.
    test_share : float
        Share of the original's rows that are held out.
    max_rows : int
        Of longer tables so many rows are drawn.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column, numeric_column
    >>> x = np.arange(200.0)
    >>> columns = [numeric_column("x", x, x), category_column("y", x > 99, x > 99)]
    >>> task = classification_task(columns, "y", model="logistic")
    >>> print(task.accuracy_released, task.n_test)
    1.00 (0.94 to 1.00) 60
    """
    if model not in get_args(Classifier):
        raise UnknownNameError("classifier", str(model), get_args(Classifier))
    if not 0.0 < test_share < 1.0:
        raise InputError(f"test_share must be between 0 and 1: got {test_share}.")
    rows = sampled(columns, max_rows, seed=_SEED)
    answers = category_to_predict(named(rows, target))
    others = [column for column in rows if column.name != target]
    design = encoded(others)
    known = np.flatnonzero(answers.original >= 0), np.flatnonzero(answers.released >= 0)
    order = np.random.default_rng(_SEED).permutation(known[0])
    n_test = round(test_share * order.size)
    test, train = order[:n_test], order[n_test:]
    reason = _why_not(answers, test, train, known[1], design.original.shape[1])
    if reason is not None:
        return _no_classification(target, model, n_test, reason)
    levels = len(answers.levels or ())
    new = design.original[test]
    return _classified(
        target,
        model,
        answers.original[test],
        class_probabilities(model, design.original[train], answers.original[train], new, levels),
        class_probabilities(
            model, design.released[known[1]], answers.released[known[1]], new, levels
        ),
    )


def category_to_predict(column: ColumnPair) -> ColumnPair:
    """Return the column if its levels can be predicted: a category, or a binary column.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column
    >>> category_to_predict(category_column("sex", ["f", "m"], ["m"]))
    <column of 2 levels, 2 and 1 rows>
    """
    if column.levels is not None:
        return column
    raise InputError(
        f"Column {column.name!r} is numeric; a category or binary column is needed to predict its "
        "levels. Declare it as a category, or fit a regression model to it."
    )


def class_probabilities(
    model: Classifier, x: Matrix, codes: Codes, new: Matrix, n_classes: int
) -> Matrix:
    """Return the probability of every class for new rows, shape (n_new, n_classes).

    A class that no row of `codes` has gets 0.

    Examples
    --------
    >>> x = np.repeat([0.0, 1.0], 50)[:, None]
    >>> codes = np.repeat([0, 2], 50)
    >>> class_probabilities("forest", x, codes, np.array([[1.0]]), 3)
    array([[0., 0., 1.]])
    """
    if model == "forest":
        from sklearn.ensemble import RandomForestClassifier

        leaf = max(1, x.shape[0] // 1000)
        learner: Any = RandomForestClassifier(100, min_samples_leaf=leaf, random_state=0, n_jobs=1)
    else:
        from sklearn.linear_model import LogisticRegression

        learner = LogisticRegression(max_iter=1000)
    if np.unique(codes).size == 1:
        certain: Matrix = np.eye(n_classes)[np.full(new.shape[0], codes[0])]
        return certain
    fitted = learner.fit(x, codes)
    probabilities = np.zeros((new.shape[0], n_classes))
    probabilities[:, fitted.classes_] = fitted.predict_proba(new)
    return probabilities


def _why_not(
    answers: ColumnPair, test: RowNumbers, train: RowNumbers, released: RowNumbers, n_features: int
) -> NotEstimable | None:
    if not n_features:
        return NotEstimable("there is no other column that varies")
    if np.unique(answers.original[train]).size < 2:
        return NotEstimable("the original's training rows have one level only")
    if not released.size:
        return NotEstimable("the target is missing in the whole release")
    if np.unique(answers.original[test]).size < 2:
        return NotEstimable("the held-out rows have one level only")
    return None


def _classified(
    target: str, model: Classifier, truth: Codes, original: Matrix, released: Matrix
) -> ClassificationTask:
    n = truth.size
    right = [(found.argmax(axis=1) == truth) + 0.0 for found in (original, released)]
    losses = right[0] - right[1]
    areas = [_mean_area(found, truth) for found in (original, released)]
    return ClassificationTask(
        target=target,
        model=model,
        n_test=n,
        accuracy_original=_accuracy(right[0]),
        accuracy_released=_accuracy(right[1]),
        accuracy_of_guessing=float(np.bincount(truth).max() / n),
        accuracy_loss=_loss("loss of accuracy", float(losses.mean()), _error_of_mean(losses), n),
        auc_original=_area("area under the curve", areas[0], n),
        auc_released=_area("area under the curve", areas[1], n),
        auc_loss=_loss(
            "loss of area under the curve",
            areas[0] - areas[1],
            _area_error(original, released, truth),
            n,
        ),
    )


def _accuracy(right: Vector) -> Measure:
    """Return the share of right answers with Wilson's interval, which stays within 0 and 1."""
    n, share, z = right.size, float(right.mean()), LIMIT
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Measure(
        name="accuracy",
        value=share,
        low=max(0.0, min(share, middle - half)),
        high=min(1.0, max(share, middle + half)),
        direction="higher is better",
        n=n,
    )


def _mean_area(probabilities: Matrix, truth: Codes) -> float:
    """Return the mean over the levels that are there of the area of each against the rest."""
    levels = np.unique(truth)
    if levels.size == 2:
        levels = levels[1:]
    areas = [
        area_under_curve(probabilities[truth == level, level], probabilities[truth != level, level])
        for level in levels
    ]
    return float(np.mean(areas))


def _area_error(original: Matrix, released: Matrix, truth: Codes) -> float:
    """Return the standard error of the difference of areas, from 100 resamples of the rows."""
    rng = np.random.default_rng(_SEED)
    differences = []
    for _ in range(100):
        rows = rng.integers(0, truth.size, size=truth.size)
        if np.unique(truth[rows]).size > 1:
            before, after = (_mean_area(found[rows], truth[rows]) for found in (original, released))
            differences.append(before - after)
    return float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0


def _error_of_mean(values: Vector) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def _loss(name: str, estimate: Estimate, error: float, n: int) -> AgainstChance:
    return AgainstChance.of(estimate, folded_normal(error), name=name, n=n)


def _area(name: str, estimate: Estimate, n: int) -> Measure:
    return Measure.of(estimate, name=name, direction="higher is better", n=n)


def _no_classification(
    target: str, model: Classifier, n_test: int, reason: NotEstimable
) -> ClassificationTask:
    accuracy, area = (
        _area("accuracy", reason, n_test),
        _area("area under the curve", reason, n_test),
    )
    return ClassificationTask(
        target=target,
        model=model,
        n_test=n_test,
        accuracy_original=accuracy,
        accuracy_released=accuracy,
        accuracy_of_guessing=None,
        accuracy_loss=AgainstChance.of(reason, None, name="loss of accuracy", n=n_test),
        auc_original=area,
        auc_released=area,
        auc_loss=AgainstChance.of(reason, None, name="loss of area under the curve", n=n_test),
    )
