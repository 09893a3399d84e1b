"""Prediction, groups and the picture: by hand, against scikit-learn, and what cannot be done."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from icsa.comparison.column_pairs import ColumnPair, category_column, numeric_column
from icsa.errors import InputError, UnknownNameError
from icsa.measures import NotEstimable
from icsa.utility.classification import (
    _mean_area,
    class_probabilities,
    classification_task,
)
from icsa.utility.clustering import adjusted_rand, clustering_task
from icsa.utility.principal import principal_picture


def table(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, np.where(x[:, 0] + 0.5 * rng.normal(size=n) > 0, "ill", "well")


def columns_of(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> list:
    return [
        numeric_column("u", a[0][:, 0], b[0][:, 0]),
        numeric_column("v", a[0][:, 1], b[0][:, 1]),
        category_column("state", a[1], b[1]),
    ]


@pytest.mark.parametrize("model", ["forest", "logistic"])
def test_a_good_release_predicts_as_well(model: str) -> None:
    task = classification_task(columns_of(table(1), table(2)), "state", model=model)
    assert task.n_test == 90
    assert task.accuracy_original.value > 0.75
    assert task.auc_released.value > 0.85
    assert abs(task.accuracy_loss.measure.value) < 0.1
    assert 0.45 < task.accuracy_of_guessing < 0.65


def test_a_release_without_the_association_loses() -> None:
    x, y = table(2)
    broken = x, np.where(y == "ill", "well", "ill")
    task = classification_task(columns_of(table(1), broken), "state", model="logistic")
    assert task.auc_loss.measure.value > 0.1
    assert task.auc_loss.beyond_chance
    assert task.accuracy_loss.beyond_chance


def test_areas_of_several_levels_are_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    truth, p = rng.integers(0, 3, size=60), rng.dirichlet(np.ones(3), size=60)
    expected = roc_auc_score(truth, p, multi_class="ovr", average="macro")
    assert _mean_area(p, truth) == pytest.approx(expected)


def test_classification_without_an_answer_has_reasons() -> None:
    x = np.arange(40.0)
    one = [numeric_column("x", x, x), category_column("y", ["a"] * 40, ["a"] * 40)]
    assert "one level only" in classification_task(one, "y").accuracy_loss.measure.reason
    gone = [numeric_column("x", x, x), category_column("y", x > 20, [None] * 40)]
    assert "missing in the whole release" in classification_task(gone, "y").auc_released.reason
    flat = [numeric_column("x", x * 0, x * 0), category_column("y", x > 20, x > 20)]
    assert "no other column" in classification_task(flat, "y").auc_released.reason
    with pytest.raises(UnknownNameError, match="No column 'z'"):
        classification_task(one, "z")
    with pytest.raises(InputError, match="'x' is numeric"):
        classification_task(one, "x")
    with pytest.raises(InputError, match="test_share must be between 0 and 1: got 2"):
        classification_task(one, "y", test_share=2)
    with pytest.raises(UnknownNameError, match="classifier 'svm'"):
        classification_task(one, "y", model="svm")  # type: ignore[arg-type]


def test_a_release_with_one_level_predicts_that_level() -> None:
    found = class_probabilities(
        "logistic", np.ones((3, 1)), np.array([1, 1, 1]), np.ones((2, 1)), 2
    )
    np.testing.assert_array_equal(found, [[0.0, 1.0], [0.0, 1.0]])


def test_adjusted_rand_by_hand_and_by_scikit_learn() -> None:
    # Pairs together: 1 in both, 2 in the first, 2 in the second, 6 in all: (1 - 4/6) / (2 - 4/6).
    first, second = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
    assert adjusted_rand(first, second) == pytest.approx(adjusted_rand_score(first, second))
    assert adjusted_rand(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == pytest.approx(-0.5)
    assert adjusted_rand(np.zeros(3, int), np.zeros(3, int)) == 1.0
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 4, 50)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b))


def groups(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(40, 2)) + centre for centre in ([0, 0], [9, 0], [0, 9])])


def test_groups_are_found_again_or_not() -> None:
    a, b = groups(1), groups(2)
    same = clustering_task(
        [numeric_column("u", a[:, 0], b[:, 0]), numeric_column("v", a[:, 1], b[:, 1])]
    )
    assert same.agreement.value == 1.0
    assert same.of_a_sample.value > 0.95
    blob = np.random.default_rng(0).normal(size=(120, 2))
    lost = clustering_task([numeric_column(n, a[:, j], blob[:, j]) for j, n in enumerate("uv")])
    assert lost.agreement.value < lost.of_a_sample.low


def test_clustering_without_groups_has_reasons() -> None:
    column = numeric_column("x", [1.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    found = clustering_task([column], n_clusters=2)
    assert "as many different rows in both tables" in found.agreement.reason
    assert found.of_a_sample.value is None
    with pytest.raises(InputError, match="at least 2: got 1"):
        clustering_task([column], n_clusters=1)


def picture_columns(a: np.ndarray, b: np.ndarray) -> list[ColumnPair]:
    return [numeric_column(f"x{j}", a[:, j], b[:, j]) for j in range(a.shape[1])]


def test_the_picture_is_that_of_the_original() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=(500, 3)) @ np.diag([1.0, 5.0, 100.0])
    a[:, 1] += 20 * a[:, 0]
    picture = principal_picture(picture_columns(a, a[::-1]))
    assert picture.explained[0] > 0.6
    np.testing.assert_allclose(picture.loadings.sum(axis=0), 1.0)
    assert picture.loadings[2, 0] < 0.01
    np.testing.assert_allclose(picture.released, picture.original[::-1], atol=1e-10)
    again = principal_picture(picture_columns(a, a + np.array([0.0, 0.0, 1e4])))
    np.testing.assert_allclose(again.original, picture.original)


def test_one_person_does_not_turn_the_axes_but_stands_out() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=(300, 2))
    a[:, 1] = a[:, 0] + 0.1 * a[:, 1]
    b = a.copy()
    b[7] = [1000.0, -1000.0]
    plain, with_person = (principal_picture(picture_columns(x, x)) for x in (a, b))
    np.testing.assert_allclose(with_person.loadings, plain.loadings, atol=0.02)
    # the person lies across the first axis, which the others alone have made
    assert abs(with_person.original[7, 1]) > 500 > abs(with_person.original[7, 0])
    np.testing.assert_allclose(with_person.explained, plain.explained, atol=0.05)


def test_pictures_are_sampled_and_refused() -> None:
    x = np.arange(50.0)[:, None]
    columns = picture_columns(np.hstack([x, x**2]), np.hstack([x, x**2]))
    assert principal_picture(columns, max_points=7).original.shape == (7, 2)
    assert isinstance(principal_picture(columns[:1]), NotEstimable)
    with pytest.raises(InputError, match="at least 1"):
        principal_picture(columns, n_components=0)
