"""Columns that follow from others: how they are found, and how what remains is coded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from icsa.columns import Column, ColumnSpec, Kind, fit_column, kind_of, storage_of
from icsa.columns.levelled import Binary
from icsa.constraints.derivation import Derivation, find_derivation
from icsa.constraints.gaps import Gap
from icsa.constraints.limits import LIMITS
from icsa.constraints.words import lost_beside_kept
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = [
    "Quantity",
    "broken_by_keeping",
    "coded_columns",
    "derivation_of",
    "quantity_of",
    "step_of",
]


class Quantity(NamedTuple):
    """Numbers of a column that holds quantities, NaN where missing; its lattice step; its kind."""

    numbers: Vector
    step: float | None
    kind: Kind


def quantity_of(cells: pl.Series, kind: Kind) -> Quantity | None:
    """Return a column's quantity; None for other kinds, and without any.

    Examples
    --------
    >>> quantity_of(pl.Series([0.5, None, 2.0]), "continuous")
    Quantity(numbers=array([0.5, nan, 2. ]), step=0.5, kind='continuous')
    """
    storage = storage_of(cells.dtype)
    if not kind_of(kind).quantity or storage is None:
        return None
    numbers = storage.numbers(cells)
    ordered = np.sort(numbers[np.isfinite(numbers)])
    if not ordered.size:
        return None
    lattice = storage.lattice(ordered, cells.dtype, whole=kind_of(kind).whole)
    step = None if lattice is None else lattice.width
    return Quantity(np.where(np.isfinite(numbers), numbers, np.nan), step, kind)


def derivation_of(
    columns: Mapping[str, Column],
    numbers: Mapping[str, Vector],
    declared: Mapping[str, str] = MappingProxyType({}),
    *,
    search: bool = True,
) -> Derivation:
    """Return what follows from what among fitted columns, as `find_derivation` does."""
    facts = _steps(columns), _kinds(columns), _levels(columns)
    return find_derivation(numbers, *facts, declared, search=search)


def broken_by_keeping(
    kept: Mapping[str, Quantity],
    columns: Mapping[str, Column],
    numbers: Mapping[str, Vector],
    names: Sequence[str],
) -> tuple[str, ...]:
    """Return a sentence for each relation that is lost because some of its columns are kept.

    Cells of kept columns are no longer in a row with those of masked ones. What holds among kept
    columns alone goes on to hold.

    Parameters
    ----------
    kept : mapping of str to Quantity
        Columns that are released as they are.
    columns, numbers : mapping by str
        Of the columns that are masked.
    names : sequence of str
        All of them in the table's order.
    """
    if not kept:
        return ()
    both = {**numbers, **{name: quantity.numbers for name, quantity in kept.items()}}
    found = find_derivation(
        {name: both[name] for name in names if name in both},
        {**_steps(columns), **{name: quantity.step for name, quantity in kept.items()}},
        {**_kinds(columns), **{name: quantity.kind for name, quantity in kept.items()}},
        _levels(columns),
    )
    return tuple(
        lost_beside_kept(
            one.describe(), among & kept.keys(), None if isinstance(one, Gap) else one.target
        )
        for one in (*found.computed, *found.gaps, *found.unkept)
        if (among := one.columns) & kept.keys() and not among <= kept.keys()
    )


def coded_columns(
    columns: Mapping[str, Column],
    numbers: Mapping[str, Vector],
    derivation: Derivation,
    *,
    scale: Scale,
    split_zeros: bool,
) -> tuple[dict[str, Column], dict[str, Vector]]:
    """Return the columns that are encoded, and their numbers: no targets, gaps as gaps."""
    reduced = derivation.reduce(numbers)
    coded = {name: columns[name] for name in reduced if name in columns}
    for gap in derivation.gaps:
        values = pl.Series(gap.name, reduced[gap.name], nan_to_null=True)
        coded[gap.name] = _gap_column(gap, columns[gap.other], values, scale, split=split_zeros)
        reduced[gap.name] = coded[gap.name].numbers(values)
    for name in (one.target for one in derivation.computed if one.missing):
        spec = ColumnSpec(name=name, kind="binary")
        coded[name] = _Emptiness.fit(pl.Series(name, reduced[name]), spec)
    return coded, reduced


class _Emptiness(Binary):
    """Where a computed column is missing of its own accord; masked scores are left as they are.

    How many cells are to be emptied is known only when the columns are there that it is computed
    from.
    """

    @property
    def decodes_by_row(self) -> bool:
        return True

    def decode(self, scores: Matrix) -> Vector:
        """Return the scores."""
        self.require_scores(scores)
        return scores[:, 0].copy()

    def view(self, numbers: Vector) -> Matrix:
        """Return 1 for as large a share of the rows as was empty, 0 for others."""
        return super().decode(numbers[:, None])[:, None]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Unseen(Column):
    """A gap beside its columns: where it is not there, nobody sees it, and it is not missing.

    Its number is infinite there. It is masked in every row, and told in those that have a use for
    it. It is no anchor: it follows from its columns, which are.
    """

    column: Column

    @property
    def width(self) -> int:
        return self.column.width

    @property
    def decodes_by_row(self) -> bool:
        return self.column.decodes_by_row

    def numbers(self, cells: pl.Series) -> Vector:
        numbers = self.column.numbers(cells)
        return np.where(np.isnan(numbers), np.inf, numbers)

    def encode(self, numbers: Vector) -> Matrix:
        return self.column.encode(_finite(numbers))

    def decode(self, scores: Matrix) -> Vector:
        return self.column.decode(scores)

    def regain_quantiles(self, scores: Matrix) -> None:
        self.column.regain_quantiles(scores)

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        return replace(self, column=self.column.with_moved_counts(stream, reverse=reverse))

    def with_drawn_tails(self, stream: Stream) -> Self:
        return replace(self, column=self.column.with_drawn_tails(stream))

    def view(self, numbers: Vector) -> Matrix:
        return self.column.view(_finite(numbers))

    def cells(self, numbers: Vector) -> pl.Series:
        return self.column.cells(numbers)


def _finite(numbers: Vector) -> Vector:
    return np.where(np.isinf(numbers), np.nan, numbers)


def _gap_column(gap: Gap, other: Column, values: pl.Series, scale: Scale, *, split: bool) -> Column:
    """Return the column that a gap is coded by."""
    present = values.drop_nulls()
    many_zeros = split and (present == 0.0).sum() >= LIMITS.least_equal * present.len()
    spec = ColumnSpec(
        name=gap.name,
        kind="zero-inflated" if many_zeros else "continuous",
        step=step_of(other),
    )
    column = fit_column(values, spec, scale=scale)
    if gap.name == gap.other:
        return column
    return _Unseen(spec=column.spec, dtype=column.dtype, n_present=column.n_present, column=column)


def step_of(column: Column) -> float | None:
    """Return the lattice step of a column, None where it has none."""
    return None if column.lattice is None else column.lattice.width


def _steps(columns: Mapping[str, Column]) -> dict[str, float | None]:
    return {name: step_of(column) for name, column in columns.items()}


def _levels(columns: Mapping[str, Column]) -> dict[str, tuple[object, ...]]:
    return {
        name: tuple(column.levels.values.to_list())
        for name, column in columns.items()
        if column.levels is not None
    }


def _kinds(columns: Mapping[str, Column]) -> dict[str, Kind]:
    return {name: column.kind for name, column in columns.items()}
