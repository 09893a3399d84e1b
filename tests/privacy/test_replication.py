"""The outlier replication error: by hand, against a slow twin, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa import anonymize_matrix
from icsa.errors import InputError
from icsa.measures import NotEstimable
from icsa.privacy import (
    mean_replication_error,
    outlier_replication_error,
    replication_errors,
    replication_measure,
)

ORIGINAL = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [3.0, 4.0]])
RELEASED = np.array([[1.0, 1.0], [0.0, 0.0], [3.0, 3.0], [0.0, 1.0]])

# The block of released rows is 128: less than one, one, and several with a remainder.
TABLES = st.tuples(
    st.integers(0, 2**32), st.integers(1, 300), st.integers(1, 11), st.integers(1, 5)
)


def slow_errors(original: np.ndarray, released: np.ndarray, outliers: list[int]) -> np.ndarray:
    errors = []
    for k in outliers:
        squares = [float(np.sum((original[k] - row) ** 2)) for row in released]
        errors.append(min(squares) / float(np.sum(original[k] ** 2)))
    return np.array(errors)


def drawn(size: tuple[int, int, int, int]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    seed, n, p, m = size
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(m + 3, p)) * 10.0 ** rng.uniform(-3, 3, size=p)
    released = rng.normal(size=(n, p)) * np.abs(original).max(axis=0)
    return original, released, rng.permutation(m + 3)[:m].tolist()


def test_four_rows_by_hand() -> None:
    # (3, 4) is nearest to (3, 3): 1/25. (1, 0) to (0, 0) or (1, 1): 1/1. (0, 1) is copied: 0.
    assert outlier_replication_error(ORIGINAL, RELEASED, [3]) == 0.04
    np.testing.assert_array_equal(
        replication_errors(ORIGINAL, RELEASED, [3, 0, 1]), [0.04, 1.0, 0.0]
    )
    np.testing.assert_array_equal(
        replication_errors(ORIGINAL, RELEASED, [True, True, False, True]), [1.0, 0.0, 0.04]
    )
    mean = outlier_replication_error(ORIGINAL, RELEASED, np.array([0, 1, 3]))
    assert mean == pytest.approx(1.04 / 3, rel=1e-15)


def test_measure_by_hand() -> None:
    one = replication_measure(ORIGINAL, RELEASED, [3])
    assert (one.value, one.low, one.n, one.direction) == (0.04, None, 1, "higher is safer")
    # Errors 1 and 0: mean 1/2, standard error 1/2.
    two = replication_measure(ORIGINAL, RELEASED, [0, 1])
    assert two.value == 0.5
    assert two.low == pytest.approx(0.5 - 0.979982, abs=1e-6)


@given(TABLES, st.sampled_from("CF"))
def test_kernel_against_slow_twin(size: tuple[int, int, int, int], order: str) -> None:
    original, released, outliers = drawn(size)
    wanted = slow_errors(original, released, outliers)
    found = replication_errors(original, np.array(released, order=order), outliers)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    value = outlier_replication_error(original, np.array(released, order=order), outliers)
    assert value == pytest.approx(wanted.mean(), rel=1e-12)


@given(TABLES)
def test_zero_if_and_only_if_copied(size: tuple[int, int, int, int]) -> None:
    original, released, outliers = drawn(size)
    assert outlier_replication_error(original, released, outliers) > 0.0
    rng = np.random.default_rng(size[0])
    copied = rng.permutation(np.vstack([released, original[outliers]]))
    assert outlier_replication_error(original, copied, outliers) == 0.0
    if len(outliers) > 1:
        missing_one = np.vstack([released, original[outliers[1:]]])
        errors = replication_errors(original, missing_one, outliers)
        assert errors[0] > 0.0
        assert not errors[1:].any()


@given(TABLES)
def test_the_order_of_released_rows_does_not_matter(size: tuple[int, int, int, int]) -> None:
    original, released, outliers = drawn(size)
    shuffled = np.random.default_rng(size[0]).permutation(released)
    np.testing.assert_array_equal(
        replication_errors(original, released, outliers),
        replication_errors(original, shuffled, outliers),
    )


@given(TABLES, st.floats(1e-6, 1e6))
def test_a_common_factor_does_not_matter(size: tuple[int, int, int, int], c: float) -> None:
    original, released, outliers = drawn(size)
    np.testing.assert_allclose(
        replication_errors(c * original, c * released, outliers),
        replication_errors(original, released, outliers),
        rtol=1e-9,
    )


@given(TABLES)
def test_more_released_rows_are_never_safer(size: tuple[int, int, int, int]) -> None:
    original, released, outliers = drawn(size)
    fewer = replication_errors(original, released[: (size[1] + 1) // 2], outliers)
    assert np.all(replication_errors(original, released, outliers) <= fewer)


def test_a_robust_release_copies_less_than_sa() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 8))
    x[0] = 100.0 / np.sqrt(8)
    sa = anonymize_matrix(x, scatters=("identity", "cov"), mask="permute", random_state=1)
    robust = anonymize_matrix(x, scatters=("mcd50", "mcd75"), mask="permute", random_state=1)
    assert outlier_replication_error(x, sa, [0]) < 0.05
    assert outlier_replication_error(x, robust, [0]) > 0.2
    for scatters in (("identity", "cov"), ("mcd50", "mcd75")):
        redrawn = anonymize_matrix(x, scatters=scatters, mask="redraw", random_state=1)
        # Everybody else is within 6 of the centre: nobody comes nearer than .9 of the way.
        assert outlier_replication_error(x, redrawn, [0]) > 0.8
    # The unchecked inner function sees the same arrays.
    assert mean_replication_error(x[[0]], sa.T) == outlier_replication_error(x, sa, [0])


@pytest.mark.parametrize("outliers", [[], np.zeros(4, dtype=bool), np.array([], dtype=int)])
def test_without_outliers(outliers: object) -> None:
    missing = outlier_replication_error(ORIGINAL, RELEASED, outliers)
    assert missing == NotEstimable("no outliers were named")
    assert replication_errors(ORIGINAL, RELEASED, outliers) == missing
    assert replication_measure(ORIGINAL, RELEASED, outliers).reason == missing.reason


def test_an_outlier_of_length_zero() -> None:
    # Both when it is in the release (0/0) and when it is not (d/0).
    for released in (RELEASED, RELEASED[[0, 2]]):
        missing = outlier_replication_error(ORIGINAL, released, [2, 3])
        assert isinstance(missing, NotEstimable)
        assert missing.reason.startswith("1 of 2 outliers has length zero")
        assert replication_errors(ORIGINAL, released, [2, 3]) == missing
    both = outlier_replication_error(np.zeros((4, 2)), RELEASED, [0, 1])
    assert both.reason.startswith("2 of 2 outliers have length zero")


def test_squares_that_overflow() -> None:
    with pytest.raises(InputError, match=r"1e\+?150"):
        outlier_replication_error(1e200 * ORIGINAL, RELEASED, [3])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 3, 150])
def test_released_cells_that_are_not_finite(value: float, row: int) -> None:
    released = np.tile(RELEASED, (40, 1))
    released[row, 1] = value
    with pytest.raises(InputError, match="Column '1': 1 of 160 values"):
        outlier_replication_error(ORIGINAL, released, [0, 3])


def test_outliers_cells_that_are_not_finite() -> None:
    original = ORIGINAL.copy()
    original[1, 0] = np.nan
    assert outlier_replication_error(original, RELEASED, [3]) == 0.04
    with pytest.raises(InputError, match="missing"):
        outlier_replication_error(original, RELEASED, [3, 1])


@pytest.mark.parametrize(
    ("released", "outliers", "message"),
    [
        (RELEASED[:, :1], [0], "original has 2 columns and the release 1"),
        (RELEASED, [4], "from 0 to 3"),
        (RELEASED, [-1], "from 0 to 3"),
        (RELEASED, [True, False], "one for each of 4 rows: got 2"),
        (RELEASED, [0.0], "row numbers"),
        (RELEASED, [[0]], "vector of row numbers"),
        (RELEASED, 3, "vector of row numbers"),
        (RELEASED[:0], [0], "0 row"),
    ],
)
def test_errors(released: np.ndarray, outliers: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        outlier_replication_error(ORIGINAL, released, outliers)


def test_tables_are_not_changed_and_may_be_read_only() -> None:
    original, released = ORIGINAL.copy(), np.asfortranarray(RELEASED)
    original.flags.writeable = released.flags.writeable = False
    assert outlier_replication_error(original, released, [3]) == 0.04
    np.testing.assert_array_equal(original, ORIGINAL)
    np.testing.assert_array_equal(released, RELEASED)
