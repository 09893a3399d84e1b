"""Each MCD kernel against a slow readable truth, degenerate rows included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.scatters import mcd_kernels as kernels
from icsa.scatters import mcd_swaps as swaps
from icsa.scatters.mcd_descent import descend


def _table(seed: int, n: int, p: int) -> np.ndarray:
    """Return a table with tied and repeated rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).round(1)
    x[n // 2] = x[0]
    return x


def _moments(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p, n = x.shape[1], x.shape[0]
    mean, cross = np.empty(p), np.zeros((p, p))
    xt = np.ascontiguousarray(x.T)
    kernels.subset_moments(xt, rows, rows.size, np.empty((p, n)), mean, cross)
    return mean, cross


SHAPES = st.tuples(st.integers(0, 2**32), st.integers(12, 150), st.integers(1, 7))


@given(SHAPES)
def test_subset_moments(shape: tuple[int, int, int]) -> None:
    x = _table(*shape)
    rows = np.arange(0, x.shape[0], 2)
    mean, cross = _moments(x, rows)
    centred = x[rows] - x[rows].mean(axis=0)
    np.testing.assert_allclose(mean, x[rows].mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(cross, centred.T @ centred, atol=1e-11)


@given(SHAPES)
def test_whitener_and_distances(shape: tuple[int, int, int]) -> None:
    x = _table(*shape)
    n, p = x.shape
    mean, cross = _moments(x, np.arange(n))
    w = np.empty((p, p))
    log_det = kernels.whitener(cross, n, w)
    covariance = np.cov(x.T).reshape(p, p)
    assert log_det == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-10)
    np.testing.assert_allclose(w @ covariance @ w.T, np.eye(p), atol=1e-10)
    squared = np.empty(n)
    kernels.distances(np.ascontiguousarray(x.T), mean, w, squared)
    centred = x - mean
    truth = np.einsum("ij,jk,ik->i", centred, np.linalg.inv(covariance), centred)
    np.testing.assert_allclose(squared, truth, rtol=1e-9, atol=1e-10)


def test_whitener_of_a_flat_subset_is_minus_infinity() -> None:
    x = _table(0, 40, 3)
    x[:, 2] = x[:, 0] - x[:, 1]
    assert kernels.whitener(_moments(x, np.arange(40))[1], 40, np.empty((3, 3))) == -np.inf


@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.data())
def test_select_and_nearest_with_ties(values: list[int], data: st.DataObject) -> None:
    squared = np.array(values, dtype=float)
    n = squared.size
    h = data.draw(st.integers(1, n))
    ordered = squared.copy()
    kernels.select(ordered, 0, n - 1, h - 1)
    assert ordered[h - 1] == np.sort(squared)[h - 1]
    assert ordered[:h].max() <= ordered[h - 1 :].min()
    rows = np.empty(h, dtype=np.int64)
    kernels.nearest(squared, h, np.empty(n), rows)
    np.testing.assert_array_equal(rows, np.sort(np.argsort(squared, kind="stable")[:h]))


def test_draw_subsets_are_distinct_and_uniform() -> None:
    subsets = np.empty((20_000, 3), dtype=np.int64)
    kernels.draw_subsets(6, 3, subsets.shape[0], 1, subsets)
    assert subsets.min() == 0
    assert subsets.max() == 5
    assert all(len(set(row)) == 3 for row in subsets[:500])
    for place in range(3):
        counts = np.bincount(subsets[:, place], minlength=6)
        assert np.sum((counts - 20_000 / 6) ** 2 / (20_000 / 6)) < 25  # chi-square, 5 df: p < 2e-4


def _border_state(seed: int, n: int, p: int, q: int):
    x = _table(seed, n, p)
    h = (n + p + 1) // 2
    xt = np.ascontiguousarray(x.T)
    rows = np.arange(h)
    for _ in range(50):  # to where a C-step changes nothing
        mean, cross = _moments(x, rows)
        w = np.empty((p, p))
        kernels.whitener(cross, h, w)
        squared, scratch = np.empty(n), np.empty(n)
        kernels.distances(xt, mean, w, squared)
        kernels.nearest(squared, h, scratch, rows)
    names = np.empty(2 * q, dtype=np.int64)
    swaps.border(squared, scratch, rows, names)
    gram = np.empty((2 * q, 2 * q))
    swaps.inner_products(xt, mean, w, names, 1 / (h - 1), np.empty((p, n)), gram)
    return x, h, rows.copy(), squared, names, gram


@given(seed=st.integers(0, 2**32), n=st.integers(40, 90), p=st.integers(2, 5))
def test_border_and_inner_products(seed: int, n: int, p: int) -> None:
    x, h, rows, squared, names, gram = _border_state(seed, n, p, 4)
    outside = np.setdiff1d(np.arange(n), rows)
    assert set(names[:4]) <= set(rows)
    assert set(names[4:]) <= set(outside)
    assert len(set(names)) == 8
    assert squared[names[:4]].min() >= np.sort(squared[rows])[-4]
    assert squared[names[4:]].max() <= np.sort(squared[outside])[3]
    centred = x[names] - x[rows].mean(axis=0)
    cross = np.cov(x[rows].T) * (h - 1)
    np.testing.assert_allclose(gram, centred @ np.linalg.inv(cross) @ centred.T, atol=1e-9)


@given(seed=st.integers(0, 2**32), n=st.integers(40, 90), p=st.integers(2, 5))
def test_exchanges_change_the_determinant_as_they_say(seed: int, n: int, p: int) -> None:
    x, h, rows, _, names, gram = _border_state(seed, n, p, 4)
    locked = np.zeros(8, dtype=np.bool_)
    for _ in range(3):
        before = np.linalg.det(np.cov(x[rows].T))
        ratio, leaving, entering = swaps.best_exchange(gram, h, locked)
        tried = {}
        for v in names[:4]:
            for u in names[4:]:
                swapped = np.append(np.setdiff1d(rows, v), u)
                tried[v, u] = np.linalg.det(np.cov(x[swapped].T)) / before
        assert ratio == pytest.approx(min(tried.values()), rel=1e-8)
        assert tried[names[leaving], names[entering]] == pytest.approx(ratio, rel=1e-8)
        rows = np.sort(np.append(np.setdiff1d(rows, names[leaving]), names[entering]))
        swaps.exchange(gram, h, leaving, entering, names)
        centred = x[names] - x[rows].mean(axis=0)
        cross = np.cov(x[rows].T) * (h - 1)
        np.testing.assert_allclose(
            gram, centred @ np.linalg.inv(cross) @ centred.T, rtol=1e-6, atol=1e-8
        )


@given(seed=st.integers(0, 2**32))
def test_swap_chain_returns_its_best_prefix(seed: int) -> None:
    x, h, rows, _, names, gram = _border_state(seed, 60, 3, 5)
    pairs = np.empty((5, 2), dtype=np.int64)
    taken = swaps.swap_chain(gram, h, names, pairs)
    determinants = []
    current = rows
    for leaving, entering in pairs:
        current = np.append(np.setdiff1d(current, leaving), entering)
        determinants.append(np.linalg.det(np.cov(x[current].T)) / np.linalg.det(np.cov(x[rows].T)))
    best = int(np.argmin(determinants))
    assert taken == (best + 1 if determinants[best] < 1 - 1e-10 else 0)
    replaced = rows.copy()
    swaps.replace_rows(replaced, pairs, 2, np.empty(60, dtype=np.bool_))
    wanted = np.union1d(np.setdiff1d(rows, pairs[:2, 0]), pairs[:2, 1])
    np.testing.assert_array_equal(replaced, wanted)


@given(seed=st.integers(0, 2**32), p=st.integers(2, 4))
def test_descend_ends_where_no_single_swap_helps(seed: int, p: int) -> None:
    n = 30
    x = np.random.default_rng(seed).normal(size=(n, p))
    h = (n + p + 1) // 2
    starts = np.empty((4, p + 1), dtype=np.int64)
    kernels.draw_subsets(n, p + 1, 4, seed, starts)
    objectives, subsets = np.empty(4), np.empty((4, h), dtype=np.int64)
    descend(
        np.ascontiguousarray(x.T), starts, p + 1, h, 1000, min(h - 1, n - h), objectives, subsets
    )
    rows = subsets[np.argmin(objectives)]
    best = np.linalg.slogdet(np.cov(x[rows].T))[1]
    assert best == pytest.approx(objectives.min(), abs=1e-10)
    for v in rows:
        for u in np.setdiff1d(np.arange(n), rows):
            swapped = np.append(np.setdiff1d(rows, v), u)
            assert np.linalg.slogdet(np.cov(x[swapped].T))[1] >= best - 1e-9
