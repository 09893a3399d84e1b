"""Masks hide every component of the scores on its own: by order, by sign or by direction.

A mask is a function ``(z, *, key) -> Matrix`` of the scores (rows are people, columns are
components). Component j draws from the key's stream of the mask's name and number j, so the result
depends on the scores and the key only. `decorrelate` is a second step after any mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from icsa.errors import InputError, UnknownNameError
from icsa.linalg import inverse_root
from icsa.matrices import Matrix, Vector, as_matrix, row_blocks
from icsa.randomness import as_key
from icsa.shuffling import shuffle

__all__ = [
    "MASKS",
    "Mask",
    "Moments",
    "decorrelate",
    "flip",
    "moments",
    "permute",
    "resolve",
    "rotate",
]

# Products with their intermediate results stay in the cache at this many rows.
_PRODUCT_ROWS: Final = 1 << 12


class Mask(Protocol):
    """Scores in, scores of the same shape out, every column masked on its own."""

    def __call__(
        self, z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1
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

        Returns
        -------
        ndarray of shape (n_rows, n_components), in Fortran order
            `out`, or a new array.
        """
        ...


def permute(z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1) -> Matrix:
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
    source, target = _source_and_target(z, out)

    def work(columns: range) -> None:
        scratch = np.empty(source.shape[0]) if source is target else None
        for j in columns:
            stream = secret.stream("permute", j)
            shuffle(source[:, j], stream, out=target[:, j], scratch=scratch)

    _over_columns(work, source.shape[1], threads)
    return target


def flip(z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1) -> Matrix:
    """Return the scores, each with an independent random sign (J).

    The scores should be centred. See `Mask` for the parameters.

    Examples
    --------
    >>> flip(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), key=7)
    array([[  1.,  10.],
           [  2., -20.],
           [  3.,  30.]])
    """
    secret = as_key(key)
    source, target = _source_and_target(z, out)

    def work(columns: range) -> None:
        for j in columns:
            stream = secret.stream("flip", j)
            for rows in row_blocks(source.shape[0]):
                signs = stream.signs(rows.stop - rows.start)
                np.multiply(source[rows, j], signs, out=target[rows, j])

    _over_columns(work, source.shape[1], threads)
    return target


def rotate(z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1) -> Matrix:
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
    source, target = _source_and_target(z, out)

    def work(columns: range) -> None:
        for j in columns:
            length = _norm(source[:, j])
            stream = secret.stream("rotate", j)
            for rows in row_blocks(source.shape[0]):
                target[rows, j] = stream.normals(rows.stop - rows.start)
            target[:, j] *= length / _norm(target[:, j])

    _over_columns(work, source.shape[1], threads)
    return target


MASKS: Final[dict[str, Mask]] = {"flip": flip, "permute": permute, "rotate": rotate}


def resolve(mask: str | Callable[..., Any]) -> Mask:
    """Return the mask of that name, or a function ``(z, *, key)`` made into one.

    Such a function is handed a `Key`, and may return anything that is a table of z's shape.

    Examples
    --------
    >>> resolve("permute") is permute
    True
    >>> resolve(lambda z, *, key: z[::-1])(np.array([[1.0], [2.0]]), key=None)
    array([[2.],
           [1.]])
    """
    if isinstance(mask, str):
        if mask not in MASKS:
            raise UnknownNameError("mask", mask, MASKS)
        return MASKS[mask]
    if not callable(mask):
        raise InputError(
            f"A mask is a name ({', '.join(sorted(MASKS))}) or a function (z, *, key): "
            f"got an object of type {type(mask).__name__}."
        )
    return mask if mask in MASKS.values() else _completed(mask)


class Moments(NamedTuple):
    """Mean and standard deviation (divisor n) of every column."""

    mean: Vector
    deviation: Vector


def moments(z: Matrix) -> Moments:
    """Return the mean and standard deviation of every column, by blocks of rows.

    Examples
    --------
    >>> moments(np.array([[1.0, 5.0], [3.0, 5.0]]))
    Moments(mean=array([2., 5.]), deviation=array([1., 0.]))
    """
    z = _scores(z)
    n_rows = z.shape[0]
    # From the first row, so that a constant is exact; what rounding left is added by the next pass.
    # Sums run down columns in one piece, so that the layout of z does not change the last digits.
    mean = z[0].copy()
    for rows in row_blocks(n_rows):
        mean += np.subtract(z[rows], z[0], order="F").sum(axis=0) / n_rows
    left, squares = np.zeros_like(mean), np.zeros_like(mean)
    for rows in row_blocks(n_rows):
        centred = np.subtract(z[rows], mean, order="F")
        left += centred.sum(axis=0) / n_rows
        squares += np.square(centred).sum(axis=0) / n_rows
    return Moments(mean + left, np.sqrt(np.maximum(squares - left**2, 0.0)))


