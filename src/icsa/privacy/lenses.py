"""Three ways to measure distance between rows, so that a copy cannot hide in another unit.

- E: columns in robust units of the original, (x - median) / (1.4826 MAD).
- M: as E, then whitened by a robust scatter, its eigenvalues floored at 2% of their median.
- A: as E, but columns of the release whose median or MAD differs from the original's by more than
  chance in units of their own: a copy that was shifted or rescaled is still one.

A category that differs adds 2 to the squared distance, as two random cells of a standardised column
do on average. Missing against missing adds nothing, missing against a value as much as a category
that differs. Under M a missing number counts as the column's median and its being missing as a
category.

Values on a lattice are first spread evenly over one step, in both tables: rounded tables are full
of rows that agree by chance, and ratios of zeros say nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from icsa.comparison.column_pairs import Codes
from icsa.comparison.features import Features, FeatureTable
from icsa.correlations import MAD_TO_DEVIATION, exceeds_rounding, tail_scale, varies
from icsa.lattice import lattice_step
from icsa.limits import MANY_EQUAL
from icsa.matrices import Matrix, Vector
from icsa.privacy.robust_fit import RobustFit, robust_fit

__all__ = [
    "LensName",
    "Lenses",
    "clearly_other",
    "dither_seed",
    "fit_lenses",
    "robust_units",
    "spread_cells",
    "standardize",
    "tied_share",
    "whitener_of",
]

LensName = Literal["E", "M", "A"]

_EIGENVALUE_FLOOR = 0.02
# The next float below: the last digits of distances are then those of earlier assessments.
_MAD_FACTOR = math.nextafter(MAD_TO_DEVIATION, 0.0)
# Medians and log scales of two samples of n rows differ by about 1.7/sqrt(n).
_CLEAR = 4.0
# Fixed, and no secret: it spreads rounded cells within their step.
_DITHER_SEED = 20_002
# Cells that a column's commonest value is looked for in.
_CELLS_FOR_TIES = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class Whitening:
    """What turns numbers in robust units into the coordinates of lens M."""

    whitener: Matrix

    def __call__(self, block: Matrix) -> Matrix:
        """Return the coordinates of a block of rows; a missing number is the median."""
        return self.whitener @ np.nan_to_num(block, nan=0.0)


@dataclass(frozen=True, eq=False, repr=False)
class OwnUnits:
    """What puts a release into units of its own, for lens A."""

    centres: Vector
    scales: Vector

    def __call__(self, block: Matrix) -> Matrix:
        """Return the coordinates of a block of rows."""
        return (block - self.centres[:, None]) / self.scales[:, None]


@dataclass(frozen=True, eq=False, repr=False)
class Lenses:
    """Both tables in robust units, and what turns them into each lens's coordinates.

    Attributes
    ----------
    features : Features
        As they were given.
    original, released : ndarray of shape (n_numbers, n_rows)
        Numbers in robust units of the original, rounded ones spread within their step.
    centres, scales : ndarray of shape (n_numbers,)
        Median and robust scale of the original; scale infinite for a constant column.
    released_centres, released_scales : ndarray of shape (n_numbers,)
        Of the release, in robust units of the original.
    tied_steps : ndarray of shape (n_numbers,)
        Steps of columns that have one value in most rows, in robust units; 0 for others.
    fit : RobustFit
        The robust scatter, in robust units.
    varying : ndarray of shape (n_columns,), bool
        Which columns vary in the original, numeric ones first.
    """

    features: Features
    original: Matrix
    released: Matrix
    centres: Vector
    scales: Vector
    released_centres: Vector
    released_scales: Vector
    tied_steps: Vector
    fit: RobustFit
    varying: np.ndarray
    _whitener: Matrix
    _missing_codes: tuple[Codes, Codes]

    @property
    def n_varying(self) -> int:
        """Number of columns that vary."""
        return int(self.varying.sum())

    def originals(self, lens: LensName) -> FeatureTable:
        """Return the original's rows under a lens (A sees the original as E does)."""
        return self._points("E" if lens == "A" else lens, 0)

    def releases(self, lens: LensName) -> FeatureTable:
        """Return the release's rows under a lens."""
        return self._points(lens, 1)

    def with_released(self, released: FeatureTable) -> Lenses:
        """Return the same lenses, fitted to the same original, on another release."""
        return _with_released(self, self.features.with_released(released))

    def _points(self, lens: LensName, side: int) -> FeatureTable:
        table = (self.features.original, self.features.released)[side]
        table = replace(table, numbers=(self.original, self.released)[side])
        if lens == "M":
            return replace(table, codes=self._codes_with_gaps(side), change=self._whiten)
        return replace(table, change=self._own_units) if lens == "A" else table

    def _codes_with_gaps(self, side: int) -> Codes:
        """Return codes of categories, then of being missing for numbers that are so anywhere."""
        table = (self.features.original, self.features.released)[side]
        return np.vstack([table.codes, self._missing_codes[side]])

    @cached_property
    def missing_shares(self) -> Vector:
        """Share of the original's cells that are missing, of each numeric column."""
        return np.asarray(np.isnan(self.features.original.numbers).mean(axis=1))

    @cached_property
    def _whiten(self) -> Whitening:
        return Whitening(self._whitener)

    @cached_property
    def _own_units(self) -> OwnUnits:
        return OwnUnits(self.released_centres, self.released_scales)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Lenses: {self.original.shape[1]} and {self.released.shape[1]} rows>"


