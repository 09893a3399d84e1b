"""Tables and lenses whose columns are files, and what looks through their rows in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from icsa.assessment.blocks.coding_columns import Scaled
from icsa.assessment.blocks.filed_columns import FiledMatrix, Gaps, InFile
from icsa.comparison.column_pairs import Codes, ColumnPair, RowNumbers
from icsa.comparison.features import PART, Features, FeatureTable
from icsa.matrices import Matrix, Vector
from icsa.privacy.lenses import Lenses, clearly_other, whitener_of
from icsa.privacy.robust_fit import robust_fit
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch

__all__ = ["BlockSweep", "FiledFeatures", "FiledLenses", "filed_lenses", "filed_table"]

_Result = TypeVar("_Result")


@dataclass(eq=False)
class BlockSweep:
    """Looks through a table in blocks of rows, by tasks of passes.

    Attributes
    ----------
    passes : Passes
    block_rows : int
        A multiple of `PART`.
    stage : str
        What the passes are called, for whoever is told about them.
    count : int
        How many passes there were in this stage.
    """

    passes: Passes
    block_rows: int
    stage: str = "looking through rows"
    count: int = field(default=0, init=False)

    def begin(self, stage: str) -> None:
        """Begin another stage; every stage has a name of its own."""
        self.stage, self.count = stage, 0

    def turns(self, n_rows: int) -> Iterator[list[slice]]:
        """Yield one part first, and one block, which tell what is near; then all others."""
        yield [slice(0, min(PART, n_rows))]
        starts = range(PART, n_rows, self.block_rows)
        blocks = [slice(start, min(start + self.block_rows, n_rows)) for start in starts]
        yield from (some for some in (blocks[:1], blocks[1:]) if some)

    def over(
        self,
        table: FeatureTable,
        function: Callable[..., _Result],
        parts: Sequence[slice],
        arguments: Sequence[tuple[object, ...]],
    ) -> list[_Result]:
        """Return what a function gives for parts of a table, each with its own arguments."""
        alone = replace(table, sweep=None)
        pairs = list(zip(parts, arguments, strict=True))
        if len(parts) == 1:
            return [function(alone, part, *told) for part, told in pairs]
        self.count += 1
        name = f"{self.stage} {self.count}"
        tasks = [Task(_on_block, (alone, function, part, told)) for part, told in pairs]
        found = self.passes.over(name, tasks, held=OF_A_BLOCK)
        self.passes.forget(name, len(parts))
        return found


def _on_block(
    _: Scratch,
    table: FeatureTable,
    function: Callable[..., Any],
    part: slice,
    arguments: tuple[object, ...],
) -> Any:
    return function(table, part, *arguments)


class FiledFeatures(Features):
    """Two tables whose columns are files: the columns' records hold no cells."""

    def __post_init__(self) -> None:
        """Leave the cells where they are."""


@dataclass(frozen=True, eq=False, repr=False)
class FiledLenses(Lenses):
    """Lenses on tables whose columns are files.

    Attributes
    ----------
    gaps : tuple of int
        Columns of numbers that have missing cells in either table.
    shares_missing : ndarray
        Of the original's cells, by column of numbers.
    """

    gaps: tuple[int, ...] = ()
    shares_missing: Vector = field(default_factory=lambda: np.empty(0))

    @cached_property
    def missing_shares(self) -> Vector:
        """Share of the original's cells that are missing, of each numeric column."""
        return self.shares_missing

    def _codes_with_gaps(self, side: int) -> Codes:
        table = (self.features.original, self.features.released)[side]
        codes, numbers = cast(FiledMatrix, table.codes), cast(FiledMatrix, table.numbers)
        missing = tuple(Gaps(cast(InFile, numbers.columns[j])) for j in self.gaps)
        return cast(Codes, FiledMatrix((*codes.columns, *missing), table.n_rows, codes.dtype))

    def part(self, rows: RowNumbers, released_rows: RowNumbers) -> Lenses:
        """Return the same lenses on some rows of both tables, which are in memory."""
        features = self.features
        mine, theirs = features.original.rows(rows), features.released.rows(released_rows)
        gaps = [
            np.isnan(table.numbers[list(self.gaps)]).astype(np.int32) for table in (mine, theirs)
        ]
        return Lenses(
            features=Features(mine, theirs, features.columns),
            original=self.original[:, rows],
            released=self.released[:, released_rows],
            centres=self.centres,
            scales=self.scales,
            released_centres=self.released_centres,
            released_scales=self.released_scales,
            tied_steps=self.tied_steps,
            fit=self.fit,
            varying=self.varying,
            _whitener=self._whitener,
            _missing_codes=(gaps[0], gaps[1]),
        )


def filed_table(
    scratch: Scratch, what: str, places: Sequence[int], n_numbers: int, sweep: BlockSweep | None
) -> FeatureTable:
    """Return a table of columns in scratch, numbers first.

    Parameters
    ----------
    scratch : Scratch
        With as many rows as the table has.
    what : str
        Of which of its columns.
    places : sequence of int
    n_numbers : int
        How many of them are numbers; the others are codes.
    sweep : BlockSweep, optional
    """
    files = [scratch.path(what, place) for place in places]
    numbers = tuple(InFile(file, np.dtype(np.float64)) for file in files[:n_numbers])
    codes = tuple(InFile(file, np.dtype(np.int32)) for file in files[n_numbers:])
    return FeatureTable(
        cast(Matrix, FiledMatrix(numbers, scratch.n_rows)),  # it is indexed as a matrix is
        cast(Codes, FiledMatrix(codes, scratch.n_rows, np.int32)),
        sweep=sweep,
    )


def filed_lenses(
    original: FeatureTable,
    released: FeatureTable,
    columns: tuple[ColumnPair, ...],
    scaled: Sequence[Scaled],
    varying_codes: Sequence[bool],
) -> FiledLenses:
    """Return the lenses that `icsa.privacy.lenses.fit_lenses` fits, on columns in files."""
    n, n_released = original.n_rows, released.n_rows
    standard, shown = (
        cast(Matrix, FiledMatrix(tuple(getattr(one, side) for one in scaled), rows))
        for side, rows in (("original", n), ("released", n_released))
    )
    scales = np.array([one.original.scale for one in scaled])
    names = tuple(column.name for column in columns[: len(scaled)])
    fit = robust_fit(standard, np.array([one.tied for one in scaled]), names)
    own_centres, own_scales = clearly_other(
        np.array([one.released_centre for one in scaled]),
        np.array([one.released_scale for one in scaled]),
        n,
        n_released,
    )
    none = np.empty((0, 0), dtype=np.int32)
    return FiledLenses(
        features=FiledFeatures(original, released, columns),
        original=standard,
        released=shown,
        centres=np.array([one.original.centre for one in scaled]),
        scales=scales,
        released_centres=own_centres,
        released_scales=own_scales,
        tied_steps=np.array([one.tied_step for one in scaled]),
        fit=fit,
        varying=np.concatenate([np.isfinite(scales), np.array(varying_codes, dtype=bool)]),
        _whitener=whitener_of(fit.whole_scatter, np.isfinite(scales)),
        _missing_codes=(none, none),
        gaps=tuple(j for j, one in enumerate(scaled) if one.has_gaps),
        shares_missing=np.array([one.missing for one in scaled]),
    )
