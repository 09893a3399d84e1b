"""The protocol of a column, cells to numbers to scores and back, and the record of a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import polars as pl

from icsa.columns.declared import Action, ColumnSpec, Flags, Kind
from icsa.columns.dummies import Dummies
from icsa.columns.levels import Levels
from icsa.columns.readings import Reading, as_numbers
from icsa.columns.storage import Storage
from icsa.columns.transforms import LinearScale
from icsa.errors import InputError
from icsa.lattice import Lattice
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = ["Column", "Fitter", "KindRecord", "declared_number"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Column(ABC):
    """A column fitted to a table's cells, with everything needed to mask and rebuild it.

    *Cells* are a polars series. *Numbers* are one float64 a row, NaN where the cell is missing:
    values of numeric columns, days or seconds of dates and times, positions of levels. *Scores* are
    what the scatters see, `width` columns a row. Numbers between cells and scores let relations
    between columns be taken out and put back without a thought of types.

    What is not abstract here is what a discrete column answers.

    Attributes
    ----------
    spec : ColumnSpec
        The declaration it was fitted with.
    dtype : polars data type
        Of the cells, and of the cells that come out.
    n_present : int
        Number of cells that are not missing.
    levels : Levels, optional
        The values that cells may have, where they are listed.
    lattice : Lattice, optional
        Decoded numbers lie on it.
    lower, upper : float
        Decoded numbers lie between these: declared or natural bounds, never the extremes.
    """

    spec: ColumnSpec
    dtype: pl.DataType
    n_present: int
    levels: Levels | None = None
    lattice: Lattice | None = None
    lower: float = -np.inf
    upper: float = np.inf

    @property
    def name(self) -> str:
        """The column's name."""
        return self.spec.name

    @property
    def kind(self) -> Kind:
        """One of `icsa.columns.KINDS`."""
        return self.spec.kind

    @property
    def width(self) -> int:
        """Number of columns of scores."""
        return 1

    @property
    def without_dummy(self) -> int | None:
        """Where scores are dummies of levels, the position of the level without; None elsewhere."""
        return None

    @property
    def decodes_by_row(self) -> bool:
        """Whether a row's number depends on its own scores only, not on counts over all rows."""
        return False

    @property
    def values(self) -> pl.Series | None:
        """The values that cells may have, by their numbers; None where these are not listed."""
        return None if self.levels is None else self.levels.values

    @property
    def calendar(self) -> tuple[float, float] | None:
        """The first and last number that dates or times of its type can be; None for others."""
        return None

    @property
    def straight(self) -> LinearScale | None:
        """The linear map between numbers and the only score; None where there is none."""
        return None

    @abstractmethod
    def numbers(self, cells: pl.Series) -> Vector:
        """Return one number a cell, NaN where missing."""

    @abstractmethod
    def encode(self, numbers: Vector) -> Matrix:
        """Return the scores, shape (n_rows, width), NaN where they are not defined.

        Those of a row depend on its number only.
        """

    @abstractmethod
    def decode(self, scores: Matrix) -> Vector:
        """Return the numbers that belong to masked scores of rows that are not missing.

        For as many rows as the column was fitted to that are not missing, counts of levels come
        out exactly as they were; for another number, in the same proportions.
        """

    @abstractmethod
    def cells(self, numbers: Vector) -> pl.Series:
        """Return the cells that the numbers stand for, null for NaN, in the original's type."""

    def view(self, numbers: Vector) -> Matrix:
        """Return what calibration compares, shape (n_rows, width): scores, or winsorised numbers.

        NaN where `encode` gives NaN.
        """
        return self.encode(numbers)

    def anchor(self, numbers: Vector) -> Vector | None:  # noqa: ARG002
        """Return the numbers on a robustly standardised linear scale; None for discrete kinds."""
        return None

    def distance(self, number: float) -> float:  # noqa: ARG002
        """Return how many robust standard deviations a number is from the middle."""
        return np.inf

    def measured(self, numbers: Vector) -> tuple[int, Vector] | None:  # noqa: ARG002
        """Return which score measures something, and the numbers it is made of; None for none."""
        return None

    def second_part(self, numbers: Vector) -> Flags | None:
        """Return who is in the second part where a column has two; None where it has not.

        The second of two levels; off the spike.
        """
        if self.levels is None:
            return None
        occupied = np.flatnonzero(self.levels.counts)
        return np.equal(numbers, occupied[1]) if occupied.size == 2 else None

    def decode_dummies(self, dummies: Dummies) -> Vector:
        """Return what `decode` does, of dummies of levels that need not be in memory."""
        raise NotImplementedError

    def has_its_counts(self, numbers: Vector) -> bool:
        """Return whether released numbers have every level as often as the original has it."""
        if self.levels is None:
            return True
        places = numbers[~np.isnan(numbers)].astype(np.intp)
        counts = self.levels.counts
        return np.array_equal(np.bincount(places, minlength=counts.size), counts)

    def admits(self, numbers: Vector) -> Flags:
        """Return whether a release of a column that measures may have each number.

        Bounds, steps and whole numbers are kept.
        """
        return np.ones(numbers.size, dtype=bool)

    def regain_quantiles(self, scores: Matrix) -> None:  # noqa: B027
        """Move masked scores of rows that are not missing, in place, before they are decoded.

        Afterwards scores of measurements have the quantiles that the original's have; levels are
        as often as they were without it.
        """

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:  # noqa: ARG002
        """Return the column with counts and quantiles moved by a few people, to decode with.

        Those of levels, or on the spike and off it, first; see `icsa.columns.counts.moved_counts`.
        """
        return self

    def with_drawn_tails(self, stream: Stream) -> Self:  # noqa: ARG002
        """Return the column with tails drawn near to what they are, to decode with.

        Tails as they are would show to the last digit what all people in them make up.
        """
        return self

    def require_scores(self, scores: Matrix) -> None:
        """Raise an error unless there are `width` columns of finite scores."""
        if scores.ndim != 2 or scores.shape[1] != self.width:
            raise InputError(
                f"Column {self.name!r}: scores with {self.width} column(s) are needed: "
                f"got the shape {scores.shape}."
            )
        if not np.isfinite(scores).all():
            raise InputError(
                f"Column {self.name!r}: scores that are missing or infinite cannot be decoded."
            )

    def __repr__(self) -> str:
        """Show sizes only: parameters tell about cells."""
        return f"<{self.kind} column {self.name!r}: {self.n_present} cells, width {self.width}>"


