"""Levels of both tables have the same codes in whatever blocks they are read."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.columns import ColumnSpec
from icsa.comparison import coding
from icsa.comparison.coding import code_column

CELLS = pl.Series("x", np.random.default_rng(1).integers(0, 5, 100)).set(
    pl.Series(np.arange(100) % 9 == 4), None
)


@pytest.mark.parametrize(
    ("original", "released"),
    [
        (CELLS, CELLS + 1),
        (CELLS.cast(pl.String), CELLS.cast(pl.String) + "x"),
        (CELLS.cast(pl.String).cast(pl.Categorical), CELLS.cast(pl.String)),
        (CELLS > 2, (CELLS > 1).cast(pl.String).str.to_uppercase()),
        (CELLS, CELLS.cast(pl.Float64)),
        (CELLS.cast(pl.Float64), pl.Series(np.where(np.arange(100) < 50, 1e17, 0.5))),
        (CELLS, CELLS.head(0)),
    ],
)
def test_blocks_do_not_matter(
    original: pl.Series, released: pl.Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ColumnSpec(name="x", kind="category", missing_codes=("3",))
    if original.dtype.is_numeric():
        spec = ColumnSpec(name="x", kind="category", missing_codes=(3,))
    whole = code_column(original, released, spec)
    monkeypatch.setattr(coding, "_ROWS", 7)
    found = code_column(original, released, spec)
    assert not isinstance(whole, str)
    assert not isinstance(found, str)
    assert found.levels == whole.levels
    np.testing.assert_array_equal(found.original, whole.original)
    np.testing.assert_array_equal(found.released, whole.released)
    assert (found.original < 0).sum() >= original.null_count()
