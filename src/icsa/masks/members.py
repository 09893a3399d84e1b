"""The masks that shuffle, flip and turn scores: by order, by sign, by direction."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from icsa.errors import InputError
from icsa.masks.base import over_columns, source_and_target
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import as_key
from icsa.shuffling import shuffle

__all__ = ["drawn_permutation", "flip", "permute", "rotate"]


def permute(
    z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1, first: int = 0
) -> Matrix:
    """Return the scores with every column in a uniformly random order of its own (P).

    In place, each thread needs room for one column more. See `Mask` for the parameters.

    Examples
    --------
    >>> permute(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]]), key=7)
    array([[ 1., 30.],
           [ 3., 10.],
           [ 2., 40.],
           [ 4., 20.]])
    """
    secret = as_key(key)
    source, target = source_and_target(z, out)

    def work(columns: range) -> None:
        scratch = np.empty(source.shape[0]) if source is target else None
        for j in columns:
            stream = secret.stream("permute", first + j)
            shuffle(source[:, j], stream, out=target[:, j], scratch=scratch)

    over_columns(work, source.shape[1], threads)
    return target


def drawn_permutation(n_rows: int, n_columns: int, *, key: object) -> Callable[..., Matrix]:
    """Return a mask that does what `permute` does with `key`, its orders drawn beforehand.

    For several maps of one table under the same key: the orders are most of the work there.

    Examples
    --------
    >>> z = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])
    >>> bool((drawn_permutation(4, 2, key=7)(z) == permute(z, key=7)).all())
    True
    """
    cells = np.arange(float(n_rows * n_columns)).reshape(n_columns, n_rows)
    places = permute(cells.T, key=key).T.astype(np.intp)

    def mask(z: Matrix, *, key: object = None) -> Matrix:  # noqa: ARG001
        if z.shape != (n_rows, n_columns):
            raise InputError(f"Orders of {n_rows} x {n_columns} scores were drawn: got {z.shape}.")
        return np.take(z.T, places).T

    return mask


def flip(
    z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1, first: int = 0
) -> Matrix:
    """Return the scores, each with an independent random sign (J).

    The scores should be centred. A row of p components stays as it is with probability 2^-p, so
    this is for tables of many columns. See `Mask` for the parameters.

    Examples
    --------
    >>> flip(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), key=7)
    array([[  1.,  10.],
           [  2., -20.],
           [  3.,  30.]])
    """
    secret = as_key(key)
    source, target = source_and_target(z, out)

    def work(columns: range) -> None:
        for j in columns:
            stream = secret.stream("flip", first + j)
            for rows in row_blocks(source.shape[0]):
                signs = stream.signs(rows.stop - rows.start)
                np.multiply(source[rows, j], signs, out=target[rows, j])

    over_columns(work, source.shape[1], threads)
    return target


def rotate(
    z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1, first: int = 0
) -> Matrix:
    """Return the scores with every column replaced by a uniformly random vector of its length (O).

    A column z becomes g |z| / |g| with g standard normal, which is what a uniformly random
    orthogonal matrix makes of it. The scores should be centred. See `Mask` for the parameters.

    Examples
    --------
    >>> rotated = rotate(np.array([[3.0, 0.0], [4.0, 2.0]]), key=7)
    >>> np.linalg.norm(rotated, axis=0).round(12)
    array([5., 2.])
    """
    secret = as_key(key)
    source, target = source_and_target(z, out)

    def work(columns: range) -> None:
        for j in columns:
            length = _norm(source[:, j])
            stream = secret.stream("rotate", first + j)
            for rows in row_blocks(source.shape[0]):
                target[rows, j] = stream.normals(rows.stop - rows.start)
            target[:, j] *= length / _norm(target[:, j])

    over_columns(work, source.shape[1], threads)
    return target


def _norm(column: Vector) -> float:
    """Return the length of a column; not by BLAS, whose last digits may depend on its threads."""
    return math.sqrt(sum(float(np.square(column[rows]).sum()) for rows in row_blocks(column.size)))
