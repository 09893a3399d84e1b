"""Kernels of forests: a tree grown on binned features, and the nodes that rows come to in it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.compilation import inlined_kernel, kernel

__all__ = ["BINS", "CHILD_SHIFT", "Codes", "Nodes", "Whole", "grow_tree", "leaves_of", "packed"]

# Of a feature at most: the sums of all bins of some 20 features stay in the first cache.
BINS = 64
# Gains that differ by less are taken for equal: then the first feature and cut count.
_RELATIVE = 1e-9

Codes: TypeAlias = npt.NDArray[np.uint8]
Grown: TypeAlias = npt.NDArray[np.int32]
Whole: TypeAlias = npt.NDArray[np.int64]
# A node is one number, so that a step reads one: its left child, the feature, and the largest bin
# that goes left. A leaf is its own child, and nobody goes beyond its cut.
Nodes: TypeAlias = npt.NDArray[np.int64]
_CUT_BITS, CHILD_SHIFT = 8, 32
_CUT_MASK, _FEATURE_MASK = (1 << _CUT_BITS) - 1, (1 << (CHILD_SHIFT - _CUT_BITS)) - 1


@kernel
def grow_tree(
    codes: Codes,
    n_features: int,
    classes: Whole,
    values: Whole,
    n_classes: int,
    rows: Whole,
    fewest: int,
    nodes: Grown,
    spans: Whole,
) -> int:
    """Grow a tree, and return how many nodes it has.

    With s_k the sum of the values of class k among n rows, the best cut has the largest
    sum of s_k^2 / n over both sides. For one class that is least squares; where every value is 1,
    it is the Gini index. Values are whole, so that sums are the same in any order of the rows.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_rows, at least n_features)
        Bins of the features.
    n_features : int
        The first so many columns may be used.
    classes, values : ndarray of int64, shape (n_rows,)
        Of each row.
    n_classes : int
    rows : ndarray of int64
        The rows to grow on, some perhaps more than once. Sorted in place by nodes.
    fewest : int
        Rows of a leaf, at least.
    nodes : ndarray of int32, shape (most, 3)
        Set to feature (-1 in leaves), largest bin that goes left, and left child; the right child
        is the next.
    spans : ndarray of int64, shape (most, 2)
        Set to where the rows of each node begin and end in `rows`.
    """
    counts = np.zeros((n_features, BINS), dtype=np.int64)
    sums = np.zeros((n_features, BINS, n_classes), dtype=np.int64)
    total, left = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
    beside = np.empty(rows.size, dtype=np.int64)
    nodes[0, 0], spans[0, 0], spans[0, 1] = -1, 0, rows.size
    found, node = 1, 0
    while node < found:
        start, end = spans[node]
        n = end - start
        if n >= 2 * fewest:
            counts[:], sums[:], total[:] = 0, 0, 0
            for i in range(start, end):
                row = rows[i]
                k, value = classes[row], values[row]
                total[k] += value
                for f in range(n_features):
                    code = codes[row, f]
                    counts[f, code] += 1
                    sums[f, code, k] += value
            best = 0.0
            for k in range(n_classes):
                best += float(total[k]) * float(total[k])
            best = best / n * (1.0 + _RELATIVE) + _RELATIVE
            feature, cut = -1, 0
            for f in range(n_features):
                before = 0
                left[:] = 0
                for code in range(BINS - 1):
                    if counts[f, code] == 0:
                        continue
                    before += counts[f, code]
                    for k in range(n_classes):
                        left[k] += sums[f, code, k]
                    if before < fewest:
                        continue
                    if n - before < fewest:
                        break
                    low, high = 0.0, 0.0
                    for k in range(n_classes):
                        low += float(left[k]) * float(left[k])
                        high += float(total[k] - left[k]) * float(total[k] - left[k])
                    gain = low / before + high / (n - before)
                    if gain > best:
                        best, feature, cut = gain * (1.0 + _RELATIVE), f, code
            if feature >= 0:
                middle, aside = start, 0
                for i in range(start, end):
                    row = rows[i]
                    if codes[row, feature] <= cut:
                        rows[middle] = row
                        middle += 1
                    else:
                        beside[aside] = row
                        aside += 1
                for i in range(aside):
                    rows[middle + i] = beside[i]
                nodes[node, 0], nodes[node, 1], nodes[node, 2] = feature, cut, found
                nodes[found, 0], nodes[found + 1, 0] = -1, -1
                spans[found, 0], spans[found, 1] = start, middle
                spans[found + 1, 0], spans[found + 1, 1] = middle, end
                found += 2
        node += 1
    return found


def packed(grown: Grown) -> Nodes:
    """Return the nodes of a tree that `grow_tree` has grown, a number each."""
    feature, cut, child = grown.astype(np.int64).T
    leaf = feature < 0
    split = (child << CHILD_SHIFT) | (feature << _CUT_BITS) | cut
    own = (np.arange(leaf.size) << CHILD_SHIFT) | _CUT_MASK
    return np.where(leaf, own, split)


@inlined_kernel
def _next(codes: Codes, nodes: Nodes, row: int, node: int) -> int:
    """Return the child that a row goes to."""
    found = nodes[node]
    beyond = codes[row, (found >> _CUT_BITS) & _FEATURE_MASK] > (found & _CUT_MASK)
    child: int = (found >> CHILD_SHIFT) + beyond
    return child


@kernel
def leaves_of(codes: Codes, nodes: Nodes, roots: Whole, out: Whole) -> None:
    """Set the leaf that each row comes to from its own root.

    Four rows at a time, whose steps do not wait for each other: three times as fast as one.
    """
    last = out.size - 1
    for first in range(0, out.size, 4):
        one, two, three = min(first + 1, last), min(first + 2, last), min(first + 3, last)
        a, b, c, d = roots[first], roots[one], roots[two], roots[three]
        while True:
            next_a, next_b = _next(codes, nodes, first, a), _next(codes, nodes, one, b)
            next_c, next_d = _next(codes, nodes, two, c), _next(codes, nodes, three, d)
            if next_a == a and next_b == b and next_c == c and next_d == d:
                break
            a, b, c, d = next_a, next_b, next_c, next_d
        out[first], out[one], out[two], out[three] = a, b, c, d