def fit_lenses(features: Features) -> Lenses:
    """Return both tables in the coordinates of the three lenses.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]])
    >>> lenses = fit_lenses(as_features(rows, rows + [10.0, 0.0], grids=[0.0, 0.0]))
    >>> lenses.centres, lenses.scales.round(4)
    (array([2., 5.]), array([1.4826,    inf]))
    >>> lenses.releases("E").block(slice(0, 1)).round(4)  # (10 - 2) / 1.4826; constant: 0
    array([[5.3959],
           [0.    ]])
    >>> lenses.releases("A").block(slice(0, 1)).round(4)  # the release's own median is 12
    array([[-1.349],
           [ 0.   ]])
    """
    original = features.original
    spread = _dithered(original.numbers, features.grids, side=0)
    ties = np.array([tied_share(column) for column in original.numbers])
    tied_steps = np.where(ties >= MANY_EQUAL, features.grids, 0.0)
    centres, scales = robust_units(spread, tied_steps)
    _standardize(spread, centres, scales)
    ties[np.isinf(scales)] = 1.0
    numeric = features.names[: features.n_numbers]
    fit = robust_fit(spread, ties, numeric)
    lenses = Lenses(
        features=features,
        original=spread,
        released=spread,
        centres=centres,
        scales=scales,
        tied_steps=tied_steps / scales,
        released_centres=np.zeros(scales.size),
        released_scales=np.ones(scales.size),
        fit=fit,
        varying=np.concatenate([np.isfinite(scales), _varying_codes(original.codes)]),
        _whitener=whitener_of(fit.whole_scatter, np.isfinite(scales)),
        _missing_codes=(original.codes[:0], original.codes[:0]),  # replaced below
    )
    return _with_released(lenses, features)


def robust_units(columns: Matrix, tied_steps: Vector | None = None) -> tuple[Vector, Vector]:
    """Return median and robust scale of each column, missing cells left out.

    The scale is 1.4826 times the median absolute deviation. In a column that has one value in most
    rows that says nothing about the others: with its step given it is the median distance of the
    others from that value. Without, where the deviation is 0, it is the distance of the 25% and
    75%, 10% and 90% or 2% and 98% quantiles over what it is for a standard normal, or else the
    standard deviation. It is infinite for a column that does not vary, which then counts for
    nothing.

    Examples
    --------
    >>> centres, scales = robust_units(np.array([[1.0, 2.0, 3.0, 4.0, 90.0], [0, 0, 0, 0, 10.0]]))
    >>> centres, scales.round(4)
    (array([3., 0.]), array([1.4826, 2.3409]))
    """
    centres, scales = np.zeros(columns.shape[0]), np.full(columns.shape[0], np.inf)
    for j, column in enumerate(columns):
        cells = column[~np.isnan(column)]
        if varies(cells):
            centres[j] = np.median(cells)
            step = 0.0 if tied_steps is None else float(tied_steps[j])
            scales[j] = _scale(cells, centres[j], step)
        elif cells.size:
            centres[j] = cells[0]
    return centres, scales


def _scale(cells: Vector, centre: float, tied_step: float) -> float:
    deviations = cells - centre
    if tied_step > 0.0:
        sizes = np.abs(deviations)
        away = sizes[sizes > tied_step]  # cells of one value are spread over a step
        if away.size:
            return max(float(np.median(away)), _MAD_FACTOR * float(np.median(sizes)))
    mad = float(np.median(np.abs(deviations, out=deviations)))
    if exceeds_rounding(mad, centre):
        return _MAD_FACTOR * mad
    return tail_scale(cells, centre) or float(cells.std())


