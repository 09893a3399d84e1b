"""What masks share: their protocol, where they read and write, and how they use threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Matrix, as_matrix, row_blocks
from icsa.threads import in_threads, threads_for

__all__ = ["Mask", "over_columns", "scores", "source_and_target"]


class Mask(Protocol):
    """Scores in, scores of the same shape out, every column masked on its own."""

    def __call__(
        self, z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1, first: int = 0
    ) -> Matrix:
        """Return the masked scores.

        Parameters
        ----------
        z : ndarray of shape (n_rows, n_components)
            Scores; read, not changed, unless `out` is `z`.
        key : Key, or what `icsa.randomness.as_key` takes
            The secret.
        out : ndarray of shape (n_rows, n_components), optional
            Where to write: float64 in Fortran order (columns in one piece). It may be `z` itself.
        threads : int
            How many columns to work on at a time. The result is the same.
        first : int
            The number of the first column, where `z` holds some columns of a wider table: each is
            masked as it would be among all.

        Returns
        -------
        ndarray of shape (n_rows, n_components), in Fortran order
            `out`, or a new array.
        """
        ...


def scores(z: object) -> Matrix:
    """Return `z` as a float64 matrix; one that already is gets no look at its cells."""
    ready = isinstance(z, np.ndarray) and z.dtype == np.float64 and z.ndim == 2 and z.size
    return z if ready else as_matrix(z)  # type: ignore[return-value]


def source_and_target(z: object, out: Matrix | None) -> tuple[Matrix, Matrix]:
    """Return where to read and to write, in Fortran order; one array for work in place."""
    source = scores(z)
    target = np.empty(source.shape, order="F") if out is None else out
    fits = target.shape == source.shape and target.dtype == np.float64
    if not (fits and target.flags.f_contiguous and target.flags.writeable):
        raise InputError(
            f"out must be a writeable float64 array of shape {source.shape} in Fortran order: "
            "numpy.empty(shape, order='F')."
        )
    if np.may_share_memory(source, target):
        if source.strides == target.strides and source.ctypes.data == target.ctypes.data:
            return target, target
        source = source.copy(order="F")
    if source.flags.f_contiguous and source.flags.writeable:
        return source, target
    for rows in row_blocks(source.shape[0]):
        target[rows] = source[rows]
    return target, target


def over_columns(work: Callable[[range], None], n_columns: int, threads: int) -> None:
    """Call `work` on all columns, in as many parts as there are threads."""
    threads = min(threads_for(n_columns, threads), max(n_columns, 1))
    in_threads(work, [range(first, n_columns, threads) for first in range(threads)], threads)
