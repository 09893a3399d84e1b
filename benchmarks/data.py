"""Tables to measure on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["KINDS", "Table", "table"]

Table = npt.NDArray[np.float64]

KINDS = ("clean", "cluster")
_CLUSTER_SHARE = 0.35
_CLUSTER_SHIFT = 10.0


def table(n: int, p: int, kind: str = "clean", seed: int = 0) -> Table:
    """Return independent standard normal columns; in a "cluster" 35% of the rows lie 10 away.

    The cluster is as wide as the rest and 10 away in every column; which rows it holds is random.
    """
    generator = np.random.default_rng([seed, n, p, KINDS.index(kind)])
    x = np.empty((n, p))
    generator.standard_normal(out=x)
    if kind == "cluster":
        x[generator.permutation(n)[: int(_CLUSTER_SHARE * n)]] += _CLUSTER_SHIFT
    return x
