"""Bounds pass rows over, and change nothing that is found."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.comparison.features import FeatureTable, as_features
from icsa.privacy import neighbours, partial_knowledge
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.neighbours import nearest
from icsa.privacy.partial_knowledge import most_equal_cells

N_ROWS, N_PEOPLE = 40_000, 60


def _points(case: str) -> FeatureTable:
    rng = np.random.default_rng(7)
    numbers = rng.standard_t(3, size=(9, N_ROWS))
    codes = np.empty((0, N_ROWS), dtype=np.int32)
    if case != "numbers":
        codes = rng.integers(-1, [[3], [2], [70]], size=(3, N_ROWS)).astype(np.int32)
    if "missing" in case:
        numbers[:4][rng.random((4, N_ROWS)) < 0.1] = np.nan
        numbers[5, N_ROWS - 5 :] = np.nan  # where the first part says that none is
    if "rounded" in case:
        numbers = np.round(2.0 * numbers) / 2.0
    if "large" in case:
        numbers[0] *= 1e6
    if "huge" in case:
        numbers[0] *= 1e20
    return FeatureTable(numbers, codes)


@pytest.mark.parametrize(
    "case", ["numbers", "codes", "missing", "rounded", "rounded, missing", "large", "huge"]
)
@pytest.mark.parametrize("k", [1, 6])
def test_the_nearest_are_the_same_with_and_without(
    case: str, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = _points(case)
    far = np.argsort(-np.nansum(points.numbers**2, axis=0))[:N_PEOPLE]
    people, own = points.rows(far), far.astype(np.int64)
    found = nearest(people, points, k=k, own=own)
    monkeypatch.setattr(neighbours, "near_filter", lambda *_: None)
    plain = nearest(people, points, k=k, own=own)
    assert np.array_equal(found.rows, plain.rows)
    assert np.array_equal(found.distances, plain.distances)


def test_most_blocks_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[float] = []
    update = neighbours._update_where_near
    monkeypatch.setattr(
        neighbours,
        "_update_where_near",
        lambda *told: looked.append(update(*told)) or looked[-1],
    )
    points = _points("numbers")
    nearest(points.rows(np.arange(N_PEOPLE)), points, own=np.arange(N_PEOPLE))
    assert min(looked) < 0.25


@pytest.mark.parametrize("decimals", [None, 3, 1])
def test_cells_in_common_are_the_same_looked_up_or_compared(
    decimals: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 3_000, 5))
    if decimals is not None:
        x[:, :3], y[:, :3] = np.round(x[:, :3], decimals), np.round(y[:, :3], decimals)
    x[rng.random(x.shape) < 0.01] = np.nan
    y[rng.random(y.shape) < 0.01] = np.nan
    y[:40, 1:4] = x[:40, 1:4]
    codes = rng.integers(-1, 4, size=(3_000, 1))
    both = as_features(x, y, original_codes=codes, released_codes=codes[::-1])
    lenses, people = fit_lenses(both), np.arange(50, dtype=np.int64)
    sides = ((both.released, None), (both.original, people))
    found = [most_equal_cells(lenses, people, *side) for side in sides]
    monkeypatch.setattr(partial_knowledge, "_FEW_EQUAL", -1.0)
    plain = [most_equal_cells(lenses, people, *side) for side in sides]
    for one, other in zip(found, plain, strict=True):
        assert np.array_equal(one.cells, other.cells)
        assert np.array_equal(one.surprise, other.surprise)
    assert found[0].cells[:40].min() >= 3
