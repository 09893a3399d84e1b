"""How often every value stands in a column, however long it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.matrices import row_blocks

__all__ = ["counted_values"]

Counts = npt.NDArray[np.int64]

# Rows that are counted at a time. Counting all of a long column takes several times its room.
_ROWS = 1 << 20
# With more values than this share of the rows, sorting numbers takes less room than counting. Texts
# take several times theirs while they are sorted: they are counted a bucket of so many at a time.
_FEW = 0.05
_BUCKETS = 32


def counted_values(cells: pl.Series) -> tuple[pl.Series, Counts]:
    """Return the different values, in any order, and how many rows hold each; none for missing.

    Examples
    --------
    >>> values, held = counted_values(pl.Series(["b", "a", None, "b"]))
    >>> sorted(zip(values, held.tolist()))
    [('a', 1), ('b', 2)]
    """
    if cells.len() <= _ROWS:
        return _separated(_counted(cells))
    found: pl.DataFrame | None = None
    for rows in row_blocks(cells.len(), _ROWS):
        some = _counted(cells[rows])
        if some.height > _FEW * _ROWS:
            return _of_many(cells)
        found = some if found is None else _added(found, some)
        if found.height > _FEW * cells.len():
            return _of_many(cells)
    assert found is not None
    return _separated(found)


def _counted(cells: pl.Series) -> pl.DataFrame:
    counted = cells.drop_nulls().alias("value").value_counts(name="held")
    return counted.with_columns(pl.col("held").cast(pl.Int64))


def _added(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([one, other]).group_by("value").agg(pl.col("held").sum())


def _separated(counted: pl.DataFrame) -> tuple[pl.Series, Counts]:
    return counted["value"], counted["held"].to_numpy()


def _of_many(cells: pl.Series) -> tuple[pl.Series, Counts]:
    is_text = isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum)
    return _by_buckets(cells) if is_text else _by_sorting(cells)


def _by_sorting(cells: pl.Series) -> tuple[pl.Series, Counts]:
    ordered = cells.sort()[cells.null_count() :]
    begins = np.ones(ordered.len(), dtype=bool)
    begins[1:] = (ordered[1:] != ordered[:-1]).to_numpy()
    if begins.all():
        return ordered, np.ones(ordered.len(), dtype=np.int64)
    values = ordered.filter(pl.Series(begins))
    del ordered
    return values, np.diff(np.flatnonzero(begins), append=begins.size)


def _by_buckets(cells: pl.Series) -> tuple[pl.Series, Counts]:
    """Count the cells of a bucket at a time: equal ones are in the same, by their hash."""
    buckets = np.empty(cells.len(), dtype=np.uint8)
    for rows in row_blocks(cells.len(), _ROWS):
        buckets[rows] = cells[rows].hash().to_numpy() % _BUCKETS
    values, held = list[pl.Series](), list[npt.NDArray[np.uint32]]()
    for bucket in range(_BUCKETS):
        found, counts = _separated(_counted(cells.filter(pl.Series(buckets == bucket))))
        values.append(found)
        held.append(counts.astype(np.uint32))
    return pl.concat(values, rechunk=False), np.concatenate(held, dtype=np.int64)
