"""Levels from files take a few columns of memory, however many there are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa.columns import ColumnSpec, fit_column
from icsa.release.blocks.block_masking import decode_column
from icsa.release.blocks.block_planning import encode_column
from icsa.release.blocks.scratch import Scratch
from icsa.release.encoding import Encoding, encoding_from, presence_of

N_ROWS, N_LEVELS = 400_000, 30


@pytest.mark.parametrize("gaps", [False, True])
def test_levels_are_decoded_as_in_memory_within_a_few_columns(tmp_path: Path, gaps: bool):
    draw = np.random.default_rng(1)
    cells = pl.Series("town", [f"town {k}" for k in draw.integers(0, N_LEVELS, N_ROWS)])
    if gaps:
        cells = cells.set(pl.Series(draw.random(N_ROWS) < 0.2), None)
    column = fit_column(cells, ColumnSpec(name="town", kind="category"))
    numbers = column.numbers(cells)
    encoding = encoding_from(
        {"town": column}, {"town": presence_of(column, numbers)}, keep_quantiles=True
    )
    scratch = Scratch(tmp_path, N_ROWS)
    scratch.write("numbers", 0, numbers)
    ((part, indicator),) = encoding.indicated
    held = columns_held(lambda: encode_column(scratch, part, ("numbers", 0), indicator))
    assert held < N_LEVELS / 5  # a block of all levels, twice
    scores = np.nan_to_num(scratch.rows("raw", range(encoding.n_scores), slice(0, N_ROWS)))
    scores += draw.normal(size=scores.shape)
    for j in range(encoding.n_scores):
        scratch.write("back", j, scores[:, j])
    held = columns_held(lambda: decode_column(scratch, 0, part, encoding))
    assert held < 4 + N_LEVELS / 10
    np.testing.assert_array_equal(scratch.column("decoded", 0), decoded(encoding, scores))


def decoded(encoding: Encoding, scores: np.ndarray) -> np.ndarray:
    """Return the numbers that a release in memory has."""
    return encoding.decode(scores)["town"]


def columns_held(work: Callable[[], object]) -> float:
    """Return how many columns of numbers work holds at its widest, once kernels are loaded."""
    work()
    tracemalloc.start()
    try:
        work()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / (8 * N_ROWS)