Fitter: TypeAlias = Callable[[pl.Series, ColumnSpec, Scale], Column]


def declared_number(value: Any) -> Any:
    """Return a bound that is a number as it is; an error for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise TypeError("a number is needed")
    return value


@dataclass(frozen=True, kw_only=True)
class KindRecord:
    """All that others ask of a kind before a column of it is fitted.

    Attributes
    ----------
    name : str
    fit : function
        From cells, their declaration and a scale to the fitted column.
    promise, account : str
        What becomes of such a column, for people: before the release, and after it.
    moved_account : str
        The account where counts are moved by a few people; empty for the same.
    actions : tuple of str
        What can be done with such a column; the first is what is done if nothing is said.
    compared : "numbers", "order", "codes" or "no"
        How a release is compared with the original: by numbers, by levels in an order, by levels,
        or not at all because cells name people or are text.
    reading : function
        Turns cells of any type into one type whose numbers can be compared, or gives None.
    storage : Storage, optional
        How its cells hold numbers; None where numbers are places of levels, or nothing.
    quantity : str
        What its numbers measure; such columns can be subtracted from each other. Empty: nothing.
    unit : str
        What its numbers count, where that is not plain.
    per_day : float
        How many of its numbers make a day, where they count time from a fixed moment; or 0.
    circular : bool
        Whether its first and last number are neighbours, as those of a day are.
    has_levels : bool
        Whether levels can be declared.
    most_values : int, optional
        How many different values it can have.
    whole : bool
        Whether its numbers are whole.
    bound_of : function, optional
        From a bound in a schema file to that of the column; a TypeError where it is none.
    bound_in_words : str
        What such a bound looks like.
    unsplit : function, optional
        For a kind in two parts: from the cells' type to the kind that has one.
    """

    name: Kind
    fit: Fitter
    promise: str
    account: str = "masked"
    moved_account: str = ""
    actions: tuple[Action, ...] = ("mask", "drop", "keep")
    compared: Literal["numbers", "order", "codes", "no"] = "codes"
    reading: Reading = as_numbers
    storage: Storage | None = None
    quantity: str = ""
    unit: str = ""
    per_day: float = 0.0
    circular: bool = False
    has_levels: bool = False
    most_values: int | None = None
    whole: bool = False
    bound_of: Callable[[Any], Any] | None = None
    bound_in_words: str = "a number"
    unsplit: Callable[[pl.DataType], Kind] | None = None

    @property
    def is_number(self) -> bool:
        """Whether cells are plain numbers."""
        return self.quantity == "number"

    @property
    def is_temporal(self) -> bool:
        """Whether cells are points or lengths of time."""
        return self.quantity not in ("", "number")

    def accepts(self, dtype: pl.DataType) -> bool:
        """Return whether a schema may give this kind to a column of that type."""
        if self.storage is not None:
            return self.storage.accepts(dtype)
        unusual = dtype.is_nested() or isinstance(dtype, pl.Object | pl.Binary)
        return not (self.has_levels and unusual)
