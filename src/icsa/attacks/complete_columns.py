"""The numeric columns that attacks on matrices can use: without gaps, in one matrix a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from icsa.comparison.features import FeatureTable
from icsa.correlations import varies
from icsa.limits import MANY_EQUAL
from icsa.matrices import Matrix

__all__ = ["complete_columns", "matrix_of", "spread_columns"]

# Columns that others give up to this share of their length are no columns of their own.
_DEPENDENT = 1e-6
# Cells in which the commonest value is looked for, and rows that dependence is looked for in.
_CELLS = 20_000


def complete_columns(tables: Sequence[FeatureTable]) -> npt.NDArray[np.intp]:
    """Return the places of numeric columns that have no missing cell in any of the tables.

    Examples
    --------
    >>> table = FeatureTable(np.array([[1.0, np.nan], [2.0, 3.0]]), np.empty((0, 2), np.int32))
    >>> complete_columns([table])
    array([1])
    """
    p = tables[0].numbers.shape[0]
    full = [j for j in range(p) if not any(np.isnan(table.numbers[j]).any() for table in tables)]
    return np.array(full, dtype=np.intp)


def spread_columns(table: FeatureTable, places: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return those of the columns that no value dominates and that others do not give exactly.

    A robust scatter exists for no others.

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(2, 50))
    >>> rows = np.vstack([x, x.sum(axis=0), np.arange(50) > 9])
    >>> spread_columns(FeatureTable(rows, np.empty((0, 50), np.int32)), np.arange(4)).size
    2
    """
    few = slice(None, None, max(1, -(-table.n_rows // _CELLS)))
    kept = []
    for place in places.tolist():
        cells = table.numbers[place, few]
        if (
            varies(cells)
            and np.unique(cells, return_counts=True)[1].max() < MANY_EQUAL * cells.size
        ):
            kept.append(place)
    if not kept:
        return np.empty(0, dtype=np.intp)
    rows = table.numbers[kept, few].T
    rows = rows - rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=0)
    factor, order = qr(rows, mode="r", pivoting=True)
    lengths = np.abs(np.diag(factor[: len(kept)]))
    independent = order[: lengths.size][lengths > _DEPENDENT]
    return np.sort(np.array(kept, dtype=np.intp)[independent])


def matrix_of(table: FeatureTable, places: npt.NDArray[np.intp]) -> Matrix:
    """Return some numeric columns, a row a person.

    Examples
    --------
    >>> matrix_of(FeatureTable(np.array([[1.0, 2.0]]), np.empty((0, 2), np.int32)), np.array([0]))
    array([[1.],
           [2.]])
    """
    return np.asarray(table.numbers[places].T)
