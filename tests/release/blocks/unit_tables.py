"""Tables with several rows a person, just long enough to be released from files."""

from __future__ import annotations

import numpy as np
import polars as pl

__all__ = ["few_visits_each", "pupils", "visits_of_many"]


def visits_of_many(n_units: int = 31_000, seed: int = 0, *, dated: bool = False) -> pl.DataFrame:
    """Return visits at irregular times, in no order: columns of all kinds on both levels.

    A total follows from two others; some cells are missing; the last level is at the end only.
    """
    draw = np.random.default_rng(seed)
    sizes = np.minimum(draw.geometric(0.14, n_units), 16)
    unit = np.repeat(np.arange(n_units), sizes)
    n = unit.size
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    gaps = np.rint(draw.lognormal(4.0, 0.5, n)) + 1.0
    gaps[starts] = 0.0
    day = np.cumsum(gaps) - np.repeat(np.cumsum(gaps)[starts], sizes)
    last = day[np.cumsum(sizes) - 1]
    followed = last + draw.integers(0, 200, n_units)
    age = draw.integers(25, 80, n_units)
    level = draw.normal(0.02 * (age - 50), 0.8, n_units)
    slope = draw.normal(0.15, 0.1, n_units)
    y = level[unit] + slope[unit] * day / 365.0 + draw.normal(0, 0.3, n)
    arm = draw.choice(["drug", "placebo", "none"], n_units, p=[0.5, 0.3, 0.2])
    part, more = draw.integers(0, 25, (2, n)).astype(float)
    ward = draw.choice(["north", "south", "west"], n, p=[0.6, 0.3, 0.1])
    ward[-40:-20] = "only at the end"
    weight = np.where(draw.random(n_units) < 0.08, np.nan, (70 + 9 * draw.normal(size=n_units)))
    frame = pl.DataFrame(
        {
            "patient": 1000 + 7 * unit,
            "day": day.astype(np.int64),
            "followed": followed[unit].astype(np.int64),
            "age": age[unit],
            "arm": arm[unit],
            "kg": pl.Series(weight.round(1)[unit], nan_to_null=True),
            "crp": np.exp(y).round(2),
            "albumin": pl.Series(
                np.where(draw.random(n) < 0.1, np.nan, 3.6 - 0.15 * y + draw.normal(0, 0.2, n)),
                nan_to_null=True,
            ),
            "pain": np.clip(np.rint(2 + 0.5 * y + draw.normal(0, 0.8, n)), 0, 4).astype(np.int64),
            "flare": y + draw.normal(size=n) > 1.0,
            "ward": ward,
            "drinks": np.where(
                (draw.random(n) < 0.4) | (arm[unit] == "none"), 0.0, draw.poisson(4.0, n)
            ),
            "part": part,
            "more": more,
            "total": part + more,
        }
    )
    if dated:
        began = 15_000 + draw.integers(0, 900, n_units)[unit]
        frame = frame.with_columns(
            day=pl.Series((began + day).astype(np.int32)).cast(pl.Date),
            followed=pl.Series((began + followed[unit]).astype(np.int32)).cast(pl.Date),
        )
    return frame[draw.permutation(n)]


def few_visits_each(n_units: int, seed: int = 0) -> pl.DataFrame:
    """Return one to three visits each of many people, in no order, at irregular times.

    What a person had at first follows from the visits; cells of both levels are missing.
    """
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 4, n_units)
    unit, n = np.repeat(np.arange(n_units), sizes), int(sizes.sum())
    starts = np.cumsum(sizes) - sizes
    gaps = np.rint(draw.lognormal(4.0, 0.5, n)) + 1.0
    gaps[starts] = 0.0
    day = np.cumsum(gaps) - np.repeat(np.cumsum(gaps)[starts], sizes)
    followed = day[starts + sizes - 1] + draw.integers(0, 200, n_units)
    level = draw.normal(size=n_units)
    y = level[unit] + draw.normal(0.15, 0.1, n_units)[unit] * day / 50.0 + draw.normal(0, 0.3, n)
    crp = np.exp(y).round(2)
    kg = np.where(draw.random(n_units) < 0.08, np.nan, (70 + 9 * level).round(1))
    albumin = np.where(draw.random(n) < 0.1, np.nan, 3.6 - 0.15 * y + draw.normal(0, 0.2, n))
    frame = pl.DataFrame(
        {
            "patient": 1000 + 7 * unit,
            "day": day.astype(np.int64),
            "followed": followed[unit].astype(np.int64),
            "arm": draw.choice(["drug", "placebo", "none"], n_units, p=[0.5, 0.3, 0.2])[unit],
            "kg": pl.Series(kg[unit], nan_to_null=True),
            "at_first": crp[starts][unit],
            "crp": crp,
            "albumin": pl.Series(albumin, nan_to_null=True),
            "flare": y + draw.normal(size=n) > 1.0,
        }
    )
    return frame[draw.permutation(n)]


def pupils(n_schools: int = 4_000, seed: int = 0) -> pl.DataFrame:
    """Return pupils of schools, without a time; a school's mean and size follow from them."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(30, 75, n_schools)
    school = np.repeat(np.arange(n_schools), sizes)
    ses = draw.normal(0.4 * draw.normal(size=n_schools)[school], 0.7).round(3)
    means = np.bincount(school, ses) / sizes
    maths = 12 + 3 * ses + 2 * means[school] + draw.normal(0, 5, school.size)
    return pl.DataFrame(
        {
            "school": [f"S{number:05}" for number in school],
            "sector": draw.choice(["public", "church"], n_schools)[school],
            "founded": (1900 + 40 * draw.normal(size=n_schools)).round().astype(int)[school],
            "mean_ses": means.round(4)[school],
            "pupils": sizes[school],
            "ses": ses,
            "maths": maths.round(2),
            "minority": draw.random(school.size) < 0.3,
        }
    )