def decorrelate(masked: Matrix, original: Matrix | Moments, *, out: Matrix | None = None) -> Matrix:
    """Return masked scores with the original's means and variances and without correlations.

    They are standardised, multiplied by R^(-1/2) (the symmetric root; R their correlation matrix),
    and given the original's standard deviations and means. Masks leave chance correlations of size
    n^(-1/2) between components, which cost half of the efficiency; this takes them out.

    Parameters
    ----------
    masked : ndarray of shape (n_rows, n_components)
        Scores after a mask.
    original : ndarray of the same shape, or Moments
        Scores before the mask or, where they were masked in place, their `moments`.
    out : ndarray of shape (n_rows, n_components), optional
        Where to write: float64 in Fortran order. It may be `masked` itself.

    Returns
    -------
    ndarray of shape (n_rows, n_components), in Fortran order
        `out`, or a new array. A component that was constant is that constant.

    Examples
    --------
    >>> z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> masked = np.array([[1.0, 1.4], [1.0, -0.2], [-1.0, 0.2], [-1.0, -1.4]])
    >>> decorrelate(masked, z).round(4)
    array([[ 0.6325,  1.2649],
           [ 1.2649, -0.6325],
           [-1.2649,  0.6325],
           [-0.6325, -1.2649]])
    """
    source, target = _source_and_target(masked, out)
    wanted = _wanted_moments(original, source.shape)
    # One round is exact but for rounding, which the next takes out where R is ill-conditioned.
    for _ in range(3):
        mean, scale, correlation = _standardization(source, wanted)
        smallest = np.linalg.eigvalsh(correlation)[0]
        if smallest < 1e-12:
            raise InputError(
                "decorrelate: masked components depend on each other exactly. "
                "Use more rows or fewer columns, or decorrelate=False."
            )
        back = inverse_root(correlation) * wanted.deviation
        for rows in row_blocks(source.shape[0], _PRODUCT_ROWS):
            target[rows] = ((source[rows] - mean) / scale) @ back + wanted.mean
        if smallest > 0.1:
            break
        source = target
    return target


def _wanted_moments(original: Matrix | Moments, shape: tuple[int, ...]) -> Moments:
    """Return the moments to restore, with a deviation of exactly 0 for constant components."""
    if not isinstance(original, Moments):
        if np.shape(original) != shape:
            raise InputError("decorrelate: masked and original scores must have the same shape.")
        original = moments(original)
    deviation = _real_deviation(original)
    n_rows, n_components = shape[0], np.count_nonzero(deviation)
    if n_components and n_rows <= n_components + 1:
        raise InputError(
            f"decorrelate needs more rows than components + 1: got {n_rows} rows, "
            f"{n_components} components. Use more rows or fewer columns, or decorrelate=False."
        )
    return Moments(original.mean, deviation)


def _standardization(z: Matrix, wanted: Moments) -> tuple[Vector, Vector, Matrix]:
    """Return means, scales and correlations; a constant component has scale 1 and stands apart."""
    found, varies = moments(z), wanted.deviation > 0
    lost = np.flatnonzero(varies & (_real_deviation(found) == 0))
    if lost.size:
        raise InputError(
            f"decorrelate: component {lost[0]} is constant after the mask but was not before. "
            "Use another mask, or decorrelate=False."
        )
    scale = np.where(varies, found.deviation, 1.0)
    correlation = np.zeros((scale.size, scale.size))
    for rows in row_blocks(z.shape[0], _PRODUCT_ROWS):
        standard = (z[rows] - found.mean) / scale
        correlation += standard.T @ standard / z.shape[0]
    correlation *= np.outer(varies, varies)
    np.fill_diagonal(correlation, 1.0)
    if not np.isfinite(correlation).all():
        as_matrix(z)  # says where the scores are not finite
    return found.mean, scale, correlation


def _real_deviation(found: Moments) -> Vector:
    # Rounding in the scores of a constant column is not variation.
    return np.where(found.deviation <= 1e-14 * np.abs(found.mean), 0.0, found.deviation)


def _completed(function: Callable[..., Any]) -> Mask:
    """Return `function` with the keywords of a mask and its result checked."""

    @wraps(function)
    def mask(z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1) -> Matrix:  # noqa: ARG001
        source, target = _source_and_target(z, out)
        masked = as_matrix(function(source, key=as_key(key)))
        if masked.shape != source.shape:
            raise InputError(
                f"A mask must keep the shape of the scores, {source.shape}: got {masked.shape}."
            )
        np.copyto(target, masked)
        return target

    return mask


def _scores(z: object) -> Matrix:
    """Return `z` as a float64 matrix; one that already is gets no look at its cells."""
    ready = isinstance(z, np.ndarray) and z.dtype == np.float64 and z.ndim == 2 and z.size
    return z if ready else as_matrix(z)  # type: ignore[return-value]


def _source_and_target(z: object, out: Matrix | None) -> tuple[Matrix, Matrix]:
    """Return where to read and to write, in Fortran order; one array for work in place."""
    source = _scores(z)
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


def _over_columns(work: Callable[[range], None], n_columns: int, threads: int) -> None:
    """Call `work` on all columns, in as many parts as there are threads."""
    if threads < 1:
        raise InputError(f"threads must be 1 or more: got {threads}.")
    if threads == 1:
        return work(range(n_columns))
    parts = [range(first, n_columns, threads) for first in range(min(threads, n_columns))]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))  # raises what a part raised
    return None


def _norm(column: Vector) -> float:
    """Return the length of a column; not by BLAS, whose last digits may depend on its threads."""
    return math.sqrt(sum(float(np.square(column[rows]).sum()) for rows in row_blocks(column.size)))
