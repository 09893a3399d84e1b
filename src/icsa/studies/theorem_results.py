"""What the theorem's study found: a table, a figure, claims with a yes or no."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from icsa.jobs import Work, read_parts
from icsa.studies.figures import save_figure, theorem_figure
from icsa.studies.pages import Claim, Section, write_page, write_tables

__all__ = ["claims", "summary", "write_results"]

_CELL = ["n", "columns", "distance", "bound", "method"]
_INTRODUCTION = (
    "n rows lie within distance 1 of the origin, one row at distance H. For SA the squared "
    "distance from it to the nearest released row is at most 2(p - 1){(n - 4) + 4H}, whatever the "
    "permutations, once H > n + 2: relative to its own squared length it falls like 1/H. "
    "Tyler's shape around the mean is steered through the mean, so hr-tyler falls as well.",
)
_CELLS = (
    "Over tables and releases: the least, the median of the tables' means, the largest, and the "
    "largest with the worst permutation that was searched for. The least is 0 up to rounding where "
    "chance put all scores of the outlier together again, with few columns and any method."
)


def summary(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return a row for every cell and method: over all tables and releases."""
    return (
        pl.DataFrame(raw)
        .group_by(_CELL, maintain_order=True)
        .agg(
            pl.col("lowest").min(),
            pl.col("mean").median().alias("median"),
            pl.col("highest").max(),
            pl.col("adversarial").max(),
        )
    )


def claims(found: pl.DataFrame) -> list[Claim]:
    """Return what the theorem says, and what was seen of the robust pairs, with a yes or no."""
    spectral = found.filter(pl.col("method") == "sa")
    robust = found.filter(pl.col("method") != "sa")
    words = "slopes on log scales {:.2f} to {:.2f}"
    result = []
    if not spectral.is_empty():
        worst = pl.max_horizontal("highest", "adversarial")
        under = spectral.filter(worst <= pl.col("bound")).height
        text = "SA: the nearest released row is under the bound, whatever the permutations."
        detail = f"{under} of {spectral.height} cells"
        result.append(Claim(text, under == spectral.height, detail))
        least, largest = _slopes(spectral, "adversarial")
        text = "SA: the largest value falls like 1/H or faster."
        result.append(Claim(text, largest < -0.8, words.format(least, largest)))
    for method in robust["method"].unique(maintain_order=True):
        least, largest = _slopes(robust.filter(pl.col("method") == method), "median")
        text = f"{method}: the typical value does not fall with H."
        result.append(Claim(text, least > -0.2, words.format(least, largest)))
    return result


def _slopes(found: pl.DataFrame, column: str) -> tuple[float, float]:
    """Return the least and largest slope over the sizes of log(column) against log(distance)."""
    slopes = []
    for _, cell in found.group_by(["n", "columns"], maintain_order=True):
        distances, values = (np.log(cell[name].to_numpy()) for name in ("distance", column))
        slopes.append(float(np.polyfit(distances, values, 1)[0]))
    return min(slopes), max(slopes)


def write_results(study: Work, out: Path) -> None:
    """Write summary.csv, claims.csv, the figure and report.html into the study's folder."""
    found = summary(read_parts(study, out))
    write_tables(out, summary=found)
    figure = save_figure(theorem_figure(found), out / "figures", "theorem")
    caption = "Median over tables of the mean over releases; dashed: the worst permutation."
    sections = [
        Section("One outlier moves away", figure=figure, caption=caption),
        Section("All cells", _CELLS, found),
    ]
    title = "Theorem: spectral anonymization copies a far outlier"
    write_page(out, title, _INTRODUCTION, sections, claims(found))
