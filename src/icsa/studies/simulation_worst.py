"""Where outliers are hidden worst: quantiles of the ORE, and the cells in which they are lowest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.studies.simulation import CELL

__all__ = ["RULE", "WorstCell", "ore_quantiles", "worst_cells"]

_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95)
_LOW = "ore_5%"
_EACH = 3

RULE = (
    "A mean hides how bad the bad releases are. Shown is the ORE of every repetition, for the "
    "worst cells by this rule: at the largest severity (with small ones nobody stands out), the "
    f"{_EACH} cells in which SA's 5% quantile of ORE is lowest, and the {_EACH} in which the best "
    "method's is lowest, where nobody hides the outliers well. Cells in which a method of the "
    "figure cannot be estimated are left out. A curve says in which share of the repetitions the "
    "ORE is at most the value below it: the lower and farther right, the better."
)


@dataclass(frozen=True)
class WorstCell:
    """A cell, and why it was chosen."""

    scenario: int
    n: int
    columns: int
    severity: int
    why: str


def ore_quantiles(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the quantiles of the ORE over the repetitions, for every cell and method.

    Examples
    --------
    >>> raw = {"scenario": [1] * 3, "n": [9] * 3, "columns": [2] * 3, "severity": [4] * 3,
    ...        "method": ["sa"] * 3, "ore": [0.1, 0.3, 0.2]}
    >>> ore_quantiles(raw).select("ore_min", "ore_50%").row(0)
    (0.1, 0.2)
    """
    frame = pl.DataFrame(raw).with_columns(pl.col("ore").fill_nan(None))
    return frame.group_by([*CELL, "method"], maintain_order=True).agg(
        pl.col("ore").min().alias("ore_min"),
        *(
            pl.col("ore").quantile(share, "linear").alias(f"ore_{100 * share:g}%")
            for share in _QUANTILES
        ),
    )


def worst_cells(quantiles: pl.DataFrame, scenario: int, methods: Sequence[str]) -> list[WorstCell]:
    """Return the cells of a scenario in which outliers are hidden worst, by `RULE`.

    Parameters
    ----------
    quantiles : DataFrame
        From `ore_quantiles`.
    scenario : int
    methods : sequence of str
        Those that count.
    """
    rows = quantiles.filter(pl.col("scenario") == scenario, pl.col("method").is_in(list(methods)))
    rows = rows.filter(pl.col("severity") == rows["severity"].max())
    known = rows.filter((pl.col(_LOW).count() == len(methods)).over(CELL))
    spectral = known.filter(pl.col("method") == "sa")
    best = known.group_by(CELL, maintain_order=True).agg(pl.col(_LOW).max())
    chosen: dict[tuple[int, int, int, int], list[str]] = {}
    for table, why in ((spectral, "sa"), (best, "the best method")):
        for row in table.sort(_LOW, *CELL).head(_EACH).select(CELL).rows():
            chosen.setdefault(row, []).append(why)
    return [
        WorstCell(*cell, f"worst for {' and '.join(reasons)}") for cell, reasons in chosen.items()
    ]
