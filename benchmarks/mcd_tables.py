"""Tables of many kinds on which the MCD's search is tried.

The search was made on `KINDS`, with other seeds; the kinds in `HELD_OUT` had no part in that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from icsa.matrices import Matrix

__all__ = ["HELD_OUT", "KINDS", "SHAPES", "draw"]

Generator = np.random.Generator
SHAPES = ((40, 4), (60, 3), (80, 10), (105, 6), (120, 8), (200, 5), (240, 16), (480, 32))


def _mixing(p: int, correlation: float) -> Matrix:
    """Return a factor of the correlation matrix with correlation^|i-j|."""
    distance = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return np.asarray(np.linalg.cholesky(correlation**distance).T)


def _normal(rng: Generator, n: int, p: int) -> Matrix:
    return rng.normal(size=(n, p))


def _correlated(rng: Generator, n: int, p: int) -> Matrix:
    return rng.normal(size=(n, p)) @ _mixing(p, 0.9)


def _heavy(rng: Generator, n: int, p: int) -> Matrix:
    return rng.normal(size=(n, p)) @ _mixing(p, 0.5) / np.sqrt(rng.chisquare(2, size=(n, 1)) / 2)


def _skewed(rng: Generator, n: int, p: int) -> Matrix:
    return np.exp(0.8 * rng.normal(size=(n, p)) @ _mixing(p, 0.5))


def _clusters(rng: Generator, n: int, p: int) -> Matrix:
    centres = 3.0 * rng.normal(size=(3, p))
    which = rng.choice(3, size=n, p=[0.45, 0.35, 0.2])
    return rng.normal(size=(n, p)) * rng.choice([0.6, 1.0, 1.5], size=(n, 1)) + centres[which]


def _contaminated(rng: Generator, n: int, p: int) -> Matrix:
    x, far = rng.normal(size=(n, p)), rng.permutation(n) < int(rng.uniform(0.1, 0.4) * n)
    direction = rng.normal(size=p)
    shift = rng.choice([6.0, 15.0, 60.0]) * direction / np.linalg.norm(direction)
    x[far] = x[far] * rng.choice([0.3, 1.0, 2.0]) + shift
    return x


def _rounded(rng: Generator, n: int, p: int) -> Matrix:
    return np.asarray(np.rint(4.0 * rng.normal(size=(n, p)) @ _mixing(p, 0.5)) / 4.0)


def _tied(rng: Generator, n: int, p: int) -> Matrix:
    """Return a table with a quarter of its rows twice, and two columns of few values."""
    x, repeated = rng.normal(size=(n, p)), n // 4
    x[:repeated] = x[n - repeated :]
    x[:, 0], x[:, -1] = np.rint(x[:, 0]), rng.poisson(3, size=n)
    return x


def _levels(rng: Generator, n: int, p: int) -> Matrix:
    """Return answers from 1 to 5 to related questions."""
    opinion = rng.normal(size=(n, 1)) + rng.normal(size=(n, p))
    return np.clip(np.rint(3.0 + opinion), 1, 5) + 0.0


def _cellwise(rng: Generator, n: int, p: int) -> Matrix:
    """Return a table with single cells far away, in up to two fifths of the rows."""
    x = rng.normal(size=(n, p)) @ _mixing(p, 0.7)
    wild = rng.uniform(size=(n, p)) < 1 - 0.6 ** (1 / p)
    return np.where(wild, x + rng.choice([-8.0, 8.0], size=(n, p)), x)


def _two_laws(rng: Generator, n: int, p: int) -> Matrix:
    """Return two laws around one centre, each narrow where the other one is wide."""
    scale = np.where(np.arange(p) % 2, 3.0, 0.4)
    first = rng.uniform(size=(n, 1)) < 0.55
    return rng.normal(size=(n, p)) * np.where(first, scale, scale[::-1] if p % 2 == 0 else 1.0)


def _scattered(rng: Generator, n: int, p: int) -> Matrix:
    """Return Cauchy rows from a few factors, with uniform noise."""
    loadings = rng.normal(size=(2, p))
    factors = rng.standard_cauchy(size=(n, 2))
    return np.asarray(factors @ loadings + rng.uniform(-1, 1, size=(n, p)))


KINDS: dict[str, Callable[[Generator, int, int], Matrix]] = {
    "normal": _normal,
    "correlated": _correlated,
    "heavy tails": _heavy,
    "skewed": _skewed,
    "clusters": _clusters,
    "contaminated": _contaminated,
    "rounded": _rounded,
    "ties": _tied,
    "levels": _levels,
}
HELD_OUT: dict[str, Callable[[Generator, int, int], Matrix]] = {
    "wild cells": _cellwise,
    "two laws": _two_laws,
    "scattered": _scattered,
}


def draw(kind: str, n: int, p: int, seed: int) -> Matrix:
    """Return a table of a kind."""
    kinds = KINDS | HELD_OUT
    rng = np.random.default_rng([seed, n, p, list(kinds).index(kind)])
    return np.ascontiguousarray(kinds[kind](rng, n, p))
