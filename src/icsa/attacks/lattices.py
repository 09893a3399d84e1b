"""Lattices of whole numbers: short bases (LLL), and what is orthogonal to given columns.

The reduction works on 64-bit integers with the Gram-Schmidt coefficients in doubles, computed anew
from the integers whenever a row changes. That is enough for the lattices here, with up to some
hundred rows, because no step meets large numbers: the digits of the columns are fed in a few bits
at a time, and between two steps the basis is short.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["Integers", "dot", "integer_kernel", "nearest_points", "reduce_rows", "short_relations"]

Integers = npt.NDArray[np.int64]

# How much shorter than it was a row must become for two rows to be exchanged; 1 is the limit.
_DELTA = 0.99
# Coefficients up to one half cannot be made smaller; a little more is rounding.
_HALF = 0.501
# Rounds of size reduction of one row; each takes 30 bits or more off its coefficients.
_ROUNDS = 40
# Bits of the columns that a step adds: after it no number is larger than 2^(this many) times those
# that the step before left.
_BITS = 4
# Whole numbers up to here are doubles.
_EXACT = 2.0**52
# What rounding leaves of sums, in units of their last digit.
_ROUNDING = 64.0


def reduce_rows(rows: Integers) -> Integers:
    """Return a short and nearly orthogonal basis of the lattice that the rows span (LLL).

    Parameters
    ----------
    rows : ndarray of int64 of shape (n_rows, n_columns)
        Linearly independent; cells below 2^52.

    References
    ----------
    Lenstra, Lenstra and Lovász (1982); with floating-point coefficients Schnorr and Euchner (1994).

    Examples
    --------
    >>> reduce_rows(np.array([[1, 0, 7], [0, 1, 5]]))
    array([[-1,  1, -2],
           [-1,  2,  3]])
    """
    basis = np.array(rows, dtype=np.int64, order="C")
    _reduce(basis, basis.astype(np.float64), _DELTA)
    return basis


@kernel
def _reduce(basis: Integers, copy: Matrix, delta: float) -> None:
    """Reduce the basis in place; `copy` holds it as doubles."""
    n = basis.shape[0]
    mu, r = np.zeros((n, n)), np.zeros((n, n))
    r[0, 0] = dot(copy[0], copy[0])
    k = 1
    while k < n:
        for _ in range(_ROUNDS):
            _orthogonalize(copy, mu, r, k)
            if not _shorten(basis, copy, mu, k):
                break
        if delta * r[k - 1, k - 1] <= r[k, k] + mu[k, k - 1] * r[k, k - 1]:
            k += 1
            continue
        for j in range(basis.shape[1]):
            basis[k, j], basis[k - 1, j] = basis[k - 1, j], basis[k, j]
            copy[k, j], copy[k - 1, j] = copy[k - 1, j], copy[k, j]
        if k == 1:
            r[0, 0] = dot(copy[0], copy[0])
        else:
            k -= 1


@kernel
def dot(x: Vector, y: Vector) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * y[j]
    return total


@kernel
def _orthogonalize(copy: Matrix, mu: Matrix, r: Matrix, k: int) -> None:
    """Set row k of the Gram-Schmidt coefficients, rows before it being right."""
    for j in range(k + 1):
        value = dot(copy[k], copy[j])
        for i in range(j):
            value -= mu[j, i] * r[k, i]
        r[k, j] = value
        if j < k:
            mu[k, j] = value / r[j, j]


@kernel
def _shorten(basis: Integers, copy: Matrix, mu: Matrix, k: int) -> bool:
    """Take multiples of the rows before it off row k; return whether there were any."""
    changed = False
    for j in range(k - 1, -1, -1):
        if abs(mu[k, j]) <= _HALF:
            continue
        changed = True
        multiple = np.rint(mu[k, j])
        whole = np.int64(multiple)
        for c in range(basis.shape[1]):
            basis[k, c] -= whole * basis[j, c]
        for i in range(j):
            mu[k, i] -= multiple * mu[j, i]
        mu[k, j] -= multiple
    if changed:
        for c in range(basis.shape[1]):
            copy[k, c] = basis[k, c]
    return changed


def short_relations(columns: Integers) -> Integers:
    """Return a basis of Z^n whose first rows u are short and make the sums u'columns small.

    Rows of [I | columns] are reduced, the columns' bits fed in from the highest down.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n, n_columns)
        Cells below 2^52.

    Examples
    --------
    2 * 300 = 3 * 200 is the only short relation between 200 and 300 that has the sum zero:

    >>> np.abs(short_relations(np.array([[200], [300]]))[0])
    array([3, 2])
    """
    n = columns.shape[0]
    bits = int(np.abs(columns).max()).bit_length()
    relations = np.eye(n, dtype=np.int64)
    for fed in [*range(_BITS + 2, bits, _BITS), bits]:
        # Integers wrap around at 2^64, so that a sum that fits is exact whatever its terms were.
        sums = np.rint((relations @ columns) / 2.0 ** (bits - fed)).astype(np.int64)
        relations = reduce_rows(np.hstack([relations, sums]))[:, :n]
    return relations


def integer_kernel(rows: Integers, rank: int) -> Integers | None:
    """Return a short basis of the integer vectors orthogonal to all rows; None if none is found.

    Parameters
    ----------
    rows : ndarray of int64 of shape (n_rows, n_columns)
        With small cells.
    rank : int
        How many vectors the basis has.

    Examples
    --------
    >>> integer_kernel(np.array([[1, 2, 3]]), 2)
    array([[-1, -1,  1],
           [-2,  1,  0]])
    """
    n = rows.shape[1]
    basis = np.eye(n, dtype=np.int64)
    # The penalty grows until it is longer than what is looked for.
    for exponent in range(0, 31, 3):
        basis = reduce_rows(np.hstack([basis, (basis @ rows.T) << exponent]))[:, :n]
        if not (basis[:rank] @ rows.T).any():
            return basis[:rank]
    return None


def nearest_points(values: Vector, weights: Vector, centre: Vector, spread: Vector) -> Integers:
    """Return for each value the whole numbers m near `centre` with weights'm = value.

    Of the m with the right sum one is nearest to the centre, distances in units of `spread`; it is
    found by rounding in a reduced basis, coordinate by coordinate (Babai).

    Parameters
    ----------
    values : ndarray of shape (n_values,)
    weights, centre, spread : ndarray of shape (p,)

    Returns
    -------
    ndarray of int64 of shape (n_values, p)
        Whether weights'm is the value is for the caller to see.

    Examples
    --------
    >>> weights = np.array([1.0, np.pi])
    >>> nearest_points(np.array([3 + 8 * np.pi]), weights, np.array([5.0, 5.0]), np.full(2, 4.0))
    array([[3, 8]])
    """
    # Sums as whole numbers of so small a unit that the largest still fits: they are exact then.
    unit = float(max(np.abs(values).max(), np.abs(weights) @ (np.abs(centre) + spread))) / _EXACT
    sums, units = (np.rint(part / unit).astype(np.int64) for part in (values, weights))
    # A spread weighs as much as what rounding leaves of a sum.
    scale = _ROUNDING / spread
    basis = np.eye(weights.size, dtype=np.int64)
    for share in 2.0 ** np.arange(-48.0, 1.0, 3.0):
        cells = np.column_stack([basis * scale, share * (basis @ units)])
        whole = np.hstack([np.rint(cells).astype(np.int64), basis])
        basis = reduce_rows(whole)[:, weights.size + 1 :]
    reduced = np.column_stack([basis * scale, basis @ units])
    points = np.zeros((values.size, weights.size), dtype=np.int64)
    for _ in range(_ROUNDS):
        # The rest is exact, so every round takes out what the rounding of the last one left.
        rest = np.column_stack([(centre - points) * scale, sums - points @ units])
        multiples = _rounded_in_basis(rest, reduced)
        if not multiples.any():
            break
        points += multiples @ basis
    return points


def _rounded_in_basis(targets: Matrix, basis: Matrix) -> Integers:
    """Return whole multiples of the basis's rows near the targets, the last row's first."""
    q, r = np.linalg.qr(basis.T)
    left = targets @ q
    multiples = np.zeros((targets.shape[0], basis.shape[0]), dtype=np.int64)
    for k in range(basis.shape[0] - 1, -1, -1):
        chosen = np.rint(left[:, k] / r[k, k])
        multiples[:, k] = chosen.astype(np.int64)
        left -= chosen[:, None] * r[:, k]
    return multiples
