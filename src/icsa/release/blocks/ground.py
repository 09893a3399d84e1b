"""What every pass over a large table knows: where cells are read, and in which blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from icsa.errors import InputError
from icsa.matrices import LEAF_ROWS
from icsa.release.blocks.memory_groups import free_in_groups
from icsa.release.blocks.passes import OF_A_COLUMN
from icsa.tables.stored import StoredTable

__all__ = [
    "Ground",
    "Resources",
    "enough_memory",
    "free_memory",
    "memory_of_a_column",
    "row_ranges",
    "rows_in_memory",
]

# Blocks of all columns that a task on a block of rows holds at a time.
_BLOCKS_AT_A_TIME = 5
# Of the memory that is free, what data may take; and what it is taken to be where nobody says.
_SHARE_OF_FREE = 0.75
_UNKNOWN_FREE = 4e9


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use.

    Attributes
    ----------
    memory : int
        Bytes that data may take at a time, in all processes together.
    scratch : Path
        A folder for files, as much as `Ways.scratch_tables` says.
    workers : int
    dask : str, optional
        As `icsa.jobs.run` takes it.
    resume : bool
        Whether to go on with what an interrupted run left.
    """

    memory: int
    scratch: Path
    workers: int = 1
    dask: Any = None
    resume: bool = False

    def at_a_time(self, needed: float) -> int:
        """Return how many tasks that take so many bytes each may go at a time; 0 where none may.

        Examples
        --------
        >>> means = Resources(memory=3 * 10**9, scratch=Path(), workers=4)
        >>> means.at_a_time(1e9), means.at_a_time(2.4e9), means.at_a_time(4e9)
        (3, 1, 0)
        """
        most = min(self.workers, int(self.memory // max(needed, 1.0)))
        return most if most >= self.fewest else 0

    @property
    def fewest(self) -> int:
        """How many tasks go at a time at least: a cluster gives one to every worker."""
        return 1 if self.dask is None else self.workers

    def columns_at_a_time(self, n_rows: int, *, of_units: bool = False) -> int:
        """Return how many tasks that take a column of so many rows each may go at a time.

        Those on rows of units need twice the room.

        Raises
        ------
        InputError
            Not one may.
        """
        needed = memory_of_a_column(n_rows) * (2 if of_units else 1)
        found = self.at_a_time(needed)
        if found:
            return found
        of_each = " by each worker" if self.fewest > 1 else ""
        fewer = ", or fewer --workers" if self.fewest > 1 else ""
        raise InputError(
            f"A column of {n_rows:,} rows takes {needed / 1e9:.3g} GB while it is worked on, and "
            f"{self.memory / self.fewest / 1e9:.3g} GB may be taken{of_each}. Give --memory "
            f"{enough_memory(needed * self.fewest)}{fewer}."
        )


@dataclass(frozen=True, eq=False)
class Ground:
    """A stored table, and how many of its rows a task takes at a time.

    Attributes
    ----------
    table : StoredTable
    block_rows : int
        A multiple of a leaf: sums over leaves are the same in any blocks.
    memory : float
        Bytes that a task on a column may take.
    """

    table: StoredTable
    block_rows: int
    memory: float = math.inf

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.n_rows

    def require_room(self, n_columns: int, what: str, remedy: str) -> None:
        """Refuse a task that would hold so many columns of all rows, if that is too much."""
        self.require_bytes(8.0 * self.n_rows * n_columns, what, remedy)

    def require_bytes(self, needed: float, what: str, remedy: str) -> None:
        """Refuse a task that would hold so many bytes, if that is too much."""
        if needed > self.memory:
            raise InputError(
                f"{what} would take {needed / 1e9:.3g} GB at a time, and {self.memory / 1e9:.3g} "
                f"GB may be taken. {remedy}"
            )

    @property
    def blocks(self) -> list[slice]:
        """Blocks of rows that cover the table."""
        return list(row_ranges(self.n_rows, self.block_rows))

    def for_scores(self, n_scores: int) -> Ground:
        """Return the same with fewer rows a block where there are more scores than columns."""
        rows = self.block_rows * min(1.0, len(self.table.names) / max(n_scores, 1))
        return replace(self, block_rows=max(LEAF_ROWS, int(rows) // LEAF_ROWS * LEAF_ROWS))


def row_ranges(n_rows: int, block_rows: int) -> Iterator[slice]:
    """Yield blocks of so many rows, each made of whole leaves but for the last.

    Examples
    --------
    >>> [rows.stop for rows in row_ranges(40_000, 16_384)]
    [16384, 32768, 40000]
    """
    step = max(1, block_rows // LEAF_ROWS) * LEAF_ROWS
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def memory_of_a_column(n_rows: int) -> int:
    """Return the bytes that a task on one column of a table takes."""
    return 8 * n_rows * OF_A_COLUMN


def enough_memory(n_bytes: float) -> str:
    """Return what to give as --memory where so many bytes are needed: never less than that.

    Examples
    --------
    >>> enough_memory(9_648_048), enough_memory(2.4e9)
    ('0.1GB', '2.4GB')
    """
    return f"{math.ceil(n_bytes / 1e8) / 10:.1f}GB"


def rows_in_memory(n_bytes: int, n_scores: int) -> int:
    """Return how many rows of all scores a task on a block can take with so much memory.

    Examples
    --------
    >>> rows_in_memory(1 << 30, 20) // LEAF_ROWS
    81
    """
    return max(LEAF_ROWS, n_bytes // (8 * n_scores * _BLOCKS_AT_A_TIME) // LEAF_ROWS * LEAF_ROWS)


def free_memory() -> float:
    """Return the bytes that data may take if nobody says: most of what is free."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            found = next(line for line in file if line.startswith("MemAvailable"))
        free = 1024.0 * float(found.split()[1])
    except (OSError, StopIteration, ValueError, IndexError):
        return _UNKNOWN_FREE
    return _SHARE_OF_FREE * min(free, free_in_groups())
