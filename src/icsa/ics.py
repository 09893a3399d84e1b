"""Invariant coordinates: one invertible affine map from a table to its components and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np

from icsa.errors import ExactFitError, InputError
from icsa.linalg import solve_lower, spectrum, symmetrize
from icsa.mapping import rows_of, scores_of
from icsa.matrices import (
    Matrix,
    Vector,
    as_matrix,
    column_names,
    columns_first,
    row_blocks,
)
from icsa.scatters import LocationScatter, ResolvedScatter, resolve
from icsa.scatters.registry import checked_result
from icsa.subspaces import Subspace, spanned_subspace
from icsa.threads import in_threads

__all__ = [
    "InvariantCoordinates",
    "coordinates_from",
    "extended",
    "invariant_coordinates",
    "whitened_rows",
]

# Eigenvalues that differ by less than this share of themselves are equal.
_TIED = 1e-9
# Rows that one thread maps at a time.
_PART = 1 << 16
# Kernels are compiled for one kind of array: rows in one piece, writeable though not written to.
_ONE_KIND: tuple[Literal["C"], Literal["W"]] = ("C", "W")


@dataclass(frozen=True, eq=False, repr=False)
class InvariantCoordinates:
    """An affine map to invariant coordinates, Z = (X - 1T') W', and back, X = Z A' + 1T'.

    Attributes
    ----------
    location : ndarray of shape (n_columns,)
        T, the location that belongs to the first scatter.
    unmixing : ndarray of shape (n_components, n_columns)
        W, one component a row: W S1 W' = I and W S2 W' = diag(eigenvalues).
    mixing : ndarray of shape (n_columns, n_components)
        A, with W A = I. Its column j is what one unit of component j adds to a row.
    eigenvalues : ndarray of shape (n_components,)
        Descending. There are fewer components than columns where columns are constant or depend on
        others exactly.
    scatter_names : pair of str
        Names of the two scatters.
    constant_columns : tuple of int
        Columns with one value only; they come back as they are.
    """

    location: Vector
    unmixing: Matrix
    mixing: Matrix
    eigenvalues: Vector
    scatter_names: tuple[str, str]
    constant_columns: tuple[int, ...] = ()
    # Solving with the triangular factor keeps digits that multiplying by its inverse, `unmixing`,
    # would lose.
    _factor: Matrix = field(repr=False, kw_only=True)
    _rotation: Matrix = field(repr=False, kw_only=True)
    _space: Subspace | None = field(repr=False, kw_only=True, default=None)

    @property
    def verbatim_columns(self) -> tuple[int, ...]:
        """Columns that are one component each: permuting leaves their values as they are."""
        lengths = np.linalg.norm(self.mixing, axis=1)
        largest = np.abs(self.mixing).max(axis=1)
        return tuple(
            int(j) for j in np.flatnonzero((largest > (1 - 1e-14) * lengths) & (lengths > 0))
        )

    def transform(self, x: object, *, out: Matrix | None = None, threads: int = 1) -> Matrix:
        """Return the scores Z, shape (n_rows, n_components), each component in one piece of memory.

        Parameters
        ----------
        x : array-like of shape (n_rows, n_columns)
            The table.
        out : ndarray of shape (n_rows, n_components), optional
            Where to write, in Fortran order.
        threads : int
            How many parts of the rows to work on at a time. The result is the same.

        Examples
        --------
        >>> x = np.random.default_rng(0).normal(size=(50, 3))
        >>> coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
        >>> np.cov(coordinates.transform(x).T).round(12) + 0.0
        array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]])
        """
        matrix = _of_width(x, self.mixing.shape[0], "columns", check_finite=False)
        location = self.location
        scores = _room(out, (matrix.shape[0], self.mixing.shape[1]))
        if self._space is not None:
            self._require_the_same_relations(matrix, x)
            matrix = self._space.reduce(matrix, location)
            location = np.zeros(matrix.shape[1])
        if not _fill_scores(matrix, location, self._factor, self._rotation, scores, threads):
            as_matrix(x)  # says where
            raise InputError("Numbers are too large to be mapped. Use other units.")
        return scores

    def inverse_transform(
        self,
        z: object,
        *,
        out: Matrix | None = None,
        threads: int = 1,
        check_finite: bool = True,
    ) -> Matrix:
        """Return the table that has these scores, shape (n_rows, n_columns).

        Parameters
        ----------
        z : array-like of shape (n_rows, n_components)
            Scores.
        out : ndarray of shape (n_rows, n_columns), optional
            Where to write, in Fortran order; it may be `z` itself where there are as many
            components as columns.
        threads : int
            How many parts of the rows to work on at a time. The result is the same.
        check_finite : bool
            Whether to look at every score first.

        Examples
        --------
        >>> x = np.random.default_rng(0).normal(size=(50, 3))
        >>> coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
        >>> back = coordinates.inverse_transform(coordinates.transform(x))
        >>> bool(np.allclose(back, x, rtol=0, atol=1e-14))
        True
        """
        scores = _of_width(z, self.mixing.shape[1], "components", check_finite=check_finite)
        table = _room(out, (scores.shape[0], self.mixing.shape[0]))
        source, target, location = columns_first(scores), table.T, self.location.copy()

        def work(rows: slice) -> None:
            rows_of(source, self.mixing, location, target, rows.start, rows.stop)

        in_threads(work, list(row_blocks(scores.shape[0], _PART)), threads)
        return table

    def _require_the_same_relations(self, matrix: Matrix, x: object) -> None:
        """Refuse rows that break what was constant or exactly dependent when the map was found."""
        off = self._space.outside(matrix) if self._space is not None else ()
        if off and np.isfinite(matrix).all():
            names = column_names(x)
            listed = ", ".join(repr(names[j]) for j in off)
            raise InputError(
                f"Column(s) {listed}: constant, or exactly dependent on others, in the table that "
                "the coordinates were found on, but not in this one. Fit this table."
            )

    def __repr__(self) -> str:
        """Show names and sizes; what the map consists of would show the data."""
        columns, components = self.mixing.shape
        pair = " and ".join(self.scatter_names)
        return f"<InvariantCoordinates by {pair}: {columns} columns, {components} components>"


def invariant_coordinates(
    x: object,
    *,
    scatters: Sequence[object] = ("mcd50", "mcd75"),
    random_state: object = None,
) -> InvariantCoordinates:
    """Return the invariant coordinates of a table for a pair of scatters.

    The rows are centred by the first scatter's location T and whitened by the first scatter S1; the
    eigenvectors of the second scatter of the whitened rows turn them into components, those with
    the largest eigenvalue first. Of the two signs of a component the one is taken that makes the
    largest weight in its row of W positive, weights counted in units of the columns' spread under
    S1.

    Where eigenvalues are equal, any basis of their space is right; a fixed generic one is taken.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table. Columns with one value only are kept as they are. Where columns depend on others
        exactly, the components span the space in which the rows lie, so that the same relations
        hold for whatever is mapped back.
    scatters : pair
        Names, callables or covariance estimators as `icsa.scatters.resolve` takes them; or
        `LocationScatter` objects that were computed on `x` before, which saves computing one again
        for every pair that it is part of.
    random_state : int, bytes, Generator or None
        Seed of the random starts of scatters that have them; None is a fixed one.

    Returns
    -------
    InvariantCoordinates

    References
    ----------
    Tyler, Critchley, Duembgen and Oja (2009), Invariant co-ordinate selection.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(100, 3)) * [1.0, 20.0, 300.0]
    >>> invariant_coordinates(x, scatters=("cov", "cov4")).eigenvalues.round(3)
    array([1.021, 0.946, 0.843])
    """
    matrix = as_matrix(x, minimum_rows=2)
    pair = _pair(scatters)
    _require_fitting(pair, matrix.shape[1])
    space = None
    if not any(isinstance(scatter, LocationScatter) for scatter in pair):
        space = spanned_subspace(
            matrix,
            find_dependent=any(scatter.needs_full_rank for scatter in pair),  # type: ignore[union-attr]
            orthonormal=not all(scatter.affine_equivariant for scatter in pair),  # type: ignore[union-attr]
        )
    try:
        core = _coordinates(
            matrix if space is None else space.reduce(matrix, space.origin), pair, random_state
        )
    except ExactFitError as error:
        columns = range(matrix.shape[1]) if space is None else space.columns
        raise error.among(columns, column_names(x)) from None
    return core if space is None else extended(core, space)


_Pair = tuple[ResolvedScatter | LocationScatter, ResolvedScatter | LocationScatter]


def _pair(scatters: Sequence[object]) -> _Pair:
    if isinstance(scatters, str) or not isinstance(scatters, Sequence) or len(scatters) != 2:
        raise InputError("scatters must be a pair, such as ('mcd50', 'mcd75').")
    first, second = (s if isinstance(s, LocationScatter) else resolve(s) for s in scatters)
    return first, second


def _require_fitting(pair: _Pair, n_columns: int) -> None:
    """Check scatters that were computed before; only the second may be singular."""
    for scatter, may_be_singular in zip(pair, (False, True), strict=True):
        if isinstance(scatter, LocationScatter):
            checked_result(scatter, n_columns, "given", allow_singular=may_be_singular)


def _coordinates(x: Matrix, pair: _Pair, random_state: object) -> InvariantCoordinates:
    """Whiten by the first scatter, rotate to the eigenvectors of the second."""
    first, second = pair
    s1 = first if isinstance(first, LocationScatter) else first(x, random_state=random_state)
    whitened = _second_whitened(x, s1, s1.factor, second, random_state)
    names = getattr(first, "name", "given"), getattr(second, "name", "given")
    return coordinates_from(s1, whitened, names)


def coordinates_from(
    s1: LocationScatter, second: Matrix, names: tuple[str, str]
) -> InvariantCoordinates:
    """Return the coordinates of a location with its scatter and the second scatter, whitened.

    For tables that are whitened block by block; `invariant_coordinates` does all of it at once.
    """
    factor = s1.factor
    values, vectors = spectrum(symmetrize(second))
    values, vectors = values[::-1].copy(), _generic_where_tied(values[::-1], vectors[:, ::-1])
    unmixing = solve_lower(factor, vectors, transposed=True).T
    signs = _signs_of(unmixing * np.sqrt(np.diagonal(s1.scatter)))
    rotation = np.ascontiguousarray(vectors * signs)
    return InvariantCoordinates(
        location=s1.location,
        unmixing=unmixing * signs[:, None],
        mixing=factor @ rotation,
        eigenvalues=values,
        scatter_names=names,
        _factor=factor,
        _rotation=rotation,
    )


def _second_whitened(
    x: Matrix,
    s1: LocationScatter,
    factor: Matrix,
    second: ResolvedScatter | LocationScatter,
    random_state: object,
) -> Matrix:
    """Return the second scatter in the coordinates that the first one whitens."""
    if isinstance(second, LocationScatter):
        return solve_lower(factor, solve_lower(factor, second.scatter).T)
    whitened = whitened_rows(x, s1)
    try:
        result = second(whitened, random_state=random_state).scatter
    except ExactFitError:
        second(x, random_state=random_state)  # fails alike, and names columns that people know
        raise
    return shape_in_own_columns(result, factor) if second.unit_determinant else result


def shape_in_own_columns(shape: Matrix, factor: Matrix) -> Matrix:
    """Return a shape of whitened rows, sized as the table's own shape is.

    That has determinant 1 in the table's columns, and not in the whitened coordinates.

    Examples
    --------
    >>> shape_in_own_columns(np.eye(2), np.diag([2.0, 8.0])).round(4)
    array([[0.0625, 0.    ],
           [0.    , 0.0625]])
    """
    return np.asarray(shape * np.exp(-2.0 * np.mean(np.log(np.diagonal(factor)))))


def whitened_rows(x: Matrix, s1: LocationScatter) -> Matrix:
    """Return rows without their location and in units of their scatter, each column in one piece.

    Examples
    --------
    >>> whitened_rows(np.array([[3.0], [5.0]]), LocationScatter(np.array([1.0]), np.array([[4.0]])))
    array([[1.],
           [2.]])
    """
    whitened = np.empty(x.shape, order="F")
    _fill_scores(x, s1.location, s1.factor, np.eye(x.shape[1]), whitened)
    return whitened


def _generic_where_tied(values: Vector, vectors: Matrix) -> Matrix:
    """Return the eigenvectors with a generic basis of every space of equal eigenvalues.

    There any basis is right, and the one at hand may be that of single columns, whose values a
    permutation would release as they are.
    """
    p = values.size
    borders = np.flatnonzero(-np.diff(values) > _TIED * np.abs(values[:-1])) + 1
    result = vectors.copy()
    for start, end in pairwise([0, *borders.tolist(), p]):
        if end - start > 1:
            space = vectors[:, start:end]
            turn = np.linalg.qr(space.T @ _generic_rotation(p)[:, : end - start])[0]
            result[:, start:end] = space @ turn
    return result


@cache
def _generic_rotation(p: int) -> Matrix:
    return np.linalg.qr(np.random.default_rng(p).normal(size=(p, p)))[0]


def _signs_of(weights: Matrix) -> Vector:
    """Return the sign of each row's largest weight."""
    size = np.abs(weights)
    # The first of those that tie, or else rounding would choose.
    largest = np.argmax(size > (1.0 - 1e-8) * size.max(axis=1, keepdims=True), axis=1)
    return np.where(weights[np.arange(weights.shape[0]), largest] < 0, -1.0, 1.0)


