"""Correlated noise: quantities plus noise of a share of their covariance; levels drawn at times."""

from __future__ import annotations

import numpy as np

from icsa.matrices import Vector
from icsa.rivals.base import Cells, within_column

__all__ = ["add_noise"]


def add_noise(
    cells: Cells, generator: np.random.Generator, share: float = 0.2
) -> dict[str, Vector]:
    """Return quantities plus noise whose covariance is `share`^2 times theirs (Kim 1986).

    A level is replaced with probability `share` by that of a random person, which keeps shares.

    References
    ----------
    J. J. Kim (1986). A method for limiting disclosure in microdata based on random noise and
    transformation. Proceedings of the Section on Survey Research Methods, 370-374.
    """
    found = dict(cells.numbers)
    names = [name for name in cells.quantities if np.nanstd(cells.numbers[name]) > 0.0]
    if names:
        table = np.column_stack([cells.numbers[name] for name in names])
        filled = np.where(np.isnan(table), np.nanmean(table, axis=0), table)
        spread = filled.std(axis=0)
        correlation = np.atleast_2d(np.corrcoef(filled, rowvar=False))
        noise = generator.multivariate_normal(
            np.zeros(len(names)), correlation, cells.n_rows, method="eigh"
        )
        for j, name in enumerate(names):
            noisy = table[:, j] + share * spread[j] * noise[:, j]
            found[name] = within_column(noisy, cells.columns[name])
    for name in cells.columns.keys() - cells.quantities:
        there = np.flatnonzero(~np.isnan(found[name]))
        chosen = there[generator.random(there.size) < share]
        drawn = found[name].copy()
        if chosen.size:
            drawn[chosen] = found[name][generator.choice(there, chosen.size)]
        found[name] = drawn
    return found
