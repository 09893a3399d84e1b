"""What every fitted column has, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import polars as pl

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.schema import ColumnSpec, Kind

__all__ = ["FittedColumn", "Unscored"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FittedColumn:
    """A column's declaration, its type and how many of its cells are there.

    Attributes
    ----------
    spec : ColumnSpec
        The declaration it was fitted with.
    dtype : polars data type
        Of the cells, and of the cells that come out.
    n_present : int
        Number of cells that are not missing.
    """

    spec: ColumnSpec
    dtype: pl.DataType
    n_present: int

    decodes_by_row: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The column's name."""
        return self.spec.name

    @property
    def kind(self) -> Kind:
        """The column's kind."""
        return self.spec.kind

    @property
    def width(self) -> int:
        """Number of columns of scores."""
        return 1

    def anchor(self, numbers: Vector) -> Vector | None:  # noqa: ARG002
        """Return None: discrete columns are no anchors."""
        return None

    def regain_quantiles(self, scores: Matrix) -> None:
        """Do nothing: levels are as often as they were."""

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:  # noqa: ARG002
        """Return the column itself: it has no counts to move."""
        return self

    def with_drawn_tails(self, stream: Stream) -> Self:  # noqa: ARG002
        """Return the column itself: it has no tails."""
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


class Unscored(FittedColumn):
    """A column of which nothing is masked."""

    @property
    def width(self) -> int:
        """No scores."""
        return 0

    def encode(self, numbers: Vector) -> Matrix:
        """Return no columns of scores."""
        return np.empty((numbers.size, 0))

    def view(self, numbers: Vector) -> Matrix:
        """Return no columns."""
        return self.encode(numbers)
