"""Kernels that count, move and let go, against slow readable twins."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from icsa.comparison.features import FeatureTable, as_features
from icsa.privacy.everybody import put_on_lattice
from icsa.privacy.exact_rows import counted, exact_rows, row_hashes
from icsa.privacy.rarity import equal_weights
from icsa.privacy.repeated_hashes import RepeatedHashes

SEEDS = st.integers(0, 2**32)


def columns(seed: int, n: int) -> np.ndarray:
    """Return columns with ties, zeros of both signs, gaps, digits and far cells."""
    rng = np.random.default_rng(seed)
    z = rng.standard_t(2, size=(5, n))
    z[0], z[1], z[2] = np.round(z[0]), np.round(z[1], 2), 1e9 * np.round(z[2], 1)
    z[0][rng.random(n) < 0.3] *= -0.0
    z[:, rng.random(n) < 0.1] = np.nan
    return z


@given(SEEDS, st.integers(1, 200))
def test_weights_of_equal_cells(seed: int, n: int) -> None:
    table = FeatureTable(columns(seed, n), np.empty((0, n), dtype=np.int32))
    rows = np.random.default_rng(seed).integers(0, n, size=20)
    found = equal_weights(table, rows)
    for j, column in enumerate(table.numbers):
        counts = Counter(column[~np.isnan(column)].tolist())  # -0 and 0 are one key
        for place, row in enumerate(rows):
            known = not np.isnan(column[row])
            slow = np.log(n / max(counts[column[row]], 2)) if known else 0.0
            assert found[place, j] == max(0.0, slow)


@given(SEEDS, st.sampled_from([0.01, 0.1, 0.5, 1.0, 1e8]), st.integers(1, 60))
def test_cells_are_moved_to_the_nearest_value_within_half_a_step(
    seed: int, step: float, n_values: int
) -> None:
    rng = np.random.default_rng(seed)
    values = np.unique(step * np.round(3.0 * rng.standard_t(1, size=n_values)))
    shifts = step * rng.choice([0.0, 0.3, -0.49, 0.51, 3.0], size=200)
    cells = rng.choice(values, size=200) + shifts
    cells[::20] = np.nan
    moved = cells.copy()
    put_on_lattice(moved, values, step)
    for cell, after in zip(cells, moved, strict=True):
        away = np.abs(values - cell)
        if np.isnan(cell) or away.min() > 0.5 * step:
            assert after == cell or np.isnan(cell)
        else:
            assert abs(after - cell) == away.min()
            assert after in values


@given(SEEDS, st.integers(2, 300), st.integers(2, 300), st.integers(1, 400))
def test_rows_like_no_other_may_be_let_go(seed: int, n: int, m: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, kinds, size=(n, 1)), rng.integers(0, kinds, size=(m, 1))
    both = as_features(x.astype(float), y.astype(float), grids=[0.0])
    mine, theirs = row_hashes(both.original), row_hashes(both.released)
    repeated, all_of = RepeatedHashes.among(mine, theirs), Counter([*mine, *theirs])
    for hashes in (mine, theirs):
        left = set(repeated.rows(hashes).tolist())
        assert {k for k, one in enumerate(hashes) if all_of[one] > 1} <= left
    whole = counted([(np.arange(n), mine, theirs)], n, m)
    found = exact_rows(both)
    for name in ("copied", "unique", "doubles", "split", "same"):
        assert getattr(found, name) == getattr(whole, name)
    assert np.array_equal(found.matched, whole.matched)
    assert np.array_equal(found.copies, whole.copies)
