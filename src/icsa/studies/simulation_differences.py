"""Paired differences between methods of the simulation, with their intervals, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from icsa.studies.named_methods import PAPER_MASK, method_of
from icsa.studies.simulation import CELL

__all__ = ["MEASURES", "decorrelation", "differences", "remasking", "with_nulls"]

# What is averaged and compared.
MEASURES = ("ore", "loss", "reassembled")
# Normal quantile of a two-sided 95% interval.
_Z = 1.959963984540054


def with_nulls(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the rows of all repetitions as a table; what is not a number is missing."""
    frame = pl.DataFrame(raw)
    return frame.with_columns(pl.col(*MEASURES, "guess").fill_nan(None))


def differences(raw: dict[str, np.ndarray], to: str = "sa") -> pl.DataFrame:
    """Return, for every cell and other method, the paired differences to one method.

    Methods of one repetition see the same data, so the differences vary less than the values.
    """
    methods = [method for method in _methods(raw) if method != to]
    return _paired(raw, [(method, to) for method in methods]).drop("to")


def decorrelation(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the paired differences of every decorrelated method to the plain one.

    ``method`` is the plain one.
    """
    methods = [method_of(name) for name in _methods(raw)]
    pairs = [(method.name, method.plain_name) for method in methods if method.decorrelate]
    return _paired(raw, pairs).with_columns(pl.col("to").alias("method")).drop("to")


def remasking(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the paired differences of methods with another mask to the published ones.

    A method whose mask is not the paper's is compared ``to`` the one that has the paper's and else
    the same scatters: plain, which is what was published, and decorrelated if it is so itself.
    """
    methods = [method_of(name) for name in _methods(raw)]
    pairs = [
        (method.name, other.name)
        for method in methods
        for other in methods
        if method.mask != PAPER_MASK == other.mask
        and method.scatters == other.scatters
        and method.decorrelate >= other.decorrelate
    ]
    return _paired(raw, pairs)


def _methods(raw: dict[str, np.ndarray]) -> list[str]:
    return list(dict.fromkeys(raw["method"].tolist()))


def _paired(raw: dict[str, np.ndarray], pairs: list[tuple[str, str]]) -> pl.DataFrame:
    """Return the mean of method minus ``to`` with its interval, for every pair and cell."""
    frame = with_nulls(raw).select(*CELL, "repetition", "method", *MEASURES)
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
        (pl.col(name) - pl.col(f"{name}_other")).alias(name) for name in MEASURES
    )
    return gaps.group_by([*CELL, "method", "to"], maintain_order=True).agg(
        statistic for name in MEASURES for statistic in _interval(name)
    )


def _interval(name: str) -> Iterable[pl.Expr]:
    error = pl.col(name).std() / pl.col(name).count().sqrt()
    return (
        pl.col(name).mean().alias(name),
        (pl.col(name).mean() - _Z * error).alias(f"{name}_low"),
        (pl.col(name).mean() + _Z * error).alias(f"{name}_high"),
    )
