"""Continuous columns: measurements on a scale, rounded to a lattice where they have one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar, Self

import numpy as np
import polars as pl

from icsa.columns.base import Column, KindRecord, declared_number
from icsa.columns.bounds import released_bounds
from icsa.columns.declared import ColumnSpec, Flags, checked_numbers, reject
from icsa.columns.quantile_keeping import KeptQuantiles
from icsa.columns.storage import NUMERIC, Storage
from icsa.columns.transforms import LinearScale, Transform, fit_linear, fit_scale
from icsa.columns.unmasked import Constant
from icsa.correlations import varies
from icsa.errors import InputError
from icsa.lattice import Lattice, lattice_of
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = ["CONTINUOUS", "INTEGER", "Continuous", "Integer"]

# Calibration compares numbers winsorised here, so that outliers do not come back through it.
_WINSOR = 2.5
# Squares of larger scores overflow in a covariance.
_LARGEST_SCORE = 1e150


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Continuous(Column):
    """A column of measurements.

    Encoded by a scale; decoded by its inverse, rounded to the column's lattice and held within
    declared or natural bounds, which are never the smallest and largest cell.

    Attributes
    ----------
    transform : Transform
        Between numbers and scores.
    linear : LinearScale
        Median and robust spread, for anchors and views.
    quantiles : KeptQuantiles
        Of the scores.
    anchors : bool
        Whether the column can be an anchor: not where half of the cells are tied.

    Examples
    --------
    >>> cells = pl.Series("kg", [60.25, 71.5, None, 80.75, 66.0])
    >>> column = Continuous.fit(cells, ColumnSpec(name="kg", kind="continuous"))
    >>> column.lattice.width, column.lower
    (0.25, 0.25)
    >>> scores = column.encode(np.array([60.25, 71.5, 80.75, 66.0]))
    >>> column.cells(column.decode(scores)).to_list()
    [60.25, 71.5, 80.75, 66.0]
    """

    transform: Transform
    linear: LinearScale
    quantiles: KeptQuantiles
    anchors: bool

    storage: ClassVar[Storage] = NUMERIC
    whole: ClassVar[bool] = False

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:
        """Return the column fitted to cells; constant where they do not vary."""
        numbers = cls.read(cells, spec)
        ordered = np.sort(numbers)[: numbers.size - np.count_nonzero(np.isnan(numbers))]
        if not varies(ordered):
            return Constant.of_first(cells, spec)
        return cls.of_numbers(ordered, cells.dtype, spec, scale)

    @classmethod
    def of_numbers(
        cls,
        ordered: Vector,
        dtype: pl.DataType,
        spec: ColumnSpec,
        scale: Scale = "power",
        *,
        spike: float | None = None,
    ) -> Self:
        """Return the column fitted to sorted numbers, all on the same side of a spike if they are.

        Parameters
        ----------
        ordered : Vector
            Sorted numbers, of which at least two differ.
        dtype : polars data type
            Of the cells.
        spec : ColumnSpec
        scale : "linear", "power" or "quantile"
        spike : float, optional
            A value left out. If all numbers are above (or below) it, decoded ones are too.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            linear = fit_linear(ordered)
            transform = fit_scale(ordered, scale, linear)
        if not 0.0 < linear.spread < np.inf:
            raise InputError(
                f"Column {spec.name!r}: its cells are too small or too far apart for computing "
                "with floating-point numbers. Use other units."
            )
        lattice = cls._lattice(ordered, dtype, spec)
        lower, upper = released_bounds(ordered, dtype, spec, lattice, cls.storage, spike)
        ties = np.searchsorted(ordered, linear.centre, "right") - np.searchsorted(
            ordered, linear.centre, "left"
        )
        return cls(
            spec=spec,
            dtype=dtype,
            n_present=ordered.size,
            transform=transform,
            linear=linear,
            quantiles=KeptQuantiles.of(ordered, lattice, transform, (lower, upper)),
            lower=lower,
            upper=upper,
            lattice=lattice,
            anchors=bool(2 * ties <= ordered.size),
        )

    @classmethod
    def read(cls, cells: pl.Series, spec: ColumnSpec) -> Vector:
        """Return one number a cell, NaN where missing, checked against the declaration."""
        cls.storage.require_type(cells.dtype, spec)
        values = cls.storage.numbers(cells)
        numbers = checked_numbers(values, spec, partial(cls.storage.cell_number, cells.dtype))
        if cls.whole:
            fractional = np.isfinite(numbers) & (numbers != np.rint(numbers))
            reject(fractional, spec, "are not whole numbers", "Give it the kind 'continuous'.")
        return numbers

    @classmethod
    def _lattice(cls, ordered: Vector, dtype: pl.DataType, spec: ColumnSpec) -> Lattice | None:
        if spec.step is None:
            return cls.storage.lattice(ordered, dtype, whole=cls.whole)
        lattice = lattice_of(spec.step, spec.name)
        finest = Fraction(1) if cls.whole else cls.storage.finest_step(dtype)
        if finest is not None and lattice.step % finest:
            raise InputError(
                f"Column {spec.name!r}: the declared step {spec.step} is no multiple of "
                f"{float(finest):g}, the finest step that its type holds. Declare another step."
            )
        if cls.storage.zero_is_natural:
            return lattice
        # Weeks are counted from the day that cells are on, not from the first of 1970, a Thursday.
        first = Fraction(repr(float(ordered[0])))
        shifted = Lattice(lattice.step, first % lattice.step)
        return shifted if np.array_equal(shifted.round(ordered), ordered) else lattice

    @property
    def decodes_by_row(self) -> bool:
        """A number is that of its own score."""
        return True

    @property
    def straight(self) -> LinearScale | None:
        """The linear map between numbers and scores; None on other scales."""
        return self.transform if isinstance(self.transform, LinearScale) else None

    def numbers(self, cells: pl.Series) -> Vector:
        """Return one number a cell, NaN where missing."""
        return self.read(cells, self.spec)

    def encode(self, numbers: Vector) -> Matrix:
        """Return the scores, shape (n_rows, 1)."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.transform.forward(numbers)
        if np.isfinite(self.transform.limit):
            np.clip(scores, -self.transform.limit, self.transform.limit, out=scores)
        return self._within_range(scores, numbers)[:, None]

    def regain_quantiles(self, scores: Matrix) -> None:
        """Move masked scores in place so that their quantiles are those of the original's."""
        scores[:, 0] = self.quantiles.regained(scores[:, 0])

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:  # noqa: ARG002
        """Return the column with a few people moved across each of its quantiles."""
        return replace(self, quantiles=self.quantiles.with_moved_counts(self.n_present, stream))

    def with_drawn_tails(self, stream: Stream) -> Self:
        """Return the column with tails drawn near to what they are, to decode with."""
        return replace(self, quantiles=self.quantiles.with_drawn_tails(stream))

    def decode(self, scores: Matrix) -> Vector:
        """Return numbers on the lattice and within the bounds; any number of rows will do."""
        self.require_scores(scores)
        return self.held(self.unrounded(scores[:, 0]))

    def unrounded(self, scores: Vector) -> Vector:
        """Return the numbers of scores, neither rounded nor bounded."""
        with np.errstate(over="ignore"):
            return self.transform.inverse(scores)

    def held(self, numbers: Vector) -> Vector:
        """Return numbers rounded to the lattice and held within the bounds."""
        rounded = numbers if self.lattice is None else self.lattice.round(numbers)
        return np.clip(rounded, self.lower, self.upper)

    def anchor(self, numbers: Vector) -> Vector | None:
        """Return (x - median) / MAD; None where half of the cells are tied."""
        if not self.anchors:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return self._within_range(self.linear.forward(numbers), numbers)

    def distance(self, number: float) -> float:
        """Return how many robust standard deviations a number is from the median."""
        return abs(number - self.linear.centre) / self.linear.spread

    def measured(self, numbers: Vector) -> tuple[int, Vector]:
        """Return the only score, and all numbers."""
        return 0, numbers

    def admits(self, numbers: Vector) -> Flags:
        """Return which numbers are within the bounds and on the lattice."""
        found: Flags = (numbers >= self.lower) & (numbers <= self.upper)
        if self.lattice is not None:
            error = 4.0 * self.storage.precision(self.dtype) * np.abs(numbers)
            away = np.abs(self.lattice.round(numbers) - numbers)
            found &= away <= error + 1e-9 * self.lattice.width
        return found

    def view(self, numbers: Vector) -> Matrix:
        """Return (x - median) / MAD held within 2.5, shape (n_rows, 1)."""
        with np.errstate(over="ignore"):
            return np.clip(self.linear.forward(numbers), -_WINSOR, _WINSOR)[:, None]

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the cells that the numbers stand for, null for NaN, in the original's type."""
        return self.storage.cells(numbers, self.dtype, self.name)

    def _within_range(self, scores: Vector, numbers: Vector) -> Vector:
        lost = (np.abs(scores) > _LARGEST_SCORE) | (np.isnan(scores) & ~np.isnan(numbers))
        remedy = "Use other units, or declare what stands for missing values as missing codes."
        what = "are too far from the others for computing with floating-point numbers"
        reject(lost, self.spec, what, remedy)
        return scores


class Integer(Continuous):
    """A column of whole numbers, also where its type is a floating-point one.

    Encoded and decoded like `Continuous`, on a lattice of whole numbers or a coarser one.

    Examples
    --------
    >>> cells = pl.Series("age", [41, 33, 67, 58], dtype=pl.UInt8)
    >>> column = Integer.fit(cells, ColumnSpec(name="age", kind="integer"))
    >>> scores = column.encode(column.numbers(cells)) + 0.3
    >>> column.cells(column.decode(scores)).dtype
    UInt8
    """

    whole: ClassVar[bool] = True


CONTINUOUS = KindRecord(
    name="continuous",
    fit=Continuous.fit,
    promise="masked, rounded as the original is",
    account="masked, rounded as the original",
    compared="numbers",
    storage=NUMERIC,
    quantity="number",
    bound_of=declared_number,
)
INTEGER = replace(
    CONTINUOUS,
    name="integer",
    fit=Integer.fit,
    promise="masked, whole numbers",
    account="masked, whole numbers",
    whole=True,
)
