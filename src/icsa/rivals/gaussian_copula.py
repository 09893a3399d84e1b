"""Gaussian copula: all columns from one normal law of their ranks, margins as they were."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from icsa.matrices import Matrix, Vector
from icsa.rivals.base import Cells, within_column

__all__ = ["draw_from_copula"]


def draw_from_copula(cells: Cells, generator: np.random.Generator) -> dict[str, Vector]:
    """Return people drawn from a normal law of normal scores, brought back by quantiles.

    Missing cells rank below all others, so that they are missing as often as before. Levels without
    an order rank as they are listed, as the usual tools have it. Quantiles are interpolated.
    """
    names = list(cells.numbers)
    normal = np.column_stack([_normal_scores(cells.numbers[name], generator) for name in names])
    drawn = ndtr(_normal_like(normal, generator))
    return {
        name: _at(drawn[:, j], cells.numbers[name], cells, name) for j, name in enumerate(names)
    }


def _normal_scores(numbers: Vector, generator: np.random.Generator) -> Vector:
    ranks = np.empty(numbers.size)
    low = np.where(np.isnan(numbers), -np.inf, numbers)
    ranks[np.lexsort((generator.random(numbers.size), low))] = np.arange(numbers.size)
    return np.asarray(ndtri((ranks + 0.5) / numbers.size))


def _normal_like(normal: Matrix, generator: np.random.Generator) -> Matrix:
    """Return as many rows of a normal law with the same correlations and variance 1."""
    correlation = np.atleast_2d(np.corrcoef(normal, rowvar=False))
    centre = np.zeros(normal.shape[1])
    return generator.multivariate_normal(centre, correlation, normal.shape[0], method="eigh")


def _at(levels: Vector, numbers: Vector, cells: Cells, name: str) -> Vector:
    """Return quantiles at levels: missing ones first, then those of the numbers."""
    missing = float(np.isnan(numbers).mean())
    ordered = np.sort(numbers[~np.isnan(numbers)])
    out = np.full(levels.size, np.nan)
    there = levels > missing
    if not ordered.size:
        return out
    inner = (levels[there] - missing) / (1.0 - missing)
    if cells.columns[name].levels is None:
        found = np.interp(inner * ordered.size - 0.5, np.arange(ordered.size), ordered)
        out[there] = within_column(found, cells.columns[name])
    else:
        out[there] = ordered[np.minimum((inner * ordered.size).astype(int), ordered.size - 1)]
    return out
