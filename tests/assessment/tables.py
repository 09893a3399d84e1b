"""Small tables for tests of the assessment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.privacy import passport

NAMES = tuple("abcdefghij")


def normal_table(n: int = 150, p: int = 5, seed: int = 0) -> pl.DataFrame:
    """Return correlated normal columns."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).normal(size=(p, p))
    return pl.DataFrame(rng.normal(size=(n, p)) @ mixing, schema=list(NAMES[:p]))


def with_outlier(frame: pl.DataFrame, deviations: float) -> pl.DataFrame:
    """Return the table with one row, the last, moved away in all columns."""
    x = frame.to_numpy().copy()
    direction = np.random.default_rng(7).normal(size=x.shape[1])
    direction /= np.linalg.norm(direction)
    x[-1] = x.mean(axis=0) + deviations * x.std(axis=0) * direction * np.sqrt(x.shape[1])
    return pl.DataFrame(x, schema=frame.columns)


def people(n: int = 150, seed: int = 0) -> pl.DataFrame:
    """Return a mixed table: identifiers, numbers, categories, an ordinal column, missing cells."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 15, n)
    kilograms = 70 + 0.4 * (age - 50) + rng.normal(0, 9, n)
    return pl.DataFrame(
        {
            "patient_id": [f"NL-{code}" for code in rng.choice(90_000, n, replace=False) + 10_000],
            "age": age.round(3),
            "kg": pl.Series(kilograms.round(3)).set(pl.Series(rng.random(n) < 0.1), None),
            "pressure": (120 + 0.5 * age + rng.normal(0, 8, n)).round(2),
            "pulse": rng.normal(70, 9, n).round(2),
            "visits": rng.poisson(4, n) + 10,
            "ward": rng.choice(["north", "south", "east"], n),
            "sex": rng.choice(["f", "m"], n),
            "pain": pl.Series(
                rng.choice(["none", "some", "much"], n), dtype=pl.Enum(["none", "some", "much"])
            ),
        }
    )


def break_the_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the assessment's own test come out wrong: an exact copy looks safe."""
    true_ends = passport.ends_of_the_scale

    def wrong_ends(*arguments: Any, **options: Any) -> Any:
        copied, apart = true_ends(*arguments, **options)
        return replace(copied, word="release", right=False, why="copies look safe"), apart

    monkeypatch.setattr(passport, "ends_of_the_scale", wrong_ends)
