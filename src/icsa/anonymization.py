"""Anonymize a numeric matrix: to invariant coordinates, mask every component, and back."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

from icsa.errors import InputError, VerbatimColumnWarning
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.masks import MaskRecord, moments
from icsa.masks import decorrelate as take_out_correlations
from icsa.masks import resolve as resolve_mask
from icsa.masks.registry import record_of
from icsa.matrices import Matrix, as_matrix, column_names
from icsa.randomness import as_key
from icsa.rounding import require_known_rounding, rounding_of, warn_of_digits
from icsa.threads import threads_for

__all__ = ["anonymize_matrix", "flip_keeps_rows", "masked_copy"]

# With so many or fewer, flipping leaves a row as it is with a probability of more than 1%.
_FEW_COMPONENTS = 6


def anonymize_matrix(
    x: object,
    *,
    scatters: Sequence[object] = ("mcd50", "mcd75"),
    mask: object = "redraw",
    decorrelate: bool | Literal["auto"] = "auto",
    round: str | None = "lattice",  # noqa: A002
    random_state: object = None,
    threads: int | None = None,
) -> Matrix:
    """Return an anonymized copy of a numeric matrix (ICSA).

    Every row is mapped to its invariant coordinates, each coordinate is masked on its own, and the
    masked rows are mapped back. With ``scatters=("identity", "cov")`` this is spectral
    anonymization.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; not changed.
    scatters : pair
        Location and first scatter, second scatter; see `icsa.scatters.resolve`.
    mask : str or callable
        "redraw", "permute" (as published), "flip", "rotate", or ``(z, *, key) -> Matrix``.
        `icsa.masks` says what each keeps, and the page on privacy which attacks it withstands.
    decorrelate : bool or "auto"
        Whether to take out the chance correlations that the mask leaves between components. "auto"
        does so after "redraw", where there are more rows than components + 1.
    round : "lattice" or None
        "lattice" rounds each column as it is rounded in `x`: whole numbers stay whole, tenths
        tenths, and standardised whole numbers on their grid. A column that others give exactly, as
        a total, is computed from the rounded others; where that would leave its lattice, a warning
        says that the relation is rounded. Columns of real numbers stay as they are. None leaves
        all digits; with a rounded `x` these can give back its rows, so that there is a warning.
    random_state : None, int, bytes or Generator
        None draws a fresh secret key, which is not kept: nobody can repeat its draws. 32 bytes are
        a key of yours, fit for a release if random, used once and kept secret. An int or a
        Generator makes the release reproducible by anybody who guesses it, so is for studies and
        tests. See `icsa.randomness.as_key`.
    threads : int, optional
        How many threads to use; by default what suits the size. The result is the same.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    References
    ----------
    Perkonoja and Virta (2026), Data anonymization in the presence of outliers via invariant
    coordinate selection.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 4))
    >>> released = anonymize_matrix(x, random_state=1)
    >>> bool(np.abs(released.mean(axis=0) - x.mean(axis=0)).max() < 0.1)
    True
    """
    require_known_rounding(round)
    coordinates = invariant_coordinates(x, scatters=scatters)
    if round is None:
        warn_of_digits(x, as_matrix(x, check_finite=False))
    return masked_copy(
        x,
        coordinates,
        mask=mask,
        decorrelate=decorrelate,
        round=round,
        random_state=random_state,
        threads=threads,
    )


def masked_copy(
    x: object,
    coordinates: InvariantCoordinates,
    *,
    mask: object = "redraw",
    decorrelate: bool | Literal["auto"] = "auto",
    round: str | None = None,  # noqa: A002
    random_state: object = None,
    threads: int | None = None,
    out: Matrix | None = None,
) -> Matrix:
    """Return the rows of `x` after masking each of their given coordinates.

    It needs room for one more table of the size of `x`, and for one column a thread.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; not changed. Two rows or more: one alone cannot be hidden.
    coordinates : InvariantCoordinates
        The map, usually fitted to `x`.
    mask, decorrelate, random_state, threads
        As in `anonymize_matrix`.
    round : "lattice" or None
        As in `anonymize_matrix`, but None by default and without a warning: what is masked may be
        scores, or the tables of a study. Whoever hands out the result wants "lattice".
    out : ndarray of shape (n_rows, n_columns), optional
        Where to write, in Fortran order. Only for as many components as columns. It may be `x`
        itself if that is in Fortran order and has two columns or more.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 4))
    >>> masked_copy(x, invariant_coordinates(x, scatters=("cov", "cov4")), random_state=1).shape
    (100, 4)
    """
    require_known_rounding(round)
    masking = resolve_mask(mask)  # type: ignore[arg-type]
    square = coordinates.mixing.shape[0] == coordinates.mixing.shape[1]
    if out is not None and not square:
        raise InputError("out needs as many components as columns: leave constant columns away.")
    matrix = as_matrix(x, check_finite=round is not None)
    if matrix.shape[0] < 2:
        raise InputError(
            f"One row alone cannot be anonymized: n_samples = {matrix.shape[0]}, a minimum of 2 is "
            "required. Give the whole table."
        )
    known = record_of(masking)
    _warn_of_verbatim_values(x, matrix.shape[0], coordinates, known)
    threads = threads_for(matrix.size, threads)
    rounding = None if round is None else rounding_of(matrix)
    try:
        scores = coordinates.transform(matrix, out=out, threads=threads)
    except InputError:
        as_matrix(x)  # says in which column by its name
        raise
    if decorrelate == "auto":
        decorrelate = known.draws_anew and scores.shape[0] > scores.shape[1] + 1
    restored = moments(scores) if decorrelate and not known.draws_anew else None
    scores = masking(scores, key=as_key(random_state), out=scores, threads=threads)
    if decorrelate:
        scores = take_out_correlations(scores, restored, out=scores)
    released = coordinates.inverse_transform(
        scores, out=scores if square else None, threads=threads, check_finite=False
    )
    if rounding is not None:
        rounding.apply_in_place(released, threads)
        rounding.warn_of_broken_relations(x)
    return released


def _warn_of_verbatim_values(
    x: object, n_rows: int, coordinates: InvariantCoordinates, mask: MaskRecord
) -> None:
    if mask.keeps_scores and coordinates.verbatim_columns:
        names = column_names(x)
        listed = ", ".join(names[j] for j in coordinates.verbatim_columns)
        message = (
            f"Column(s) {listed}: each is one component on its own, so the release holds its "
            "values as they are, only in another order. Add columns related to it, or use "
            "mask='redraw'."
        )
    elif mask.signs_only and flip_keeps_rows(n_rows, coordinates.eigenvalues.size):
        p = coordinates.eigenvalues.size
        message = (
            f"mask={mask.name!r} on {p} component(s) leaves each row as it is with probability "
            f"2^-{p}: about {n_rows / 2**p:.2g} of {n_rows} rows. Add columns, or use "
            "mask='redraw'."
        )
    else:
        return
    warnings.warn(message, VerbatimColumnWarning, stacklevel=3)


def flip_keeps_rows(n_rows: int, n_components: int) -> bool:
    """Return whether a row stays with probability 1% or more, or one row or more is expected to.

    Examples
    --------
    >>> flip_keeps_rows(500, 5), flip_keeps_rows(500, 10)
    (True, False)
    """
    return n_components <= _FEW_COMPONENTS or n_rows >= 2**n_components
