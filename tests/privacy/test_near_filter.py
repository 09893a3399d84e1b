"""Bounds pass rows over, and change nothing that is found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from icsa.comparison.features import FeatureTable, as_features
from icsa.privacy import equal_cells, neighbours
from icsa.privacy.equal_cells import most_equal_cells
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.neighbour_kernels import BLOCK
from icsa.privacy.neighbours import nearest
from icsa.privacy.within_reach import Columns

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
    looked, blocks = [], []
    look = neighbours.look_where_near

    def counting(bounds: np.ndarray, *told: object) -> int:
        looked.append(look(bounds, *told))
        blocks.append(bounds.size / BLOCK)
        return looked[-1]

    monkeypatch.setattr(neighbours, "look_where_near", counting)
    points = _points("numbers")
    nearest(points.rows(np.arange(N_PEOPLE)), points, own=np.arange(N_PEOPLE))
    assert sum(looked) < 0.5 * sum(blocks)


@pytest.mark.parametrize("case", ["numbers", "missing", "large", "huge"])
def test_rows_out_of_reach_are_no_neighbours(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = _points(case)
    points.numbers[:, ::50] *= 20.0
    far = np.argsort(-np.nansum(points.numbers**2, axis=0))[:N_PEOPLE]
    people, own = points.rows(far), far.astype(np.int64)
    pairs = []
    reached = neighbours.within_reach

    def counting(*told: object) -> Iterator[tuple[np.ndarray, Columns]]:
        for who, columns in reached(*told):
            pairs.append(who.size * columns.n_rows)
            yield who, columns

    monkeypatch.setattr(neighbours, "PART", 512)  # what the first rows tell saves later ones work
    monkeypatch.setattr(neighbours, "within_reach", counting)
    found = nearest(people, points, k=3, own=own)
    everybody = np.arange(far.size)
    monkeypatch.setattr(neighbours, "within_reach", lambda *told: [(everybody, told[2])])
    plain = nearest(people, points, k=3, own=own)
    assert np.array_equal(found.rows, plain.rows)
    assert np.array_equal(found.distances, plain.distances)
    if case == "numbers":
        assert sum(pairs) < 0.5 * far.size * points.n_rows


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
    monkeypatch.setattr(equal_cells, "_FEW_EQUAL", -1.0)
    plain = [most_equal_cells(lenses, people, *side) for side in sides]
    for one, other in zip(found, plain, strict=True):
        assert np.array_equal(one.cells, other.cells)
        assert np.array_equal(one.surprise, other.surprise)
    assert found[0].cells[:40].min() >= 3
