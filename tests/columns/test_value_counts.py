"""Values are counted in blocks or in buckets as they are counted at once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.columns import value_counts
from icsa.columns.value_counts import counted_values

DRAW = np.random.default_rng(3)
NUMBERS = DRAW.integers(0, 40, 5_000)


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series(NUMBERS),
        pl.Series(NUMBERS).cast(pl.String),
        pl.Series(NUMBERS).cast(pl.String).cast(pl.Categorical),
        pl.Series(NUMBERS).cast(pl.Date),
        pl.Series(NUMBERS > 3),
        pl.Series(np.arange(5_000)).cast(pl.String),  # all differ
        pl.Series(np.where(np.arange(5_000) < 600, 1, np.arange(5_000))),  # later ones do
        pl.Series(np.arange(5_000) // 2 / 4.0),
        pl.Series([None] * 5_000, dtype=pl.String),
        pl.Series([], dtype=pl.Int64),
    ],
)
@pytest.mark.parametrize("gaps", [False, True])
def test_values_are_counted_in_any_blocks(
    cells: pl.Series, gaps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if gaps:
        cells = cells.set(pl.Series(np.arange(cells.len()) % 7 == 3), None)
    wanted = counted(cells)
    assert sum(wanted.values()) == cells.len() - cells.null_count()
    for rows in (499, 1_000):
        monkeypatch.setattr(value_counts, "_ROWS", rows)
        assert counted(cells) == wanted


def counted(cells: pl.Series) -> dict[object, int]:
    values, held = counted_values(cells)
    assert values.dtype == cells.dtype
    assert values.n_unique() == values.len() == held.size
    return dict(zip(values, held.tolist(), strict=True))
