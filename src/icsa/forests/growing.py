"""Forests: trees on binned features, the means of their leaves, and who is in each leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.forests.forest_kernels import (
    BINS,
    CHILD_SHIFT,
    Codes,
    Nodes,
    Whole,
    grow_tree,
    leaves_of,
    packed,
)
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import Key, Stream
from icsa.threads import in_threads

__all__ = [
    "Forest",
    "Targets",
    "Tree",
    "binned",
    "cut_points",
    "grown_forest",
    "grown_tree",
    "joined",
    "reached",
    "rows_drawn",
]

# Values are counted in units of this, so that their sums are exact.
_UNIT = 2.0**-16


class Targets(NamedTuple):
    """What trees explain: in each row a value, of one class.

    Attributes
    ----------
    classes, values : ndarray of int64, shape (n_rows,)
    n_classes : int
    unit : float
        What a value of 1 stands for.
    """

    classes: Whole
    values: Whole
    n_classes: int
    unit: float

    @classmethod
    def measured(cls, numbers: Vector) -> Targets:
        """Return targets that are numbers, of the size of 1."""
        values = np.rint(numbers / _UNIT).astype(np.int64)
        return cls(np.zeros(numbers.size, dtype=np.int64), values, 1, _UNIT)

    @classmethod
    def levels(cls, places: Whole, n_levels: int) -> Targets:
        """Return targets that are levels without an order."""
        return cls(places, np.ones(places.size, dtype=np.int64), n_levels, 1.0)


class Tree(NamedTuple):
    """A tree, and who is in its leaves.

    Attributes
    ----------
    nodes : ndarray of int64, shape (n_nodes,)
        See `packed`.
    rows, leaves : ndarray of int64
        The rows that it was grown on, leaf by leaf, and the leaf of each.
    """

    nodes: Nodes
    rows: Whole
    leaves: Whole


def cut_points(values: Vector, low: float = -np.inf, high: float = np.inf) -> Vector:
    """Return up to 63 numbers between low and high that part values into bins of similar size.

    They lie midway between values, so that no rounding moves a value to another bin.

    Examples
    --------
    >>> cut_points(np.array([3.0, 0.0, 1.0, 1.0]))
    array([0.5, 2. ])
    """
    distinct = np.unique(values)
    if distinct.size > BINS:
        ranks = (np.arange(BINS) + 0.5) / BINS
        distinct = np.unique(np.quantile(values, ranks, method="inverted_cdf"))
    cuts: Vector = 0.5 * (distinct[1:] + distinct[:-1])
    return cuts[(cuts > low) & (cuts < high)]


def binned(values: Vector, cuts: Vector) -> Codes:
    """Return the bin of each value.

    Examples
    --------
    >>> binned(np.array([3.0, 0.0, 1.0]), np.array([0.5, 2.0]))
    array([2, 0, 1], dtype=uint8)
    """
    return np.searchsorted(cuts, values).astype(np.uint8)


def rows_drawn(n_rows: int, stream: Stream) -> Whole:
    """Return as many rows, drawn with replacement, ascending.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> rows_drawn(5, as_key(7).stream("example"))
    array([0, 0, 1, 1, 3])
    """
    words = stream.half_words(n_rows).astype(np.uint64)
    return np.sort(((words * np.uint64(n_rows)) >> np.uint64(32)).astype(np.int64))


def grown_tree(codes: Codes, n_features: int, targets: Targets, rows: Whole, fewest: int) -> Tree:
    """Return the tree of some rows on the first features, with so many rows in a leaf or more."""
    most = 2 * max(rows.size // fewest, 1)
    nodes, spans = np.zeros((most, 3), dtype=np.int32), np.empty((most, 2), dtype=np.int64)
    ordered = rows.copy()
    found = grow_tree(codes, n_features, *targets[:3], ordered, fewest, nodes, spans)
    leaves = np.flatnonzero(nodes[:found, 0] < 0)
    leaves = leaves[np.argsort(spans[leaves, 0])]
    lengths = spans[leaves, 1] - spans[leaves, 0]
    return Tree(packed(nodes[:found]), ordered, np.repeat(leaves, lengths))


def reached(codes: Codes, nodes: Nodes, roots: Whole) -> Whole:
    """Return the leaf that each row comes to from its own root."""
    if not codes.shape[1]:  # there is nothing to go by
        return roots.copy()
    leaves = np.empty(codes.shape[0], dtype=np.int64)
    leaves_of(codes, nodes, roots, leaves)
    return leaves


def joined(trees: Sequence[Tree]) -> tuple[Nodes, Whole]:
    """Return the nodes of all trees, children counted from the first of all, and their roots."""
    sizes = np.array([tree.nodes.size for tree in trees])
    roots = np.cumsum(sizes) - sizes
    nodes = np.concatenate([tree.nodes for tree in trees])
    nodes += np.repeat(roots, sizes) << CHILD_SHIFT
    return nodes, roots


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Bagged trees, and the means of their leaves.

    Attributes
    ----------
    nodes : ndarray of int64, shape (n_nodes,)
        Of all trees, one after the other.
    roots : ndarray of int64, shape (n_trees,)
    values : ndarray of shape (n_nodes, n_classes)
        Mean target of each class in each leaf.
    """

    nodes: Nodes
    roots: Whole
    values: Matrix

    def mean(self, codes: Codes, threads: int = 1) -> Matrix:
        """Return the mean over trees, shape (n_rows, n_classes)."""
        out = np.zeros((codes.shape[0], self.values.shape[1]))

        def work(rows: slice) -> None:
            few, some = codes[rows], out[rows]
            for root in self.roots:
                some += self.values[reached(few, self.nodes, np.full(few.shape[0], root))]
            some /= self.roots.size

        in_threads(work, list(row_blocks(codes.shape[0])), threads)
        return out

    def unseen(self, codes: Codes, bags: Key) -> Matrix:
        """Return for the rows that it was grown on the mean over trees that did not see them.

        NaN for a row that all trees saw; `bags` is what the rows of each tree were drawn by.
        """
        n = codes.shape[0]
        total, times = np.zeros((n, self.values.shape[1])), np.zeros(n)
        for index, root in enumerate(self.roots):
            others = np.ones(n)
            others[rows_drawn(n, bags.stream("bag", index))] = 0.0
            told = self.values[reached(codes, self.nodes, np.full(n, root))]
            total += told * others[:, None]
            times += others
        with np.errstate(invalid="ignore"):
            return np.asarray(total / times[:, None])


