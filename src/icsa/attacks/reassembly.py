"""Reassembly: a lone person whom a mask broke into pieces is put together again.

A person who stands out in p coordinates leaves, after `permute`, p released rows that are far out
in nearly orthogonal whitened directions, one a coordinate. They add up to the person. The attacker
needs the release and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from icsa.linalg import spectrum
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.scatters import mcd

__all__ = ["Pieces", "Reassembly", "pieces_of", "reassemble"]

# A row is far out when its squared distance is above this many times the chi-square limit that one
# table in a hundred exceeds: a release has heavier tails than its original.
_FAR = 1.3
_LEVEL = 0.01
# Pieces of one person are nearly orthogonal; rows that point the same way are another's.
_SAME_WAY = 0.5
_ALPHA = 0.75
# The alternation gains a digit in a few rounds; the last ones are not needed.
_ROUNDS = 100
_STILL = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Reassembly:
    """A guess of the person who stands out most, made from the release alone.

    Attributes
    ----------
    guess : ndarray of shape (n_columns,) or None
        The sum of the pieces; None where no released row is far out.
    pieces : ndarray of shape (n_pieces,)
        Numbers of the released rows that were added up, the farthest first.
    lengths : ndarray of shape (n_pieces,)
        How far each piece lies out in its own direction, in whitened units.
    n_far : int
        Number of released rows that are far out.
    """

    guess: Vector | None
    pieces: npt.NDArray[np.intp]
    lengths: Vector
    n_far: int

    def __repr__(self) -> str:
        """Show sizes only: a guess may be a person."""
        return f"<Reassembly: {self.pieces.size} pieces of {self.n_far} rows that are far out>"


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Released rows that are far out in nearly orthogonal directions.

    Attributes
    ----------
    rows : ndarray of shape (n_pieces,)
        Their numbers, the farthest first.
    whitened : ndarray of shape (n_pieces, n_columns)
        The same rows in whitened units, from the centre.
    n_far : int
        Number of released rows that are far out.
    limit : float
        The squared distance from which on a row is far out.
    """

    rows: npt.NDArray[np.intp]
    whitened: Matrix
    n_far: int
    limit: float
    _location: Vector
    _vectors: Matrix
    _roots: Vector

    def whiten(self, rows: Matrix) -> Matrix:
        """Return rows in whitened units of the release."""
        return np.asarray((rows - self._location) @ (self._vectors / self._roots))

    def unwhiten(self, row: Vector) -> Vector:
        """Return a whitened row in the columns' own units."""
        return np.asarray(self._location + (row * self._roots) @ self._vectors.T)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Pieces: {self.rows.size} of {self.n_far} rows that are far out>"


def pieces_of(released: object, *, most: int | None = None, sample: int | None = None) -> Pieces:
    """Return the far released rows that may be pieces of one person.

    The release is whitened by its MCD. Of the rows far out, from the farthest down, those are kept
    that are nearly orthogonal to all kept before.

    Parameters
    ----------
    released : array-like of shape (n_rows, n_columns)
    most : int, optional
        How many pieces at most; one a column at most.
    sample : int, optional
        From how many rows, evenly spaced, the MCD is found at most; by default from all.

    Examples
    --------
    >>> released = np.random.default_rng(1).normal(size=(60, 2))
    >>> released[0, 0], released[1, 1] = 40.0, 30.0
    >>> pieces_of(released)
    <Pieces: 2 of 2 rows that are far out>
    """
    rows = as_matrix(released)
    n, p = rows.shape
    few = slice(None) if sample is None else slice(None, None, max(1, -(-n // sample)))
    centre = mcd(rows[few], alpha=_ALPHA)
    values, vectors = spectrum(centre.scatter)
    limit = _FAR * float(chdtri(p, _LEVEL / n))
    empty = np.empty(0, dtype=np.intp)
    map_only = Pieces(empty, np.empty((0, p)), 0, limit, centre.location, vectors, np.sqrt(values))
    whitened = map_only.whiten(rows)
    squared = np.einsum("ij,ij->i", whitened, whitened)
    far = np.flatnonzero(squared > limit)
    far = far[np.argsort(-squared[far], kind="stable")]
    kept = far[_nearly_orthogonal(whitened[far], p if most is None else min(p, most))]
    return replace(map_only, rows=kept, whitened=whitened[kept], n_far=far.size)


def reassemble(released: object) -> Reassembly:
    """Return the person who stands out most, put together from pieces that a release holds.

    The release is whitened by its MCD. Of the rows far out, from the farthest down, those are kept
    that are nearly orthogonal to all kept before, at most one a column. The orthonormal directions
    nearest to them (Procrustes, in turns with the rows' lengths along their directions) give the
    pieces without what chance added to them, and their sum is the guess.

    Parameters
    ----------
    released : array-like of shape (n_rows, n_columns)

    Returns
    -------
    Reassembly

    Examples
    --------
    Somebody at (40, 30) among people around zero is broken into (40, .) and (., 30):

    >>> released = np.random.default_rng(1).normal(size=(60, 2))
    >>> released[0, 0], released[1, 1] = 40.0, 30.0
    >>> found = reassemble(released)
    >>> found.pieces, found.guess.round(-1)
    (array([0, 1]), array([40., 30.]))
    """
    found = pieces_of(released)
    if not found.rows.size:
        return Reassembly(None, found.rows, np.empty(0), found.n_far)
    directions, lengths = _orthonormal_pieces(found.whitened)
    return Reassembly(found.unwhiten(directions @ lengths), found.rows, lengths, found.n_far)


def _nearly_orthogonal(rows: Matrix, most: int) -> list[int]:
    """Return the rows, in their order, that are nearly orthogonal to all that were taken before."""
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    kept: list[int] = []
    for i, unit in enumerate(units):
        if len(kept) == most:
            break
        if np.all(np.abs(units[kept] @ unit) < _SAME_WAY):
            kept.append(i)
    return kept


def _orthonormal_pieces(rows: Matrix) -> tuple[Matrix, Vector]:
    """Return orthonormal directions (in columns) nearest to the rows, and the rows' lengths there.

    They minimise the sum of |y_j - z_j u_j|^2 over orthonormal u_j and over z_j, in turns.
    """
    targets = rows.T
    lengths = np.linalg.norm(rows, axis=1)
    for _ in range(_ROUNDS):
        left, _, right = np.linalg.svd(targets * lengths, full_matrices=False)
        directions = left @ right
        before, lengths = lengths, np.einsum("ij,ij->j", directions, targets)
        if np.all(np.abs(lengths - before) <= _STILL * np.abs(before)):
            break
    return directions, lengths
