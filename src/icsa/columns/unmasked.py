"""Columns of which nothing is masked: constant ones, identifiers and free text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns.base import Column, KindRecord
from icsa.columns.declared import ColumnSpec, Flags, is_present, without_codes
from icsa.columns.storage import NUMERIC
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.recipes import Scale

__all__ = ["CONSTANT", "IDENTIFIER", "TEXT", "Constant", "Identifier", "Text"]

# Longer texts than that and a number are cut off by some programs.
_LONGEST_PREFIX = 24


class _Unscored(Column):
    """A column of which nothing is masked."""

    @property
    def width(self) -> int:
        """No scores."""
        return 0

    def numbers(self, cells: pl.Series) -> Vector:
        """Return 0 for cells that are there, NaN where missing."""
        return np.where(is_present(cells, self.spec), 0.0, np.nan)

    def encode(self, numbers: Vector) -> Matrix:
        """Return no columns of scores."""
        return np.empty((numbers.size, 0))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Constant(_Unscored):
    """A column whose cells are all the same where they are there; its number is 0.

    Other kinds become constant where they have one value or none.
    """

    value: pl.Series

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Constant:  # noqa: ARG003
        """Return the column fitted to cells; an error where they differ."""
        there = without_codes(cells, spec).drop_nulls()
        if (there != there.head(1)).any():
            raise InputError(
                f"Column {spec.name!r}: a constant column has one value, and this one has more. "
                "Give it another kind."
            )
        return cls.of_first(cells, spec)

    @classmethod
    def of_first(cls, cells: pl.Series, spec: ColumnSpec) -> Constant:
        """Return the constant column of the first cell that is there."""
        there = without_codes(cells, spec).drop_nulls()
        return cls(
            spec=replace(spec, kind="constant"),
            dtype=cells.dtype,
            n_present=there.len(),
            value=there.head(1),
        )

    @property
    def values(self) -> pl.Series:
        """The only value, if there is one."""
        return self.value

    def decode(self, scores: Matrix) -> Vector:
        """Return 0 for every row; NaN where there is no value."""
        return np.full(scores.shape[0], 0.0 if self.value.len() else np.nan)

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the value for every number, null for NaN."""
        if not self.value.len():
            return pl.Series(self.name, [None] * numbers.size, dtype=self.dtype)
        rows = pl.Series(numbers, nan_to_null=True).cast(pl.UInt32)
        return self.value.gather(rows).alias(self.name)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Identifier(_Unscored):
    """A column that names rows; nothing of it is kept but its type.

    Numbers are running numbers of rows and have nothing to do with the cells. Columns of numbers
    get numbers above all old ones, so that nobody is taken for somebody else; all others get text
    that begins with the column's name, so that no two columns seem to hold the same.

    Attributes
    ----------
    first : int
        What is added to the running numbers of a column of numbers.
    prefix : str
        What others begin with: letters of the column's name, and of no old cell.

    Examples
    --------
    >>> cells = pl.Series("patient", ["NL-8812", "NL-4711", "NL-0815"])
    >>> column = Identifier.fit(cells, ColumnSpec(name="patient", kind="identifier"))
    >>> column.fresh(3, order=[2, 0, 1]).to_list()
    ['patient-000003', 'patient-000001', 'patient-000002']
    """

    first: int = 0
    prefix: str = ""

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Identifier:  # noqa: ARG003
        """Return the column for cells of which only the type is looked at."""
        there = is_present(cells, spec)
        return cls(
            spec=spec,
            dtype=cells.dtype,
            n_present=int(there.sum()),
            first=_first_above(cells, there),
            prefix=_unused_prefix(spec.name, cells),
        )

    def fresh(self, n_rows: int, order: npt.ArrayLike | None = None) -> pl.Series:
        """Return identifiers 1 to `n_rows`.

        Parameters
        ----------
        n_rows : int
        order : array-like of int, optional
            A permutation of 0 to ``n_rows - 1``: which of them each row gets. None: as they come.
        """
        rows = np.asarray(range(n_rows) if order is None else order, dtype=np.float64)
        if rows.shape != (n_rows,) or not np.array_equal(np.sort(rows), np.arange(n_rows)):
            raise InputError(
                f"Column {self.name!r}: the order of fresh identifiers must be a permutation of "
                f"0 to {n_rows - 1}."
            )
        return self.cells(rows + 1.0)

    def numbers(self, cells: pl.Series) -> Vector:
        """Return running numbers 1, 2 ... of the rows, NaN where the cell is missing."""
        return np.where(is_present(cells, self.spec), np.arange(1.0, cells.len() + 1.0), np.nan)

    def decode(self, scores: Matrix) -> Vector:
        """Return running numbers 1, 2 ... of the rows."""
        return np.arange(1.0, scores.shape[0] + 1.0)

    def cells(self, numbers: Vector) -> pl.Series:
        """Return fresh identifiers of the given running numbers, null for NaN."""
        if self.dtype.is_numeric():
            return NUMERIC.cells(numbers + self.first, self.dtype, self.name)
        digits = pl.Series(self.name, numbers, nan_to_null=True).cast(pl.Int64).cast(pl.String)
        return f"{self.prefix or _prefix(self.name)}-" + digits.str.zfill(6)