def grown_forest(
    codes: Codes,
    n_features: int,
    targets: Targets,
    *,
    trees: int,
    fewest: int,
    bags: Key,
    threads: int = 1,
) -> Forest:
    """Return a forest whose trees are grown on rows drawn with replacement.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> x = np.linspace(-2.0, 2.0, 400)
    >>> codes = binned(x, cut_points(x))[:, None]
    >>> targets = Targets.measured(x**2)
    >>> bags = as_key(0)
    >>> forest = grown_forest(codes, 1, targets, trees=20, fewest=5, bags=bags)
    >>> bool(np.abs(forest.unseen(codes, bags)[:, 0] - x**2).max() < 0.3)
    True
    """

    def one(index: int) -> tuple[Tree, Matrix]:
        rows = rows_drawn(codes.shape[0], bags.stream("bag", index))
        tree = grown_tree(codes, n_features, targets, rows, fewest)
        return tree, _leaf_means(tree, targets)

    found = in_threads(one, range(trees), threads)
    nodes, roots = joined([tree for tree, _ in found])
    return Forest(nodes, roots, np.concatenate([values for _, values in found]))


def _leaf_means(tree: Tree, targets: Targets) -> Matrix:
    """Return the mean target of each class in each leaf; 0 in other nodes."""
    size = tree.nodes.size
    place = tree.leaves * targets.n_classes + targets.classes[tree.rows]
    sums = np.bincount(place, targets.values[tree.rows], size * targets.n_classes)
    people = np.maximum(np.bincount(tree.leaves, minlength=size), 1)
    return np.asarray(sums.reshape(size, targets.n_classes) / people[:, None] * targets.unit)
