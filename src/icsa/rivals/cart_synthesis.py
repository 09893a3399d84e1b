"""Sequential trees: columns one after the other, each from people in the same leaf of a tree."""

from __future__ import annotations

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.rivals.base import Cells, bins_of_levels

__all__ = ["draw_by_trees"]


def draw_by_trees(
    cells: Cells, generator: np.random.Generator, fewest: int = 5
) -> dict[str, Vector]:
    """Return columns drawn in the table's order, each given those before it (Reiter 2005).

    The first is drawn from its cells. For every other one a tree with `fewest` people or more in a
    leaf is grown on those before it; a drawn row gets the cell of a random person in its leaf,
    a missing one too.

    References
    ----------
    J. P. Reiter (2005). Using CART to generate partially synthetic public use microdata. Journal of
    Official Statistics 21, 441-462.
    """
    n = cells.n_rows
    drawn: dict[str, Vector] = {}
    for name, numbers in cells.numbers.items():
        if not drawn:
            drawn[name] = generator.choice(numbers, n)
            continue
        original = {earlier: cells.numbers[earlier] for earlier in drawn}
        x, new = _features(cells, original, original), _features(cells, original, drawn)
        tree = _tree(cells, name, fewest, int(generator.integers(1 << 31)))
        tree.fit(x, _target(numbers, ordered=cells.columns[name].levels is None))
        leaves, reached = tree.apply(x), tree.apply(new)
        found = np.empty(n)
        for leaf in np.unique(reached):
            rows = np.flatnonzero(reached == leaf)
            found[rows] = generator.choice(numbers[leaves == leaf], rows.size)
        drawn[name] = found
    return drawn


def _tree(cells: Cells, name: str, fewest: int, seed: int):  # type: ignore[no-untyped-def]
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeRegressor if cells.columns[name].levels is None else DecisionTreeClassifier
    return kind(min_samples_leaf=fewest, random_state=seed)


def _target(numbers: Vector, *, ordered: bool) -> Vector:
    """Return what the tree explains: missing cells are below all others, or a level more."""
    there = numbers[~np.isnan(numbers)]
    if not there.size:
        return np.zeros(numbers.size)
    low = there.min() - (there.std() if ordered else 1.0)
    return np.where(np.isnan(numbers), low, numbers)


def _features(cells: Cells, original: dict[str, Vector], given: dict[str, Vector]) -> Matrix:
    """Return columns for a tree, those of levels as dummies of the original's levels."""
    parts = []
    for name, numbers in given.items():
        reference = original[name]
        missing = np.isnan(numbers)
        if cells.is_ordered(name):
            middle = np.nanmedian(reference) if not np.isnan(reference).all() else 0.0
            block = np.where(missing, middle, numbers)[:, None]
        else:
            both = bins_of_levels(np.concatenate([reference, numbers]))[reference.size :]
            block = np.nan_to_num(both)
        parts += [block, missing[:, None].astype(np.float64)]
    return np.hstack(parts)
