"""Units whose rows stand side by side, just long enough to be released from files."""

from __future__ import annotations

import numpy as np
import polars as pl

__all__ = ["households", "waves"]


def waves(n_units: int, n_waves: int, seed: int = 0) -> pl.DataFrame:
    """Return the same few waves of everybody, in no order; columns of several kinds, some missing.

    A total follows from two others within each wave.
    """
    draw = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n_units), n_waves)
    n = unit.size
    wave = np.tile(np.arange(n_waves), n_units)
    level = draw.normal(size=n_units)
    y = level[unit] + 0.3 * wave + draw.normal(0, 0.5, n)
    part, more = draw.integers(0, 25, (2, n)).astype(float)
    frame = pl.DataFrame(
        {
            "person": 1000 + 7 * unit,
            "wave": 2001 + 2 * wave,
            "born": (1960 + 12 * draw.normal(size=n_units)).round().astype(int)[unit],
            "sex": draw.choice(["f", "m"], n_units)[unit],
            "mood": pl.Series(np.where(draw.random(n) < 0.05, np.nan, y), nan_to_null=True),
            "at_work": y + draw.normal(size=n) > 0.0,
            "part": part,
            "more": more,
            "total": part + more,
        }
    )
    return frame[draw.permutation(n)]


def households(n_units: int, seed: int = 0) -> pl.DataFrame:
    """Return heads of households, partners of most and up to three children, in no order.

    No child works, and none has been to a school."""
    draw = np.random.default_rng(seed)
    partner = draw.random(n_units) < 0.7
    children = draw.choice([0, 1, 2, 3], n_units, p=[0.5, 0.25, 0.2, 0.05])
    children[:4] = 9  # too few to be hidden
    sizes = 1 + partner + children
    unit = np.repeat(np.arange(n_units), sizes)
    number = np.arange(unit.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    grown = (number == 0) | ((number == 1) & partner[unit])
    role = np.where(number == 0, "head", np.where(grown, "partner", "child"))
    n = unit.size
    age = np.where(grown, 45 + 11 * draw.normal(size=n), draw.integers(0, 18, n))
    rent = np.exp(6.5 + 0.3 * draw.normal(size=n_units)).round(2)
    income = np.where(grown, np.exp(7.5 + 0.4 * draw.normal(size=n)), np.nan)
    frame = pl.DataFrame(
        {
            "house": [f"H{number:06}" for number in unit],
            "role": role,
            "rent": rent[unit],
            "region": draw.choice(["north", "south", "west"], n_units)[unit],
            "age": age.clip(0, None).round().astype(int),
            "income": pl.Series(income.round(1), nan_to_null=True),
            "works": grown & (draw.random(n) < 0.6),
            "school": pl.Series(
                np.where(grown, draw.choice(["none", "trade", "degree"], n), "none")
            ).cast(pl.Enum(["none", "trade", "degree"])),
            "passport": [f"P{number:07}" for number in draw.permutation(n)],
        }
    )
    return frame[draw.permutation(n)]
