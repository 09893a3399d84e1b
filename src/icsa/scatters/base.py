"""What every scatter returns, and what the iterative ones share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

import numpy as np

from icsa.correlations import varies
from icsa.errors import InputError
from icsa.linalg import cholesky_factor, symmetrize
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.randomness import as_key

__all__ = ["LocationScatter", "Scatter", "checked", "search_generator", "search_seed"]


@dataclass(frozen=True, eq=False, repr=False)
class LocationScatter:
    """A location and a scatter of a table, and how they were reached.

    Attributes
    ----------
    location : ndarray of shape (n_columns,)
        The centre.
    scatter : ndarray of shape (n_columns, n_columns)
        The symmetric positive definite scatter.
    iterations : int
        Steps that were taken; 0 for a closed form.
    converged : bool
        Whether the defining equations hold to the tolerance. An iteration that did not get there
        raises instead of returning.
    """

    location: Vector
    scatter: Matrix
    iterations: int = 0
    converged: bool = True

    def __post_init__(self) -> None:
        """Keep read-only copies of the arrays."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value = value.copy(order="K")
                value.setflags(write=False)
                object.__setattr__(self, field.name, value)

    @cached_property
    def factor(self) -> Matrix:
        """The lower triangular L with L L' = scatter, found once however many pairs need it."""
        return cholesky_factor(self.scatter)

    @cached_property
    def asymmetry(self) -> float:
        """Largest difference between mirrored cells, variances taken as units."""
        standard = self._standardised
        return float(np.abs(standard - standard.T).max())

    @cached_property
    def smallest_eigenvalue(self) -> float:
        """Of the scatter, variances taken as units."""
        return float(np.linalg.eigvalsh(symmetrize(self._standardised))[0])

    @property
    def _standardised(self) -> Matrix:
        variances = np.diagonal(self.scatter)
        units = np.sqrt(np.where(variances > 0, variances, 1.0))
        return np.asarray(self.scatter / units[:, None] / units)

    def __init_subclass__(cls) -> None:
        """Have dataclasses of this kind keep the short repr."""
        cls.__repr__ = LocationScatter.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Show sizes only: the numbers tell about people."""
        size = f"n_columns={self.location.size}, iterations={self.iterations}"
        return f"{type(self).__name__}({size})"


class Scatter(Protocol):
    """A location and scatter estimator: rows in, `LocationScatter` out."""

    def __call__(self, x: Matrix, *, random_state: object = None) -> LocationScatter:
        """Return the location and scatter of the rows of `x`."""
        ...


def checked(x: object, name: str, *, more_rows_than_columns_plus: int = 0) -> Matrix:
    """Return `x` as a matrix with enough rows and no constant column for the scatter `name`."""
    matrix = as_matrix(x)
    n_rows, n_columns = matrix.shape
    if n_rows <= n_columns + more_rows_than_columns_plus:
        extra = f" + {more_rows_than_columns_plus}" if more_rows_than_columns_plus else ""
        raise InputError(
            f"{name} needs more rows than columns{extra}: got {n_rows} rows, {n_columns} columns. "
            "Drop columns, or use the scatters ('identity', 'cov')."
        )
    # Nearly always the first rows tell; only columns that are constant there are looked through.
    for column in np.flatnonzero(~varies(matrix[:64])):
        if not varies(matrix[:, column]):
            raise InputError(
                f"{name} needs columns that vary: column {int(column)} is constant. Drop it."
            )
    return matrix


def search_seed(random_state: object) -> int:
    """Return a number from 0 to 2^63 - 1 that seeds random starts.

    None is a fixed one: equal data, equal scatters. For the rest see `icsa.randomness.as_key`.
    """
    if random_state is None:
        return 0
    return int(as_key(random_state).stream("search").words(1)[0] >> 1)


def search_generator(random_state: object) -> np.random.Generator:
    """Return the generator of random starts that `search_seed` seeds."""
    return np.random.default_rng(search_seed(random_state))