def extended(core: InvariantCoordinates, space: Subspace) -> InvariantCoordinates:
    """Return the coordinates of the whole table from those within the space that its rows span."""
    return replace(
        core,
        location=space.origin + space.spread @ core.location,
        unmixing=core.unmixing @ space.project,
        mixing=space.spread @ core.mixing,
        constant_columns=space.constant_columns,
        _space=space,
    )


def _fill_scores(
    x: Matrix,
    location: Vector,
    factor: Matrix,
    rotation: Matrix,
    scores: Matrix,
    threads: int = 1,
) -> bool:
    """Set the scores rotation' factor^-1 (x - location); return whether all are finite."""
    turned, centre = np.ascontiguousarray(rotation.T), location.copy()

    def work(rows: slice) -> float:
        block = np.require(x[rows], requirements=_ONE_KIND)
        return scores_of(block, centre, factor, turned, scores.T, rows.start)

    return sum(in_threads(work, list(row_blocks(x.shape[0], _PART)), threads)) == 0.0


def _room(out: Matrix | None, shape: tuple[int, int]) -> Matrix:
    """Return where to write: what was given, if it fits, or new memory."""
    if out is None:
        return np.empty(shape, order="F")
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64
    if not (fits and out.flags.f_contiguous and out.flags.writeable):
        raise InputError(
            f"out must be a writeable float64 array of shape {shape} in Fortran order: "
            "numpy.empty(shape, order='F')."
        )
    return out


def _of_width(x: object, width: int, what: str, *, check_finite: bool = True) -> Matrix:
    matrix = as_matrix(x, check_finite=check_finite)
    if matrix.shape[1] != width:
        raise InputError(f"Expected {width} {what}, got {matrix.shape[1]}.")
    return matrix
