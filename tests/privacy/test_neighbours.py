"""Kernels against slow readable twins: duplicates, constant columns, categories, missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.comparison.features import Features, as_features
from icsa.errors import InputError
from icsa.lattice import lattice_step
from icsa.privacy.equal_cells import most_equal_cells
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.neighbours import MISMATCH, nearest
from icsa.privacy.partial_knowledge import all_but_one_attack
from icsa.privacy.standing_out import isolated_rows, standing_out

SIZES = st.tuples(st.integers(0, 2**32), st.integers(6, 300), st.integers(1, 9), st.integers(0, 3))


def drawn(size: tuple[int, int, int, int]) -> Features:
    """Return tables with duplicate rows, a constant column, categories and missing cells."""
    seed, n, p, c = size
    rng = np.random.default_rng(seed)
    tables = []
    for rows in (n, n + 7):
        x = rng.normal(size=(rows, p)) * 10.0 ** np.linspace(-3, 3, p)
        x[:, 0] = 5.0 if p > 1 else x[:, 0]
        codes = rng.integers(-1, 3, size=(rows, c))
        if seed % 2:
            x[rng.random(x.shape) < 0.1] = np.nan
        x[rows // 2], codes[rows // 2] = x[0], codes[0]
        tables.append((x, codes))
    (x, codes), (y, released_codes) = tables
    y[3], released_codes[3] = x[1], codes[1]
    grids = np.zeros(p)
    return as_features(x, y, grids=grids, original_codes=codes, released_codes=released_codes)


def slow_square(x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    total = MISMATCH * float(np.sum(a != b))
    for first, second in zip(x, y, strict=True):
        if np.isnan(first) or np.isnan(second):
            total += 0.0 if np.isnan(first) and np.isnan(second) else MISMATCH
        else:
            total += float((first - second) ** 2)
    return total


@given(SIZES, st.sampled_from("EMA"), st.integers(1, 3), st.integers(1, 2))
def test_nearest_against_slow_twin(
    size: tuple[int, int, int, int], lens: str, k: int, threads: int
) -> None:
    lenses = fit_lenses(drawn(size))
    people, points = lenses.originals(lens), lenses.releases(lens)
    rows = np.array([0, 1, 5])
    found = nearest(people.rows(rows), points, k=k, threads=threads)
    x = people.block(slice(0, people.n_rows))
    y = points.block(slice(0, points.n_rows))
    for place, row in enumerate(rows):
        slow = [
            slow_square(x[:, row], y[:, i], people.codes[:, row], points.codes[:, i])
            for i in range(points.n_rows)
        ]
        np.testing.assert_allclose(
            found.distances[place] ** 2, np.sort(slow)[:k], rtol=1e-9, atol=1e-12
        )
    if lens != "A":
        assert found.distances[1, 0] == 0.0  # row 1 is copied, to the last digit


@given(SIZES)
def test_the_own_row_does_not_count_and_a_double_does(size: tuple[int, int, int, int]) -> None:
    lenses = fit_lenses(drawn(size))
    points, n = lenses.originals("E"), lenses.original.shape[1]
    found = nearest(points, points, own=np.arange(n))
    assert not np.any(found.rows[:, 0] == np.arange(n))
    assert found.distances[0, 0] == 0.0
    assert found.distances[n // 2, 0] == 0.0


@given(SIZES)
def test_equal_cells_against_slow_twin(size: tuple[int, int, int, int]) -> None:
    both = drawn(size)
    lenses = fit_lenses(both)
    rows = np.array([0, 1, 4])
    found = most_equal_cells(lenses, rows, both.original, rows)
    p = both.original.numbers.shape[0]
    for place, row in enumerate(rows):
        counts, sums = [], []
        for other in range(both.original.n_rows):
            equal = []
            for j in np.flatnonzero(lenses.varying):
                column = both.original.numbers[j] if j < p else both.original.codes[j - p]
                mine = column[row]
                same = (column == mine) | (np.isnan(column) & np.isnan(mine))
                equal.append((bool(same[other]), float(np.log(column.size / same.sum()))))
            if other != row:
                counts.append(sum(agrees for agrees, _ in equal))
                sums.append(sum(weight for agrees, weight in equal if agrees))
        assert found.cells[place] == max(counts)
        assert found.surprise[place] == pytest.approx(max(sums))


@given(SIZES)
def test_attack_against_slow_twin(size: tuple[int, int, int, int]) -> None:
    both = drawn(size)
    lenses = fit_lenses(both)
    row, p = 4, lenses.original.shape[0]
    people, points = lenses.originals("E"), lenses.releases("E")
    right = []
    for j in np.flatnonzero(lenses.varying):
        keep_numbers = [i for i in range(p) if i != j]
        keep_codes = [i for i in range(both.original.codes.shape[0]) if p + i != j]
        squares = [
            slow_square(
                people.numbers[keep_numbers, row],
                points.numbers[keep_numbers, i],
                people.codes[keep_codes, row],
                points.codes[keep_codes, i],
            )
            for i in range(points.n_rows)
        ]
        ties = np.flatnonzero(np.array(squares) <= min(squares) + 1e-9)
        if j < p:
            truth, guesses = both.original.numbers[j, row], both.released.numbers[j, ties]
            allowed = 0.1 * max(abs(truth - lenses.centres[j]), lenses.scales[j])
            if not np.isnan(truth):
                right.append(set((np.abs(guesses - truth) <= allowed).tolist()))
        elif both.original.codes[j - p, row] >= 0:
            level = both.original.codes[j - p, row]
            right.append(set((both.released.codes[j - p, ties] == level).tolist()))
    found = all_but_one_attack(lenses, np.array([row])).success[0]
    if right:
        least = sum(outcome == {True} for outcome in right) / len(right)
        most = sum(True in outcome for outcome in right) / len(right)
        assert least - 1e-12 <= found <= most + 1e-12
    else:
        assert np.isnan(found)


@pytest.mark.parametrize("lens", ["E", "M"])
def test_units_do_not_matter(lens: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(80, 4)), rng.normal(size=(70, 4))
    factor, shift = np.array([1e-3, 2.0, 5e4, 1.0]), np.array([0.0, -7.0, 1e5, 3.0])
    grids = np.zeros(4)
    first = fit_lenses(as_features(x, y, grids=grids))
    second = fit_lenses(as_features(x * factor + shift, y * factor + shift, grids=grids))
    for own in (None, np.arange(80)):
        a, b = (
            nearest(
                lenses.originals(lens),
                lenses.originals(lens) if own is not None else lenses.releases(lens),
                own=own,
            )
            for lenses in (first, second)
        )
        np.testing.assert_allclose(a.distances, b.distances, rtol=1e-8)


def test_a_constant_column_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    more = as_features(
        np.column_stack([x, np.full(60, 1e6)]), np.column_stack([y, np.full(60, 1e6)])
    )
    for lens in ("E", "M", "A"):
        found = [
            nearest(lenses.originals(lens), lenses.releases(lens)).distances
            for lenses in (fit_lenses(as_features(x, y)), fit_lenses(more))
        ]
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_the_own_units_lens_sees_a_rescaled_copy_and_no_chance_difference() -> None:
    x = np.random.default_rng(5).normal(size=(200, 3))
    rescaled = fit_lenses(as_features(x, 3.0 * x + 10.0))
    found = nearest(rescaled.originals("A"), rescaled.releases("A"))
    np.testing.assert_allclose(found.distances, 0.0, atol=1e-12)
    hardly = fit_lenses(as_features(x, 1.01 * x))
    np.testing.assert_array_equal(hardly.released_scales, 1.0)


def test_screened_isolation_finds_those_who_are_alone() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(25_000, 3))
    x[[17, 4_000, 20_011]] = [[30, 0, 0], [0, -40, 0], [0, 0, 50]]
    points = fit_lenses(as_features(x, x[:10], grids=np.zeros(3))).originals("E")
    rows, distances = isolated_rows(points, 3, threads=2)
    assert rows.tolist() == [20_011, 4_000, 17]
    assert np.all(np.diff(distances) < 0)


def test_distance_finds_groups_and_isolation_finds_holes() -> None:
    rng = np.random.default_rng(7)
    ring = rng.normal(size=(300, 2))
    ring *= 5.0 / np.linalg.norm(ring, axis=1)[:, None]
    x = np.vstack([ring + 0.3 * rng.normal(size=ring.shape), [[0.0, 0.0]]])
    assert 300 in standing_out(fit_lenses(as_features(x, x))).rows
    group = np.vstack([rng.normal(size=(300, 2)), 30.0 + 0.01 * rng.normal(size=(9, 2))])
    found = standing_out(fit_lenses(as_features(group, group)))
    assert set(range(300, 309)) <= set(found.rows.tolist())
    capped = standing_out(fit_lenses(as_features(group, group)), cap=3)
    assert (capped.rows.size, capped.n_left_out) == (3, found.rows.size - 3)


def test_lattices() -> None:
    rng = np.random.default_rng(8)
    assert lattice_step(np.round(rng.normal(size=500), 1)) == pytest.approx(0.1)
    assert lattice_step(rng.integers(0, 50, size=500) * 0.25) == 0.25
    assert lattice_step(rng.normal(size=500)) == 0.0
    assert lattice_step(np.array([np.nan, 1.0])) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], [[1.0, 2.0]]), "the release 2 and 0"),
        (([[np.inf]], [[1.0]]), "original has infinite cells"),
        ((np.empty((0, 1)), [[1.0]]), "original has no rows"),
        ((np.empty((1, 0)), np.empty((1, 0))), "no columns in common"),
    ],
)
def test_tables_that_cannot_be_used(arguments: tuple[object, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_features(*arguments)


def test_options_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match="one step, 0 or larger"):
        as_features([[1.0]], [[1.0]], grids=[-1.0])
    with pytest.raises(InputError, match="1 numeric columns and 2 names"):
        as_features([[1.0]], [[1.0]], names=["a", "b"])
    with pytest.raises(InputError, match="integers from -1"):
        as_features([[1.0]], [[1.0]], original_codes=[[-2]], released_codes=[[0]])
