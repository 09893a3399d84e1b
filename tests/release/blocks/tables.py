"""Tables just long enough to be released from files, and their releases both ways."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.tables.stored import StoredTable, stored_parquet

N_ROWS = 201_001  # odd: every other column of a matrix begins within 16 bytes


def measured(seed: int = 0, n_rows: int = N_ROWS) -> pl.DataFrame:
    """Return four measurements; one person in fifty is far out."""
    draw = np.random.default_rng(seed)
    z = draw.normal(size=(n_rows, 4))
    z[:, 1] += 0.7 * z[:, 0]
    z[: n_rows // 50] *= 8.0
    return pl.DataFrame(
        {
            "kg": (70.0 + 9.0 * z[:, 0]).round(1),
            "dose": np.exp(z[:, 1]),
            "age": (50.0 + 10.0 * z[:, 2]).clip(0, None).round().astype(np.int64),
            "score": z[:, 3],
        }
    )


def of_all_kinds(seed: int = 0) -> pl.DataFrame:
    """Return columns of every kind, with cells that are missing together and apart."""
    frame, draw = measured(seed), np.random.default_rng(seed + 1)
    n, score = frame.height, frame["score"].to_numpy()
    gone = draw.random(n) < 0.05
    levels = draw.choice(["low", "mid", "high"], n, p=[0.5, 0.3, 0.2])
    levels[-700:-690] = "only at the end"
    days = (18_000 + 300 * draw.normal(size=n)).astype(np.int32)
    sugar = score**2 + 0.3 * draw.normal(size=n)
    return frame.with_columns(
        pl.Series("patient", np.arange(n) + 7),
        pl.Series("group", levels),
        pl.Series("ill", score + draw.normal(size=n) > 0.0),
        pl.Series("visits", np.where(score > 0.2, np.rint(4 + 2 * score), 0.0)),
        pl.Series("seen", days).cast(pl.Date),
        pl.Series("pain", 1 + (score > 0.0).astype(int) + (score > 1.0).astype(int)),
        pl.Series("low", np.where(gone, np.nan, score + draw.normal(size=n)), nan_to_null=True),
        pl.Series("high", np.where(gone, np.nan, score - draw.random(n)), nan_to_null=True),
        pl.Series("sugar", np.where(draw.random(n) < 0.1, np.nan, sugar), nan_to_null=True),
    )


def related(seed: int = 0) -> pl.DataFrame:
    """Return columns that follow from others: a sum with gaps, a class, dates in order."""
    draw = np.random.default_rng(seed)
    n = N_ROWS
    a = draw.integers(0, 50, n).astype(float)
    b = draw.integers(0, 80, n).astype(float)
    first = 15_000 + draw.integers(0, 3_000, n)
    last = np.where(draw.random(n) < 0.2, np.nan, first + draw.integers(0, 400, n))
    kg, metres = (70 + 12 * draw.normal(size=n)).round(1), (1.7 + 0.09 * draw.normal(size=n))
    return pl.DataFrame(
        {
            "a": a,
            "b": b,
            "total": pl.Series(np.where(draw.random(n) < 0.05, np.nan, a + b), nan_to_null=True),
            "kg": kg,
            "metres": metres.round(2),
            "heavy": np.where(kg > 80.0, "yes", "no"),
            "first": pl.Series(first.astype(np.int32)).cast(pl.Date),
            "last": pl.Series(last, nan_to_null=True).cast(pl.Int32).cast(pl.Date),
        }
    )


def stored(frame: pl.DataFrame, folder: Path, edges: Sequence[int] = ()) -> StoredTable:
    """Return the table in part files that end at the given rows."""
    folder.mkdir(parents=True)
    paths = []
    for number, (start, stop) in enumerate(pairwise([0, *sorted(edges), frame.height])):
        paths.append(folder / f"part-{number:03}.parquet")
        frame[start:stop].write_parquet(paths[-1])
    return stored_parquet(paths)


def released_in_blocks(
    table: StoredTable,
    folder: Path,
    *,
    leaves: int = 4,
    memory: float = np.inf,
    workers: int = 1,
    columns_at_a_time: int = 1_000,
    dask: Any = None,
    seed: int = 1,
    schema: Any = None,
    options: Any = None,
    **choices: Any,
) -> tuple[pl.DataFrame, Release]:
    """Return the cells that a release from files has, and its account."""
    folder.mkdir(parents=True)
    passes = Passes(
        Scratch(folder, table.n_rows),
        workers=workers,
        columns_at_a_time=columns_at_a_time,
        dask=dask,
    )
    ground = Ground(table, leaves * LEAF_ROWS, memory)
    made = release_in_blocks(
        passes, ground, as_key(seed), schema=schema, choices=choices, options=options or {}
    )
    return pl.concat(list(made.cells.blocks(0, made.cells.n_rows))), made.release


def require_the_same(found: tuple[pl.DataFrame, Release], wanted: Release) -> None:
    """Hold cells and account of a release from files against those of one in memory."""
    frame, account = found
    for name in wanted.table.columns:
        assert frame[name].equals(wanted.table[name], check_dtypes=True), name
    assert frame.columns == wanted.table.columns
    for fact in ("columns", "warnings", "relations", "moved_cells", "n_components", "mask"):
        assert getattr(account, fact) == getattr(wanted, fact), fact
