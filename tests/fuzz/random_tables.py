"""Random tables just too long for memory alone, each with a random way to release it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from icsa.limits import LONG
from icsa.masks import MASKS
from icsa.recipes import RECIPES

__all__ = ["random_release", "random_table"]

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Draw = np.random.Generator

# From numbers that go with those of other columns.
_KINDS: tuple[Callable[[Numbers, Draw], Any], ...] = (
    lambda x, _: x,
    lambda x, _: np.exp(x.clip(-20, 20)).round(2),
    lambda x, _: np.rint(10 * x).astype(np.int64),
    lambda x, _: np.where(x > 1, x.round(1), 0.0),
    lambda x, _: np.where(np.abs(x) > 3, 9999.0, x.round(1)),
    lambda x, _: (1e9 + x).round(3),
    lambda x, _: np.clip((x + 2) / 6, 0, 1).round(2),
    lambda x, _: x > 0.5,
    lambda x, _: np.array(list("abcdefg"))[np.clip(np.rint(x + 3), 0, 6).astype(int)],
    lambda x, _: np.clip(np.rint(x + 2), 1, 5).astype(np.int64),
    lambda x, _: [f"town {place:.0f}" for place in np.rint(20 * np.abs(x)).clip(0, 40)],
    lambda x, _: pl.Series((18_000 + 100 * x).astype(np.int32)).cast(pl.Date),
    lambda x, _: pl.Series((1.6e15 + 1e12 * x).astype(np.int64)).cast(pl.Datetime("us")),
    lambda x, _: pl.Series((40_000 + 3_600 * x.clip(-9, 9)).astype(np.int64) * 10**9).cast(pl.Time),
    lambda x, draw: np.where(draw.random(x.size) < 3e-5, "odd", "usual"),
    lambda x, draw: draw.standard_cauchy(x.size),
    lambda x, _: np.full(x.size, 3.0),
    lambda x, _: np.arange(x.size) + 1_000,
)


def random_table(seed: int) -> pl.DataFrame:
    """Return two to eight columns of any kinds, some with gaps of their own or in common."""
    draw = np.random.default_rng(seed)
    n = LONG + int(draw.integers(1, 3_000))
    z = draw.normal(size=(n, 3))
    z[: n // 60] *= 6.0
    together = draw.random(n) < 0.2
    found: dict[str, pl.Series] = {}
    for number in range(int(draw.integers(2, 9))):
        x = z @ draw.normal(size=3) + 0.5 * draw.normal(size=n)
        x += z[:, 0] ** 2 * (draw.random() < 0.15)
        column = pl.Series(_KINDS[int(draw.integers(len(_KINDS)))](x, draw))
        numeric = [one for one in found.values() if one.dtype in (pl.Float64, pl.Int64)]
        if numeric and draw.random() < 0.1:
            column = numeric[0] + 2 * numeric[-1]  # what follows from others
        which = draw.random()
        if which < 0.4:
            gone = (
                together if which < 0.15 else draw.random(n) < draw.choice([1e-4, 0.02, 0.3, 0.97])
            )
            column = pl.select(pl.when(pl.lit(pl.Series(~gone))).then(pl.lit(column))).to_series()
        found[f"c{number}"] = column
    return pl.DataFrame([column.alias(name) for name, column in found.items()])


def random_release(seed: int, names: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how such a table is released: the options of methods, and all others."""
    draw = np.random.default_rng([seed, 1])
    method = draw.choice(["auto", "icsa", "sa", "forest"], p=[0.3, 0.3, 0.2, 0.2])
    options: dict[str, Any] = {"method": str(method)}
    if method == "sa":
        options["raw_units"] = bool(draw.random() < 0.3)
    if method in ("icsa", "sa") and draw.random() < 0.4:
        options["mask"] = str(draw.choice(list(MASKS)))
    said: dict[str, Any] = {"recipe": str(draw.choice(list(RECIPES)))}
    if draw.random() < 0.4:
        said[str(draw.choice(["keep", "drop"]))] = (str(draw.choice(names)),)
    return options, said
