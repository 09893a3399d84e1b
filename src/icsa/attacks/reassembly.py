"""Reassembly: a lone person whom a mask broke into pieces is put together again.

A person who stands out in p coordinates leaves, after `permute`, p released rows that are far out
in nearly orthogonal whitened directions, one a coordinate. They add up to the person. The attacker
needs the release and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from icsa.linalg import spectrum
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.scatters import mcd

__all__ = ["Reassembly", "reassemble"]

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
    rows = as_matrix(released)
    n, p = rows.shape
    centre = mcd(rows, alpha=_ALPHA)
    values, vectors = spectrum(centre.scatter)
    whitened = (rows - centre.location) @ (vectors / np.sqrt(values))
    squared = np.einsum("ij,ij->i", whitened, whitened)
    far = np.flatnonzero(squared > _FAR * chdtri(p, _LEVEL / n))
    far = far[np.argsort(-squared[far], kind="stable")]
    pieces = far[_nearly_orthogonal(whitened[far], p)]
    if not pieces.size:
        return Reassembly(None, pieces, np.empty(0), far.size)
    directions, lengths = _orthonormal_pieces(whitened[pieces])
    guess = centre.location + (directions @ lengths * np.sqrt(values)) @ vectors.T
    return Reassembly(guess, pieces, lengths, far.size)


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