def _dithered(numbers: Matrix, grids: Vector, side: int) -> Matrix:
    """Return a copy with the cells of rounded columns spread over one step."""
    spread = numbers.copy()
    for j in np.flatnonzero(grids).tolist():
        draws = np.random.default_rng(dither_seed(side, j)).random(size=(numbers.shape[1],))
        spread_cells(spread[j], draws, float(grids[j]))
    return spread


def dither_seed(side: int, column: int) -> list[int]:
    """Return the seed of the draws that spread a column; side 0 is the original, 1 the release."""
    return [_DITHER_SEED, side, column]


def spread_cells(cells: Vector, draws: Vector, step: float) -> None:
    """Spread cells over one step by draws from 0 to 1, in place; the draws are used up."""
    draws -= 0.5
    draws *= step
    cells += draws


def standardize(cells: Vector, centre: float, scale: float) -> None:
    """Put the cells of a column in robust units, in place; a constant column becomes 0."""
    if np.isinf(scale):
        cells[:] = 0.0
    else:
        cells -= centre
        cells /= scale


def _standardize(columns: Matrix, centres: Vector, scales: Vector) -> None:
    for column, centre, scale in zip(columns, centres.tolist(), scales.tolist(), strict=True):
        standardize(column, centre, scale)


def _with_released(lenses: Lenses, features: Features) -> Lenses:
    # A rescaled copy has a lattice of its own.
    own_grids = [lattice_step(column) for column in features.released.numbers]
    grids = np.maximum(features.grids, np.where(features.grids > 0.0, own_grids, 0.0))
    released = _dithered(features.released.numbers, grids, side=1)
    _standardize(released, lenses.centres, lenses.scales)
    own_centres, own_scales = clearly_other(
        *robust_units(released, lenses.tied_steps), lenses.original.shape[1], released.shape[1]
    )
    return Lenses(
        features=features,
        original=lenses.original,
        released=released,
        centres=lenses.centres,
        scales=lenses.scales,
        tied_steps=lenses.tied_steps,
        released_centres=own_centres,
        released_scales=own_scales,
        fit=lenses.fit,
        varying=lenses.varying,
        _whitener=lenses._whitener,
        _missing_codes=_missing(features),
    )


def clearly_other(
    centres: Vector, scales: Vector, n_rows: int, n_released: int
) -> tuple[Vector, Vector]:
    """Return the release's centres and scales where they differ by more than chance, else 0 and 1.

    Chance differences would only shake the far people to and fro, and E sees through them.
    """
    chance = _CLEAR * np.sqrt(0.5 / n_rows + 0.5 / n_released)
    constant = np.isinf(scales)
    sizes = np.where(constant, 1.0, scales)
    keep_centre, keep_scale = np.abs(centres) <= chance, np.abs(np.log(sizes)) <= chance
    return np.where(keep_centre & keep_scale, 0.0, centres), np.where(keep_scale, 1.0, sizes)


def whitener_of(scatter: Matrix, varying: np.ndarray) -> Matrix:
    """Return W with W S W' = I on the columns that vary, small eigenvalues floored."""
    p = scatter.shape[0]
    if not varying.any():
        return np.zeros((p, p))
    values, vectors = np.linalg.eigh(scatter[np.ix_(varying, varying)])
    floor = _EIGENVALUE_FLOOR * float(np.median(values))
    values = np.maximum(values, floor if floor > 0.0 else 1.0)
    whitener = np.zeros((p, p))
    whitener[np.ix_(varying, varying)] = (vectors / np.sqrt(values)).T
    return whitener


def _missing(features: Features) -> tuple[Codes, Codes]:
    """Return codes of being missing for the numeric columns that have missing cells anywhere."""
    both = (features.original.numbers, features.released.numbers)
    columns = [
        j
        for j in range(both[0].shape[0])
        if any(bool(np.isnan(numbers[j]).any()) for numbers in both)
    ]
    first, second = (np.isnan(numbers[columns]).astype(np.int32) for numbers in both)
    return first, second


def tied_share(column: Vector) -> float:
    """Return the share of the cells at the commonest value, missing ones counting as one."""
    cells = column[:: max(1, -(-column.size // _CELLS_FOR_TIES))]
    missing = int(np.isnan(cells).sum())
    counts = np.unique(cells[~np.isnan(cells)], return_counts=True)[1]
    return max(missing, int(counts.max(initial=0))) / cells.size


def _varying_codes(codes: Codes) -> np.ndarray:
    if codes.size == 0:
        return np.zeros(codes.shape[0], dtype=bool)
    return np.asarray((codes != codes[:, :1]).any(axis=1))
