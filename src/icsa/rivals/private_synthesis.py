"""Differentially private synthesis: noisy tables of a few columns each, by OpenDP's AIM."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.rivals.base import Cells, within_column

__all__ = ["EPSILON", "draw_privately"]

# The promise: one person more or less changes the odds of any table by a factor of e^5 at most.
EPSILON = 5.0
# Bins of a quantity: more would leave fewer people, and so more noise, in each.
_BINS = 16


def draw_privately(cells: Cells, generator: np.random.Generator) -> dict[str, Vector]:
    """Return people drawn from a law that fits noisy counts of few columns at a time (AIM).

    Quantities are cut into 16 bins between their smallest and largest number, and drawn evenly
    within a bin. The edges of bins and the levels are taken as known to all: epsilon is what the
    counts spend. The noise is the operating system's, so that `generator`, which places numbers
    within their bins, does not repeat a table.

    References
    ----------
    R. McKenna, B. Mullins, D. Sheldon, G. Miklau (2022). AIM: an adaptive and iterative mechanism
    for differentially private synthetic data. Proceedings of the VLDB Endowment 15, 2599-2612.
    """
    dp = _library()
    edges = {
        name: _edges(numbers, quantity=cells.columns[name].levels is None)
        for name, numbers in cells.numbers.items()
    }
    # OpenDP has a column "len" of its own, so that names are numbers here.
    places = {name: f"c{place}" for place, name in enumerate(edges)}
    coded = [
        pl.Series(places[name], _codes(numbers, edges[name]), dtype=pl.Int64)
        for name, numbers in cells.numbers.items()
    ]
    keys = {places[name]: list(range(max(1, found.size - 1))) for name, found in edges.items()}
    drawn = _released(dp, pl.DataFrame(coded), keys, cells.n_rows)
    return {
        name: _numbers(drawn[places[name]], cells, name, edges[name], generator)
        for name in cells.numbers
    }


def _library() -> Any:
    try:
        import mbi  # noqa: F401
        import opendp.prelude as dp
    except ImportError:
        raise InputError(
            "Differentially private synthesis needs OpenDP: pip install 'icsa[dp]'"
        ) from None
    dp.enable_features("contrib")
    return dp


def _edges(numbers: Vector, *, quantity: bool) -> Vector:
    """Return the edges of bins; of levels, their positions and one more."""
    known = numbers[~np.isnan(numbers)]
    if quantity and known.size and np.ptp(known) > 0.0:
        return np.linspace(known.min(), known.max(), _BINS + 1)
    levels = np.unique(known)
    return np.append(levels, levels[-1] + 1.0) if levels.size else levels


def _codes(numbers: Vector, edges: Vector) -> list[int | None]:
    """Return the bin of every number; None for a missing one."""
    found = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, max(0, edges.size - 2))
    missing = np.isnan(numbers)
    return [None if gone else int(code) for code, gone in zip(found, missing, strict=True)]


def _released(dp: Any, frame: pl.DataFrame, keys: dict[str, list[int]], rows: int) -> pl.DataFrame:
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
    )
    table = context.query().contingency_table(keys=keys, algorithm=dp.mbi.AIM()).release()
    drawn: pl.DataFrame = table.synthesize(rows=rows, method="sample")
    return drawn


def _numbers(
    codes: pl.Series, cells: Cells, name: str, edges: Vector, generator: np.random.Generator
) -> Vector:
    """Return numbers within bins, or positions of levels.

    Noise makes some cells missing where none was: they get the cell of another drawn row.
    """
    column, missing = cells.columns[name], codes.is_null().to_numpy().copy()
    found = codes.fill_null(0).to_numpy().copy()
    if missing.any() and not missing.all() and not np.isnan(cells.numbers[name]).any():
        found[missing] = generator.choice(found[~missing], int(missing.sum()))
        missing[:] = False
    if not edges.size:
        return np.full(found.size, np.nan)
    low, high = edges[found], edges[np.minimum(found + 1, edges.size - 1)]
    if column.levels is not None:
        return np.where(missing, np.nan, low)
    cut = edges.size == _BINS + 1
    placed = low + (high - low) * generator.random(found.size) if cut else low
    return np.where(missing, np.nan, within_column(placed, column))
