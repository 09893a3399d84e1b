"""Mapping kernels against plain matrix products."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from icsa.mapping import add_products, rows_of, scores_of

SIZES = st.tuples(st.integers(0, 2**32), st.integers(1, 200), st.integers(1, 11))


@given(SIZES)
def test_scores_and_rows(size: tuple[int, int, int]) -> None:
    seed, n, p = size
    rng = np.random.default_rng(seed)
    x, location = rng.normal(size=(n, p)), rng.normal(size=p)
    factor = np.tril(rng.normal(size=(p, p))) + 5.0 * np.eye(p)
    rotation = np.linalg.qr(rng.normal(size=(p, p)))[0]
    scores = np.zeros((p, n + 3))
    assert scores_of(x, location, factor, rotation, scores, 2) == 0.0
    wanted = rotation @ np.linalg.inv(factor) @ (x - location).T
    np.testing.assert_allclose(scores[:, 2 : n + 2], wanted, atol=1e-12)
    assert not scores[:, :2].any()
    assert not scores[:, n + 2 :].any()
    mixing = rng.normal(size=(p + 2, p))
    out = np.empty((p + 2, n))
    rows_of(wanted, mixing, np.ones(p + 2), out, 0, n)
    np.testing.assert_allclose(out, mixing @ wanted + 1.0, atol=1e-12)


def test_rows_in_place() -> None:
    rng = np.random.default_rng(0)
    scores, mixing, location = (
        rng.normal(size=(5, 130)),
        rng.normal(size=(5, 5)),
        rng.normal(size=5),
    )
    wanted = mixing @ scores + location[:, None]
    rows_of(scores, mixing, location, scores, 0, 70)
    rows_of(scores, mixing, location, scores, 70, 130)
    np.testing.assert_allclose(scores, wanted, atol=1e-13)


def test_a_score_that_is_not_finite_is_told() -> None:
    for value in (np.nan, np.inf):
        x = np.zeros((70, 2))
        x[66, 1] = value
        scores = np.empty((2, 70))
        assert np.isnan(scores_of(x, np.zeros(2), np.eye(2), np.eye(2), scores, 0))


@given(count=st.integers(0, 9))
def test_add_products(count: int) -> None:
    rng = np.random.default_rng(count)
    weights, sources, target = rng.normal(size=9), rng.normal(size=(9, 20)), rng.normal(size=20)
    wanted = target + np.concatenate([weights[:count] @ sources[:count, :15], np.zeros(5)])
    add_products(weights, sources, count, 15, target)
    np.testing.assert_allclose(target, wanted, atol=1e-14)
