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
    kernels.draw_subsets(6, 0, 1, subsets)
    assert subsets.min() == 0
    assert subsets.max() == 5
    assert all(len(set(row)) == 3 for row in subsets[:500])
    for place in range(3):
        counts = np.bincount(subsets[:, place], minlength=6)
        assert np.sum((counts - 20_000 / 6) ** 2 / (20_000 / 6)) < 25  # chi-square, 5 df: p < 2e-4


def test_a_subset_depends_on_its_number_alone() -> None:
    together, apart = np.empty((9, 4), dtype=np.int64), np.empty((9, 4), dtype=np.int64)
    kernels.draw_subsets(11, 5, 3, together)
    for number in range(9):
        kernels.draw_subsets(11, 5 + number, 3, apart[number : number + 1])
    np.testing.assert_array_equal(together, apart)


def test_draw_balls_with_ties() -> None:
    z = np.random.default_rng(4).integers(0, 4, size=(3, 40)).astype(float)
    centres, balls = np.array([[7], [0], [39]]), np.empty((3, 11), dtype=np.int64)
    kernels.draw_balls(z, centres, 11, balls)
    for centre, ball in zip(centres[:, 0], balls, strict=True):
        squared = np.sum((z - z[:, [centre]]) ** 2, axis=0)
        np.testing.assert_array_equal(ball, np.sort(np.argsort(squared, kind="stable")[:11]))


@given(st.integers(0, 2**32))
def test_shared_rows_come_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (
        np.array([np.sort(rng.permutation(20)[:12]) for _ in range(5)]) for _ in range(2)
    )
    starts, sizes = np.empty_like(first), np.empty(5, dtype=np.int64)
    kernels.shared_rows(first, second, 20, starts, sizes)
    for one, other, start, size in zip(first, second, starts, sizes, strict=True):
        np.testing.assert_array_equal(start[:size], np.intersect1d(one, other))
        np.testing.assert_array_equal(start[size:], np.setdiff1d(one, other))


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
        swaps.exchange(gram, h, leaving, entering, names, np.empty((3, 8)))
        centred = x[names] - x[rows].mean(axis=0)
        cross = np.cov(x[rows].T) * (h - 1)
        np.testing.assert_allclose(
            gram, centred @ np.linalg.inv(cross) @ centred.T, rtol=1e-6, atol=1e-8
        )


@given(seed=st.integers(0, 2**32))
def test_swap_chain_keeps_its_best_prefix(seed: int) -> None:
    x, h, rows, _, names, gram = _border_state(seed, 60, 3, 5)
    # The same chain, slowly: every swap the best one of rows that have not moved, until it climbs
    # too far.
    current, free, prefixes = rows, set(names), [rows]
    for _ in range(4):
        tried = {}
        for v in free & set(current):
            for u in free - set(current):
                swapped = np.append(np.setdiff1d(current, v), u)
                tried[v, u] = np.linalg.det(np.cov(x[swapped].T))
        v, u = min(tried, key=tried.__getitem__)
        current, free = np.sort(np.append(np.setdiff1d(current, v), u)), free - {v, u}
        prefixes.append(current)
        determinants = [np.linalg.det(np.cov(x[prefix].T)) for prefix in prefixes]
        if determinants[-1] > min(determinants) * (1.0 + 5.0 / h):
            break
    best_names = np.empty_like(names)
    helps = swaps.swap_chain(gram, h, names, best_names, 4)
    replaced = rows.copy()
    if helps:
        swaps.replace_rows(replaced, best_names, np.empty(60, dtype=np.bool_))
    got = np.linalg.det(np.cov(x[replaced].T))
    assert got == pytest.approx(min(determinants), rel=1e-7)


def _descended(x: np.ndarray, starts: np.ndarray, h: int, halts: int):
    """Return the ends of starts of p + 1 rows, with room to remember so many halts."""
    n, p = x.shape
    count = starts.shape[0]
    objectives, subsets = np.empty(count), np.empty((count, h), dtype=np.int64)
    sizes, border = np.full(count, p + 1), min(16, h - 1, n - h)
    values, owners = np.empty(halts), np.empty(halts, dtype=np.int64)
    xt = np.ascontiguousarray(x.T)
    known = descend(
        xt, starts, sizes, h, 1000, border, 8, objectives, subsets, 0, values, owners, 0
    )
    return objectives, subsets, known


@given(seed=st.integers(0, 2**32), p=st.integers(2, 4))
def test_descend_ends_where_no_single_swap_helps(seed: int, p: int) -> None:
    n = 30
    x = np.random.default_rng(seed).normal(size=(n, p))
    h = (n + p + 1) // 2
    starts = np.empty((4, p + 1), dtype=np.int64)
    kernels.draw_subsets(n, 0, seed, starts)
    objectives, subsets, _ = _descended(x, starts, h, 64)
    for objective, rows in zip(objectives, subsets, strict=True):
        best = np.linalg.slogdet(np.cov(x[rows].T))[1]
        assert best == pytest.approx(objective, abs=1e-10)
        for v in rows:
            for u in np.setdiff1d(np.arange(n), rows):
                swapped = np.append(np.setdiff1d(rows, v), u)
                assert np.linalg.slogdet(np.cov(x[swapped].T))[1] >= best - 1e-9


def test_ways_that_were_gone_before_are_not_gone_again_and_end_the_same() -> None:
    x = np.random.default_rng(11).standard_t(3, size=(70, 4))
    starts = np.empty((50, 5), dtype=np.int64)
    kernels.draw_subsets(70, 0, 1, starts)
    slow = _descended(x, starts, 37, 0)
    fast = _descended(x, starts, 37, 1000)
    np.testing.assert_array_equal(fast[0], slow[0])
    np.testing.assert_array_equal(fast[1], slow[1])
    assert slow[2] == 0
    assert 0 < fast[2] < 100  # two or three halts a start, were none of them known
