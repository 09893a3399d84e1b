"""Trees and forests against slow truths, and laws that they must keep."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.forests.forest_kernels import BINS
from icsa.forests.growing import (
    Targets,
    binned,
    cut_points,
    grown_forest,
    grown_tree,
    joined,
    reached,
    rows_drawn,
)
from icsa.randomness import as_key


def slow_leaves(
    codes: np.ndarray, targets: Targets, rows: np.ndarray, fewest: int
) -> list[list[int]]:
    """Return the rows of each leaf, by trying every cut of every node."""

    def gain(some: np.ndarray) -> float:
        sums = np.bincount(targets.classes[some], targets.values[some], minlength=targets.n_classes)
        return float((sums**2).sum() / some.size)

    best, cut = gain(rows) * (1.0 + 1e-9) + 1e-9, None
    for feature in range(codes.shape[1]):
        for code in range(BINS - 1):
            left = codes[rows, feature] <= code
            if min(left.sum(), (~left).sum()) >= fewest:
                found = gain(rows[left]) + gain(rows[~left])
                if found > best:
                    best, cut = found * (1.0 + 1e-9), left
    if cut is None:
        return [sorted(rows.tolist())]
    return [
        *slow_leaves(codes, targets, rows[cut], fewest),
        *slow_leaves(codes, targets, rows[~cut], fewest),
    ]


def some_codes(seed: int, n: int = 80) -> np.ndarray:
    generator = np.random.default_rng(seed)
    x = np.column_stack(
        [generator.normal(size=n), generator.integers(0, 2, n), np.ones(n), generator.random(n)]
    )
    return np.column_stack([binned(column, cut_points(column)) for column in x.T])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fewest", [1, 5, 40])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_trees_have_the_leaves_that_trying_every_cut_gives(
    seed: int, fewest: int, n_classes: int
) -> None:
    codes = some_codes(seed)
    generator = np.random.default_rng(100 + seed)
    if n_classes == 1:
        targets = Targets.measured(generator.normal(size=80) + codes[:, 0] / 30.0)
    else:
        targets = Targets.levels(generator.integers(0, n_classes, 80), n_classes)
    rows = rows_drawn(80, as_key(seed).stream("bag"))
    tree = grown_tree(codes, 4, targets, rows, fewest)
    leaves = [sorted(tree.rows[tree.leaves == leaf].tolist()) for leaf in np.unique(tree.leaves)]
    assert sorted(leaves) == sorted(slow_leaves(codes, targets, rows, fewest))


@pytest.mark.parametrize("n", [300, 301, 302, 303])
def test_rows_come_to_the_leaf_that_they_were_grown_in(n: int) -> None:
    codes = some_codes(1, n)
    targets = Targets.measured(np.random.default_rng(0).normal(size=n))
    trees = [grown_tree(codes, 4, targets, np.arange(n), fewest) for fewest in (4, 30)]
    nodes, roots = joined(trees)
    for tree, root in zip(trees, roots, strict=True):
        found = reached(codes, nodes, np.full(n, root))
        assert np.array_equal(found[tree.rows] - root, tree.leaves)
        few = reached(codes[: n - 299], nodes, np.full(n - 299, root))
        assert np.array_equal(few, found[: n - 299])
    assert np.array_equal(reached(codes[:, :0], nodes, np.full(n, 3)), np.full(n, 3))


def test_the_order_of_rows_does_not_matter_to_a_tree() -> None:
    codes = some_codes(3, 500)
    numbers = np.random.default_rng(2).normal(size=500)
    rows = np.random.default_rng(3).permutation(500)
    first = grown_tree(codes, 4, Targets.measured(numbers), np.arange(500), 10)
    second = grown_tree(codes, 4, Targets.measured(numbers), rows, 10)
    assert np.array_equal(first.nodes, second.nodes)


def test_without_features_all_rows_are_in_one_leaf() -> None:
    tree = grown_tree(some_codes(0), 0, Targets.measured(np.arange(80.0) / 80), np.arange(80), 5)
    assert np.array_equal(tree.leaves, np.zeros(80))


def test_forests_are_the_same_on_any_number_of_threads() -> None:
    codes = some_codes(5, 400)
    targets = Targets.measured(np.random.default_rng(1).normal(size=400))
    found = [
        grown_forest(codes, 4, targets, trees=9, fewest=5, bags=as_key(0), threads=threads)
        for threads in (1, 3)
    ]
    assert np.array_equal(found[0].nodes, found[1].nodes)
    assert np.array_equal(found[0].mean(codes), found[1].mean(codes, threads=3))


def test_forests_tell_a_curve_to_rows_that_they_did_not_see() -> None:
    x = np.random.default_rng(0).uniform(-2.0, 2.0, 1000)
    codes = binned(x, cut_points(x))[:, None]
    noise = 0.3 * np.random.default_rng(1).normal(size=1000)
    forest = grown_forest(
        codes, 1, Targets.measured(x**2 + noise), trees=40, fewest=5, bags=as_key(0)
    )
    told = forest.unseen(codes, as_key(0))[:, 0]
    assert np.sqrt(np.nanmean((told - x**2) ** 2)) < 0.15


def test_nobody_far_out_moves_a_cut_beyond_the_reach() -> None:
    x = np.append(np.linspace(-1.0, 1.0, 200), [50.0, 80.0])
    assert np.abs(cut_points(x, -3.0, 3.0)).max() < 3.0


def test_bins_are_as_many_as_values_if_these_are_few() -> None:
    values = np.repeat([0.0, 1.0, 7.0], [5, 90, 1])
    assert np.array_equal(binned(values, cut_points(values)), np.repeat([0, 1, 2], [5, 90, 1]))
    assert cut_points(np.random.default_rng(0).normal(size=5000)).size == BINS - 1