class Text(_Unscored):
    """A column of free text; its cells come out empty, and releases leave the column out."""

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Text:  # noqa: ARG003
        """Return the column for cells that are not looked at."""
        n_present = int(is_present(cells, spec).sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present)

    def decode(self, scores: Matrix) -> Vector:
        """Return 0 for every row."""
        return np.zeros(scores.shape[0])

    def cells(self, numbers: Vector) -> pl.Series:
        """Return empty cells."""
        return pl.Series(self.name, [None] * numbers.size, dtype=self.dtype)


def _prefix(name: str) -> str:
    """Return the letters and digits of a column's name with a hyphen for all between them."""
    words = "".join(sign if sign.isalnum() else " " for sign in name).split()
    return "-".join(words)[:_LONGEST_PREFIX].rstrip("-") or "id"


def _unused_prefix(name: str, cells: pl.Series) -> str:
    """Return the prefix of a column's name, longer where old cells begin with it, as fresh ones do.

    Examples
    --------
    >>> _unused_prefix("patient", pl.Series(["patient-000001"]))
    'patientx'
    """
    prefix = _prefix(name)
    if not isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum):
        return prefix
    texts = cells.cast(pl.String)
    while texts.str.starts_with(f"{prefix}-").any():
        prefix += "x"
    return prefix


def _first_above(cells: pl.Series, there: Flags) -> int:
    """Return a power of ten above all numbers, or 0 where the type has no room for it."""
    n_rows = cells.len()
    if not cells.dtype.is_integer() and not cells.dtype.is_float():
        return 0
    cells = cells.filter(pl.Series(there))
    finite = cells.filter(cells.is_finite()) if cells.dtype.is_float() else cells
    largest = max(int(finite.max() or 0), n_rows)  # type: ignore[arg-type]
    firsts = 10 ** len(str(largest)), largest
    return next((first for first in firsts if first + n_rows <= _room(cells.dtype)), 0)


def _room(dtype: pl.DataType) -> int:
    """Return the largest of the whole numbers that a type has without gaps."""
    if dtype.is_float():
        return 1 << (24 if dtype == pl.Float32 else 53)
    return int(pl.select(dtype.max()).item())  # type: ignore[attr-defined]


CONSTANT = KindRecord(
    name="constant",
    fit=Constant.fit,
    promise="released as it is: one value, where there is one",
    account="one value for everybody, as it was",
    most_values=1,
)
IDENTIFIER = KindRecord(
    name="identifier",
    fit=Identifier.fit,
    promise="masked",
    actions=("replace", "drop", "keep"),
    compared="no",
)
TEXT = KindRecord(
    name="text",
    fit=Text.fit,
    promise="masked",
    actions=("drop", "keep"),
    compared="no",
)
