"""Tables for the study of attacks: people of several kinds, one of them far out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from icsa.errors import UnknownNameError
from icsa.matrices import Matrix, Vector

__all__ = ["KINDS", "Population", "drawn_population"]

# Largest standard deviation of an axis over the least one.
_ELONGATION = 2.0
# Of the mixture: the share that is shifted, and how far.
_SHARE, _SHIFT = 0.2, 3.0
# A rounded table has a step of this share of a standard deviation.
_STEP = 0.1


def _normal(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    return generator.normal(size=shape)


def _lognormal(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    mean, variance = np.exp(0.5), (np.e - 1.0) * np.e
    return np.asarray((np.exp(generator.normal(size=shape)) - mean) / np.sqrt(variance))


def _heavy(degrees: int) -> Callable[[np.random.Generator, tuple[int, int]], Matrix]:
    scale = np.sqrt(degrees / (degrees - 2.0))
    return lambda generator, shape: np.asarray(generator.standard_t(degrees, size=shape) / scale)


def _mixture(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    shifted = generator.uniform(size=shape[0]) < _SHARE
    rows = generator.normal(size=shape)
    rows[:, 0] += _SHIFT * (shifted - _SHARE)
    rows[:, 0] /= np.sqrt(1.0 + _SHIFT**2 * _SHARE * (1.0 - _SHARE))
    return rows


# Independent columns of mean 0 and variance 1.
KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Matrix]] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "t3": _heavy(3),
    "t5": _heavy(5),
    "mixture": _mixture,
    "rounded": _normal,
}


@dataclass(frozen=True, eq=False)
class Population:
    """People of one kind, with mean 0, whose columns are correlated.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    mixing : ndarray of shape (n_columns, n_columns)
        From independent columns to those of the table.
    """

    kind: str
    mixing: Matrix

    def people(self, n: int, generator: np.random.Generator) -> Matrix:
        """Return n people."""
        rows = KINDS[self.kind](generator, (n, self.mixing.shape[0])) @ self.mixing.T
        return self._rounded(rows)

    def lone_person(self, severity: float, generator: np.random.Generator) -> Vector:
        """Return somebody `severity` standard deviations away, in a random direction."""
        direction = generator.normal(size=self.mixing.shape[0])
        return self._rounded(self.mixing @ (severity * direction / np.linalg.norm(direction)))

    def _rounded(self, rows: Matrix) -> Matrix:
        return np.rint(rows / _STEP) * _STEP if self.kind == "rounded" else rows


def drawn_population(kind: str, columns: int, generator: np.random.Generator) -> Population:
    """Return a population with random axes, the longest twice as long as the shortest.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> population = drawn_population("t5", 3, generator)
    >>> person = population.lone_person(20.0, generator)
    >>> round(float(np.linalg.norm(np.linalg.solve(population.mixing, person))), 6)
    20.0
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of tables", kind, KINDS)
    axes = np.linalg.qr(generator.normal(size=(columns, columns)))[0]
    return Population(kind, axes * np.linspace(1.0, _ELONGATION, columns))
