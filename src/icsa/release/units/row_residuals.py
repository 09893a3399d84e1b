"""What remains of every row once its unit is taken out: masked over all rows of everybody."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from icsa.anonymization import masked_copy
from icsa.columns.quantile_keeping import KeptQuantiles
from icsa.columns.transforms import LinearScale
from icsa.errors import NoAnchorError, VerbatimColumnWarning
from icsa.ics import InvariantCoordinates
from icsa.inspection.unit_rows import Places
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.release.calibration import least_move, score_correlation
from icsa.release.coordinates import (
    FoundCoordinates,
    coordinate_notes,
    find_coordinates,
    judge_anchors,
)
from icsa.release.limits import LIMITS
from icsa.release.methods import Method, method_of
from icsa.release.scores import standardize
from icsa.release.units.effect_kernels import colour_rows
from icsa.release.units.row_level import RowLevel
from icsa.shuffling import permutation

__all__ = [
    "ResidualPlan",
    "residual_anchors",
    "residual_notes",
    "residual_plan",
    "residual_quantiles",
]


@dataclass(frozen=True, eq=False, repr=False)
class ResidualPlan:
    """Residuals of all rows, what is new in each, and the coordinates that they are masked in.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_scores)
        Standardised.
    spread : ndarray of shape (n_scores,)
    coordinates : InvariantCoordinates
    mask : str
    quantiles : tuple of KeptQuantiles
        Of each score, standardised.
    correlation : ndarray of shape (n_scores, n_scores)
    notes : tuple of str
        What people should know of the coordinates.
    """

    rows: Matrix
    spread: Vector
    coordinates: InvariantCoordinates
    mask: str
    quantiles: tuple[KeptQuantiles, ...]
    correlation: Matrix
    notes: tuple[str, ...]

    @property
    def n_components(self) -> int:
        """Number of coordinates."""
        return self.coordinates.eigenvalues.size

    def masked_rows(self, n_rows: int, key: Key) -> Matrix:
        """Return so many masked rows, standardised: all of them as often as is needed."""
        rounds = range(-(-n_rows // self.rows.shape[0]))
        masked = [self._masked(key.child("rows", k)) for k in rounds]
        return (masked[0] if len(masked) == 1 else np.concatenate(masked))[:n_rows]

    def move(self, sample: Matrix) -> Matrix:
        """Return the matrix that gives masked rows their correlation, from the first of them."""
        return least_move(sample[: LIMITS.sample_rows], self.correlation)

    def of_units(
        self, masked: Matrix, move: Matrix, starts: Places, lags: Vector, memory: Vector
    ) -> Matrix:
        """Return the residuals of some units, each remembering the row before."""
        found = np.ascontiguousarray(masked @ move)
        found *= self.spread
        colour_rows(found, starts, lags, memory)
        return found

    def _masked(self, key: Key) -> Matrix:
        """Return all rows masked, in an order that has nothing to do with the original's."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VerbatimColumnWarning)  # said in the notes
            masked = masked_copy(
                self.rows,
                self.coordinates,
                mask=self.mask,
                decorrelate=False,
                random_state=key.child("mask"),
            )
        for j, kept in enumerate(self.quantiles):
            drawn = kept.with_drawn_tails(key.stream("tails", j))
            masked[:, j] = drawn.regained(masked[:, j])
        return np.asarray(masked[permutation(masked.shape[0], key.stream("order"))])

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<ResidualPlan: {self.rows.shape[0]} rows>"


def residual_plan(residuals: Matrix, level: RowLevel, method: Method, mask: str) -> ResidualPlan:
    """Return the coordinates of residuals; an MCD takes its weights from those of measurements."""
    rows = np.asfortranarray(residuals)
    _, spread = standardize(rows, 1)
    places, names = residual_anchors(level)
    chosen = method
    try:
        judged = judge_anchors(np.asfortranarray(rows[:, places]), names, method.scatters)
    except NoAnchorError:
        if method.asked_for:
            raise
        chosen, judged = method_of("sa", mask=method.mask), {}
    found = find_coordinates(rows, judged, chosen.scatters)
    assert found.coordinates is not None  # forests have none, and do not come here
    quantiles = tuple(residual_quantiles(rows[:, j]) for j in range(rows.shape[1]))
    correlation = score_correlation(rows[: LIMITS.sample_rows])
    notes = residual_notes(found, level, mask, rows.shape[0])
    return ResidualPlan(rows, spread, found.coordinates, mask, quantiles, correlation, notes)


def residual_anchors(level: RowLevel) -> tuple[list[int], list[str]]:
    """Return the scores whose residuals say who stands out, and the names of their columns."""
    anchors = level.encoding.anchor_parts
    return [part.place.start for part in anchors], [part.column.name for part in anchors]


def residual_quantiles(column: Vector) -> KeptQuantiles:
    """Return what masked residuals of a score are brought back to."""
    straight, ends = LinearScale(centre=0.0, spread=1.0), (-np.inf, np.inf)
    return KeptQuantiles.of(np.sort(column), None, straight, ends)


def residual_notes(
    found: FoundCoordinates, level: RowLevel, mask: str, n_rows: int
) -> tuple[str, ...]:
    """Return what people should know of the coordinates of residuals."""
    told = coordinate_notes(found.coordinates, level.encoding, level.recipe, mask, n_rows)
    return tuple(f"What rows of a unit differ by: {note}" for note in (*found.notes, *told))
