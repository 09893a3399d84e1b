"""Tables of the simulation: means, paired differences with intervals, and quantiles of the ORE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from icsa.studies.named_methods import PAPER_MASK, Method, method_of
from icsa.studies.simulation import CELL

__all__ = [
    "WORST_CELLS",
    "decorrelation",
    "differences",
    "ore_quantiles",
    "remasking",
    "summary",
    "worst_cells",
]

# What is averaged and compared.
_MEASURES = ("ore", "loss", "reassembled")
# Normal quantile of a two-sided 95% interval.
_NORMAL = 1.959963984540054
# A guess within this share of somebody's squared length is near.
_NEAR = 0.1
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95)
_LOW = "ore_5%"
_EACH = 3

WORST_CELLS = (
    "A mean hides how bad the bad releases are. Shown is the ORE of every repetition, for the "
    "worst cells by this rule: at the largest severity (with small ones nobody stands out), the "
    f"{_EACH} cells in which SA's 5% quantile of ORE is lowest, and the {_EACH} in which the best "
    "method's is lowest, where nobody hides the outliers well. Cells in which a method of the "
    "figure cannot be estimated are left out. A curve says in which share of the repetitions the "
    "ORE is at most the value below it: the lower and farther right, the better."
)


def summary(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return a row for every cell and method: means, standard errors, medians, what is missing.

    ``attacked`` counts the releases that have a reassembled ORE, ``ore_attacked`` is the mean ORE
    of these alone. ``guesses`` counts those for which the attack made a guess at all;
    ``guess_median`` is the median error of these, ``guessed_near`` the share of attacked releases
    whose guess is within a tenth of the outlier's squared length.
    """
    frame = _with_nulls(raw).with_columns(pl.col("reason").replace("", None))
    attacked = pl.col("reassembled").count()
    return frame.group_by([*CELL, "method"], maintain_order=True).agg(
        pl.len().alias("repetitions"),
        *(
            statistic
            for name in _MEASURES
            for statistic in (
                pl.col(name).mean().alias(name),
                (pl.col(name).std() / pl.col(name).count().sqrt()).alias(f"{name}_se"),
                pl.col(name).median().alias(f"{name}_median"),
            )
        ),
        attacked.alias("attacked"),
        pl.col("ore").filter(pl.col("reassembled").is_not_null()).mean().alias("ore_attacked"),
        pl.col("guess").count().alias("guesses"),
        pl.col("guess").median().alias("guess_median"),
        pl.when(attacked > 0)
        .then((pl.col("guess") < _NEAR).sum() / attacked)
        .alias("guessed_near"),
        pl.col("reason").count().alias("not_estimable"),
        pl.col("reason").drop_nulls().mode().sort().first().alias("reason"),
    )


def _with_nulls(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the rows of all repetitions as a table; what is not a number is missing."""
    frame = pl.DataFrame(raw)
    return frame.with_columns(pl.col(*_MEASURES, "guess").fill_nan(None))


def differences(raw: dict[str, np.ndarray], to: str = "sa") -> pl.DataFrame:
    """Return, for every cell and other method, the paired differences to one method.

    Methods of one repetition see the same data, so the differences vary less than the values.
    """
    pairs = [(method.name, to) for method in _methods(raw) if method.name != to]
    return _paired(raw, pairs).drop("to")


def decorrelation(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the paired differences of every decorrelated method to the plain one.

    ``method`` is the plain one.
    """
    pairs = [(method.name, method.plain_name) for method in _methods(raw) if method.decorrelate]
    return _paired(raw, pairs).with_columns(pl.col("to").alias("method")).drop("to")


def remasking(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the paired differences of methods with another mask to the published ones.

    A method whose mask is not the paper's is compared ``to`` the one that has the paper's and else
    the same scatters: plain, which is what was published, and decorrelated if it is so itself.
    """
    methods = _methods(raw)
    pairs = [
        (method.name, other.name)
        for method in methods
        for other in methods
        if method.mask != PAPER_MASK == other.mask
        and method.scatters == other.scatters
        and method.decorrelate >= other.decorrelate
    ]
    return _paired(raw, pairs)


def _methods(raw: dict[str, np.ndarray]) -> list[Method]:
    return [method_of(name) for name in dict.fromkeys(raw["method"].tolist())]


def _paired(raw: dict[str, np.ndarray], pairs: list[tuple[str, str]]) -> pl.DataFrame:
    """Return the mean of method minus ``to`` with its interval, for every pair and cell."""
    frame = _with_nulls(raw).select(*CELL, "repetition", "method", *_MEASURES)
    named = pl.DataFrame(pairs, schema={"method": pl.String, "to": pl.String}, orient="row")
    left = frame.join(named, on="method", maintain_order="left_right")
    both = left.join(
        frame,
        left_on=[*CELL, "repetition", "to"],
        right_on=[*CELL, "repetition", "method"],
        suffix="_other",
        maintain_order="left",
    )
    gaps = both.with_columns(
        (pl.col(name) - pl.col(f"{name}_other")).alias(name) for name in _MEASURES
    )
    error = {name: pl.col(name).std() / pl.col(name).count().sqrt() for name in _MEASURES}
    return gaps.group_by([*CELL, "method", "to"], maintain_order=True).agg(
        statistic
        for name in _MEASURES
        for statistic in (
            pl.col(name).mean().alias(name),
            (pl.col(name).mean() - _NORMAL * error[name]).alias(f"{name}_low"),
            (pl.col(name).mean() + _NORMAL * error[name]).alias(f"{name}_high"),
        )
    )


def ore_quantiles(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the quantiles of the ORE over the repetitions, for every cell and method."""
    frame = pl.DataFrame(raw).with_columns(pl.col("ore").fill_nan(None))
    return frame.group_by([*CELL, "method"], maintain_order=True).agg(
        pl.col("ore").min().alias("ore_min"),
        *(
            pl.col("ore").quantile(share, "linear").alias(f"ore_{100 * share:g}%")
            for share in _QUANTILES
        ),
    )


def worst_cells(quantiles: pl.DataFrame, scenario: int, methods: Sequence[str]) -> pl.DataFrame:
    """Return the cells of a scenario where these methods hide outliers worst, and why those."""
    rows = quantiles.filter(pl.col("scenario") == scenario, pl.col("method").is_in(list(methods)))
    rows = rows.filter(pl.col("severity") == rows["severity"].max())
    known = rows.filter((pl.col(_LOW).count() == len(methods)).over(CELL))
    spectral = known.filter(pl.col("method") == "sa")
    best = known.group_by(CELL, maintain_order=True).agg(pl.col(_LOW).max())
    chosen: dict[tuple[int, ...], list[str]] = {}
    for table, who in ((spectral, "sa"), (best, "the best method")):
        for cell in table.sort(_LOW, *CELL).head(_EACH).select(CELL).rows():
            chosen.setdefault(cell, []).append(who)
    found = [(*cell, f"worst for {' and '.join(who)}") for cell, who in chosen.items()]
    schema = {**{name: quantiles.schema[name] for name in CELL}, "why": pl.String()}
    return pl.DataFrame(found, schema, orient="row")
