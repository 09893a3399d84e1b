"""Rows that agree, found by hashes: of all rows, in blocks, and counted in buckets that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from icsa.assessment.blocks.filed_columns import FiledColumn, FiledMatrix, InFile, Rows
from icsa.assessment.blocks.filed_lenses import FiledFeatures
from icsa.comparison.column_pairs import Codes, ColumnPair, RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.matrices import Matrix
from icsa.privacy.everybody import put_on_lattice
from icsa.privacy.exact_rows import ExactRows, RowHashes, counted, row_hashes
from icsa.privacy.many_rows import Bucket, best_of_pairs, column_blocks, part_of, rare_pairs
from icsa.privacy.rarity import Best
from icsa.privacy.repeated_hashes import RepeatedHashes
from icsa.release.blocks.scratch import Scratch

__all__ = ["HashedTables", "exact_rows_of_files", "with_lattices_and_gaps"]

# Rows of both tables in a bucket, and hashes that are looked through at a time.
_IN_A_BUCKET, _AT_A_TIME = 8_000_000, 1 << 22
_HASHES, _PATTERNS = "hashes", "patterns"
_BITS = 64


@dataclass(frozen=True)
class _OnLattice:
    """A released column with cells at original values that are within half a step."""

    of: InFile
    values: InFile
    step: float
    dtype: np.dtype[Any]

    def read(self, rows: Rows) -> Any:
        cells = self.of.read(rows)
        if self.values.path.stat().st_size:
            put_on_lattice(cells, np.memmap(self.values.path, self.values.dtype, "r"), self.step)
        return cells


@dataclass(frozen=True, eq=False)
class _Patterns:
    """Which cells of a row are missing, as the place of the pattern among all patterns."""

    of: InFile
    kinds: RowHashes
    dtype: np.dtype[Any]

    def read(self, rows: Rows) -> Any:
        return np.searchsorted(self.kinds, self.of.read(rows)).astype(np.int32)


@dataclass(frozen=True)
class HashedTables:
    """Where hashes of both tables' rows are kept: a scratch folder for each number of rows."""

    original: Scratch
    released: Scratch

    def side(self, number: int) -> Scratch:
        """Return the folder of the original, 0, or of the release, 1."""
        return (self.original, self.released)[number]

    def file(self, what: str, number: int) -> InFile:
        """Return the hashes of one table."""
        return InFile(self.side(number).path(what, number), np.dtype(np.uint64))

    def hash_rows(self, features: Features, columns: list[int] | None = None) -> None:
        """Hash all rows of both tables, in some columns or in all."""
        for number, table in enumerate((features.original, features.released)):
            part = table if columns is None else part_of(table, columns)
            self.keep(_HASHES, number, part, _hashes_in)

    def keep(self, what: str, number: int, table: FeatureTable, function: Any) -> list[RowHashes]:
        """Write 64 bits for each row of a table; return which there are, where that is asked."""
        scratch = self.side(number)
        scratch.path(what, number).parent.mkdir(exist_ok=True)
        with scratch.path(what, number).open("wb") as file:
            file.truncate(8 * scratch.n_rows)
        return [
            found
            for turn in table.turns(1)
            for found in table.over(function, turn, scratch, what, number)
        ]

    def buckets(self) -> Iterator[Bucket]:
        """Yield the hashed rows of both tables that may be equal, equal ones in one bucket."""
        sizes = self.original.n_rows, self.released.n_rows
        every = np.empty(sum(sizes), dtype=np.uint64)
        for number, here in enumerate((every[: sizes[0]], every[sizes[0] :])):
            here[:] = np.memmap(self.file(_HASHES, number).path, np.uint64, "r")
        repeated = RepeatedHashes(every)
        del every
        n_rows = sum(rows.size for side in (0, 1) for _, rows in self._repeated(side, repeated))
        bits = max(0, (-(-n_rows // _IN_A_BUCKET) - 1).bit_length())
        for bucket in range(1 << bits):
            rows, hashes = self._chosen(0, repeated, bits, bucket)
            yield Bucket(rows, hashes, *self._chosen(1, repeated, bits, bucket))

    def _repeated(
        self, number: int, repeated: RepeatedHashes
    ) -> Iterator[tuple[RowHashes, RowNumbers]]:
        """Yield the hashes of one table that may stand twice, and their rows, part by part."""
        file, n_rows = self.file(_HASHES, number), self.side(number).n_rows
        for start in range(0, n_rows, _AT_A_TIME):
            some = file.read(slice(start, min(start + _AT_A_TIME, n_rows)))
            there = repeated.rows(some)
            yield some[there], start + there

    def _chosen(
        self, number: int, repeated: RepeatedHashes, bits: int, bucket: int
    ) -> tuple[RowNumbers, RowHashes]:
        """Return the rows of one table whose hashes begin with some bits."""
        rows, hashes = [], []
        for some, numbers in self._repeated(number, repeated):
            here = some >> np.uint64(_BITS - bits) == np.uint64(bucket) if bits else slice(None)
            rows.append(numbers[here])
            hashes.append(some[here])
        return np.concatenate(rows), np.concatenate(hashes)


def exact_rows_of_files(hashed: HashedTables, features: Features) -> ExactRows:
    """Return what `icsa.privacy.exact_rows.exact_rows` does, of columns in files."""
    hashed.hash_rows(features)
    parts = ((one.rows, one.hashes, one.released_hashes) for one in hashed.buckets())
    return counted(parts, hashed.original.n_rows, hashed.released.n_rows)


@dataclass(frozen=True)
class BestInFiles:
    """What `icsa.privacy.many_rows.best_in_buckets` does, of columns in files."""

    hashed: HashedTables

    def __call__(self, features: Features) -> tuple[RowNumbers, Best]:
        """Return the people with the rarest cells in common with a released row, and that row."""
        pairs = []
        for columns in column_blocks(features.original):
            self.hashed.hash_rows(features, columns)
            pairs.append(rare_pairs(self.hashed.buckets()))
        return best_of_pairs(features, pairs)


def with_lattices_and_gaps(
    hashed: HashedTables, features: Features, *, has_gaps: bool
) -> FiledFeatures:
    """Return features as `icsa.privacy.everybody` compares equal cells.

    Released cells of rounded columns are at original values within half a step; where cells are
    missing, a column more tells which.
    """
    tables = [features.original, features.released]
    numbers = cast(FiledMatrix, tables[1].numbers)
    on_lattices: list[FiledColumn] = list(numbers.columns)
    for j in np.flatnonzero(features.grids).tolist():
        column = tables[0].numbers[j]
        values = InFile(hashed.original.path("values", j), np.dtype(np.float64))
        hashed.original.write("values", j, np.unique(column[~np.isnan(column)]))
        own, step = cast(InFile, numbers.columns[j]), float(features.grids[j])
        on_lattices[j] = _OnLattice(own, values, step, own.dtype)
    shown = FiledMatrix(tuple(on_lattices), tables[1].n_rows)
    tables[1] = replace(tables[1], numbers=cast(Matrix, shown))
    columns = features.columns
    if has_gaps:
        seen = [hashed.keep(_PATTERNS, side, table, _gaps_in) for side, table in enumerate(tables)]
        kinds = np.unique(np.concatenate([*seen[0], *seen[1]]))
        patterns = [
            _Patterns(hashed.file(_PATTERNS, side), kinds, np.dtype(np.int32)) for side in (0, 1)
        ]
        tables = [_with_code(table, one) for table, one in zip(tables, patterns, strict=True)]
        name = "which cells are missing"
        gap = ColumnPair(name, np.empty(0), np.empty(0), tuple(range(kinds.size)))
        columns = (*columns, gap)
    return FiledFeatures(tables[0], tables[1], columns)


def _with_code(table: FeatureTable, column: FiledColumn) -> FeatureTable:
    codes = cast(FiledMatrix, table.codes)
    more = FiledMatrix((*codes.columns, column), table.n_rows, np.int32)
    return replace(table, codes=cast(Codes, more))


def _hashes_in(
    table: FeatureTable, part: slice, scratch: Scratch, what: str, place: int
) -> RowHashes:
    """Write the hashes of a part of the rows."""
    block = FeatureTable(table.block(part), table.code_block(part))
    _write(scratch, what, place, part, row_hashes(block))
    return np.empty(0, dtype=np.uint64)


def _gaps_in(
    table: FeatureTable, part: slice, scratch: Scratch, what: str, place: int
) -> RowHashes:
    """Write hashes of which cells are missing, and return which there are."""
    gaps = np.vstack([np.isnan(table.block(part)), table.code_block(part) < 0]).astype(np.int32)
    hashes = row_hashes(FeatureTable(np.empty((0, gaps.shape[1])), gaps))
    _write(scratch, what, place, part, hashes)
    return np.unique(hashes)


def _write(scratch: Scratch, what: str, place: int, part: slice, hashes: RowHashes) -> None:
    places: Sequence[int] = [place]
    scratch.write_rows(what, places, part, hashes[:, None])
