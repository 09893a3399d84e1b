"""What every scatter returns, and what the iterative ones share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, as_matrix

__all__ = ["LocationScatter", "Scatter", "checked", "search_generator", "search_seed"]


@dataclass(frozen=True, eq=False)
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
        """Make the arrays read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


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
    for column in np.flatnonzero((matrix[:64] == matrix[0]).all(axis=0)):
        if np.all(matrix[:, column] == matrix[0, column]):
            raise InputError(
                f"{name} needs columns that vary: column {int(column)} is constant. Drop it."
            )
    return matrix


def search_seed(random_state: object) -> int:
    """Return a number from 0 to 2^63 - 1 that seeds random starts; for None a fixed one."""
    if random_state is None:
        return 0
    return int(search_generator(random_state).integers(2**63))


def search_generator(random_state: object) -> np.random.Generator:
    """Return the generator of random starts; for None a fixed one: equal data, equal scatters."""
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return np.random.default_rng(int(random_state.bit_generator.random_raw()))  # type: ignore[union-attr]
    if isinstance(random_state, bytes):
        return np.random.default_rng(int.from_bytes(random_state, "little"))
    return np.random.default_rng(random_state)  # type: ignore[arg-type]
