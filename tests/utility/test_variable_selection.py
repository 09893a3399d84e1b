"""Variables that the lasso selects on both tables: known answers, missing cells, no answer."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.comparison.column_pairs import ColumnPair, category_column, numeric_column
from icsa.errors import InputError, UnknownNameError
from icsa.utility.lasso import cross_validated_lasso, random_folds
from icsa.utility.selection import SELECTION_METRICS
from icsa.utility.variable_selection import numeric_response, selection_task

NAMES = ("a", "b", "c", "d")


def drawn(seed: int, n: int = 200) -> np.ndarray:
    """Return four predictors and a response that the first two determine."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)) * [1.0, 10.0, 100.0, 0.1]
    return np.column_stack([x, 5.0 + x[:, 0] - 0.1 * x[:, 1]])


def columns_of(first: np.ndarray, second: np.ndarray) -> list[ColumnPair]:
    return [numeric_column(name, first[:, j], second[:, j]) for j, name in enumerate((*NAMES, "y"))]


def test_a_table_selects_what_it_selects() -> None:
    x = drawn(1)
    task = selection_task(columns_of(x, x), "y")
    assert task.variables == NAMES
    assert task.original.tolist() == task.released.tolist()
    found = {key: value.measure.value for key, value in task.values.items()}
    assert found == {"recall": 1, "fpr": 0, "precision": 1, "jaccard": 1, "distance": 0}
    assert (task.n_original, task.n_released, task.n_incomplete) == (200, 200, (0, 0))


def test_the_fit_is_that_of_the_studies() -> None:
    x = np.random.default_rng(3).normal(size=(80, 6))
    x[:, 5] += x[:, 0]
    columns = [numeric_column(str(j), x[:, j], x[::-1, j]) for j in range(6)]
    task = selection_task(columns, "5")
    folds = random_folds(80, 10, np.random.default_rng(0))
    fits = [
        cross_validated_lasso(z[:, :5], z[:, 5], folds=folds, convention="glmnet", stop_early=True)
        for z in (x, x[::-1])
    ]
    assert task.original.tolist() == fits[0].selected.tolist()
    assert task.released.tolist() == fits[1].selected.tolist()
    for key, metric in SELECTION_METRICS.items():
        assert task.values[key].measure.value == metric(fits[0].selected, fits[1].selected)


def test_a_release_without_the_relation_loses_it() -> None:
    x, broken = drawn(1), drawn(2)
    broken[:, 4] = 3.0 * broken[:, 3] + 0.01 * broken[:, 2]
    task = selection_task(columns_of(x, broken), "y")
    assert task.values["recall"].measure.value == 0.0
    assert task.values["precision"].measure.value == 0.0
    assert task.values["recall"].of_a_sample.value == 1.0
    assert task.values["distance"].measure.value > task.values["distance"].of_a_sample.high


def test_incomplete_rows_are_counted_and_sparse_columns_named() -> None:
    x, y = drawn(1), drawn(2)
    x[:7, 0] = np.nan
    y[3:5, 4] = np.nan
    y[:60, 2] = np.nan
    task = selection_task(columns_of(x, y), "y")
    assert task.left_out == ("c",)
    assert task.variables == ("a", "b", "d")
    assert task.n_incomplete == (7, 2)
    assert (task.n_original, task.n_released) == (193, 198)


def test_categories_count_as_one_variable_and_two_levels_as_a_response() -> None:
    rng = np.random.default_rng(4)
    ward, x = rng.choice(["n", "s", "e", "w"], 300), rng.normal(size=300)
    ill = np.where(x + 2.0 * (ward == "n") + rng.normal(size=300) > 0.5, "yes", "no")
    columns = [
        numeric_column("x", x, x),
        category_column("ward", ward, ward),
        category_column("ill", ill, ill),
    ]
    task = selection_task(columns, "ill")
    assert task.variables == ("x", "ward")
    assert task.original.tolist() == [True, True]
    assert task.values["fpr"].measure.reason == "the reference selects every variable"
    with pytest.raises(InputError, match="'ward' is a category of 4 levels"):
        selection_task(columns, "ward")
    with pytest.raises(UnknownNameError, match="Did you mean 'ward'"):
        selection_task(columns, "wardd")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda z: z[:15], "the release has 15 complete rows, and 20 are needed"),
        (lambda z: z * [1, 1, 1, 1, 0], "the response does not vary"),
    ],
)
def test_what_cannot_be_fitted_has_a_reason(change: object, reason: str) -> None:
    task = selection_task(columns_of(drawn(1), change(drawn(2))), "y")  # type: ignore[operator]
    assert task.reason == reason
    assert task.variables == ()
    for value in task.values.values():
        assert (value.measure.value, value.measure.reason) == (None, reason)


def test_a_response_without_another_column_has_a_reason() -> None:
    x = drawn(1)[:, 0]
    assert selection_task([numeric_column("y", x, x)], "y").reason == "there is no other column"
    constant = numeric_column("k", 0 * x, 0 * x)
    assert selection_task([numeric_column("y", x, x), constant], "y").reason == (
        "no other column varies"
    )


def test_levels_of_a_response_are_zero_one_and_missing() -> None:
    column = numeric_response(category_column("sex", ["f", "m", None], ["m"]))
    np.testing.assert_array_equal(column.original, [0.0, 1.0, np.nan])
    np.testing.assert_array_equal(column.released, [1.0])
