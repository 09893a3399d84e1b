"""Weighted samples: totals, correlations that count people, strata each for itself."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.errors import InputError
from icsa.release.calibration import view_correlation
from icsa.release.raking import raked


def survey(n: int = 300, seed: int = 0) -> pl.DataFrame:
    """Return an invented sample in which small strata are drawn more often."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["A", "B", "C"], n, p=[0.4, 0.35, 0.25])
    level = np.select([kind == "A", kind == "B"], [0.0, 1.0], 2.5)
    income = np.exp(rng.normal(3.0 + 0.3 * level, 0.5, n)).round(1)
    age = np.clip(rng.normal(45 + 4 * level, 14, n), 18, 95).astype(int)
    return pl.DataFrame(
        {
            "kind": kind,
            "age": age,
            "income": income,
            "rent": (income * 0.3 + rng.normal(0, 2, n)).round(1),
            "owner": rng.random(n) < 1 / (1 + np.exp(1.0 - 0.5 * level)),
            "weight": np.select([kind == "A", kind == "B"], [40.0, 12.5], 3.25),
        }
    )


def totals(frame: pl.DataFrame) -> np.ndarray:
    """Return weighted totals of numbers and levels."""
    w = pl.col("weight")
    return np.array(
        frame.select(
            w.sum().alias("all"),
            (w * pl.col("age")).sum().alias("age"),
            (w * pl.col("income")).sum().alias("income"),
            (w * pl.col("owner")).sum().alias("owner"),
            (w * (pl.col("kind") == "B")).sum().alias("B"),
        ).row(0)
    )


def test_weighted_totals_are_those_of_the_original() -> None:
    original = survey()
    made = icsa.anonymize(original, weight="weight", random_state=1)
    np.testing.assert_allclose(totals(made.table), totals(original), rtol=1e-6)
    assert any("publishes" in warning for warning in made.warnings)
    assert made.table.schema == original.schema
    assert made.table["weight"].min() > 0.0  # type: ignore[operator]
    assert not set(made.table["weight"]) & set(original["weight"])


def test_without_raking_only_the_sum_is_kept() -> None:
    original = survey()
    made = icsa.anonymize(original, weight="weight", raking=False, random_state=1)
    found, wanted = totals(made.table), totals(original)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-9)
    assert np.abs(found / wanted - 1.0)[1:].max() > 1e-4
    assert not any("publishes" in warning for warning in made.warnings)


def test_correlations_of_people_not_rows_are_calibrated() -> None:
    original = survey(600, seed=2)
    wanted = _weighted_correlation(original)
    found = [
        _weighted_correlation(
            icsa.anonymize(original, weight="weight", raking=False, random_state=seed).table
        )
        for seed in range(4)
    ]
    assert abs(np.mean(found) - wanted) < 0.06


def _weighted_correlation(frame: pl.DataFrame) -> float:
    w = frame["weight"].to_numpy()
    return float(np.cov(frame.select("age", "income").to_numpy().T, aweights=w)[0, 1]) / float(
        np.sqrt(np.prod(np.diag(np.cov(frame.select("age", "income").to_numpy().T, aweights=w))))
    )


def test_strata_are_released_each_for_itself() -> None:
    original = survey(450).with_columns(person_id=pl.int_range(100, 100 + 450))
    made = icsa.anonymize(original, weight="weight", strata="kind", random_state=1)
    released = made.table
    assert released.schema == original.schema
    keys = ["kind", "weight"]  # constant in a stratum, and so they stay
    assert released.group_by(keys).len().sort(keys).equals(original.group_by(keys).len().sort(keys))
    assert released["person_id"].n_unique() == original.height
    assert not set(released["person_id"]) & set(original["person_id"])
    told = {change.name: change for change in made.columns}
    assert told["kind"].kind == "category"  # not one value for everybody
    assert told["kind"].how == "one value in each stratum, as it was"
    assert told["income"].how.startswith("masked")
    runs = int(released["kind"].rle_id().max() or 0)  # type: ignore[call-overload]
    assert runs > 100  # strata do not come one after the other
    means = [
        table.group_by("kind").agg(pl.col("income").mean()).sort("kind")["income"].to_numpy()
        for table in (original, released)
    ]
    np.testing.assert_allclose(means[0], means[1], rtol=0.12)


def test_what_cannot_be_done_is_said() -> None:
    small = survey(120).with_columns(
        kind=pl.when(pl.int_range(pl.len()) < 12).then(pl.lit("rare")).otherwise("kind")
    )
    with pytest.raises(InputError, match=r"Stratum number 1 of 4 has 12 rows"):
        icsa.anonymize(small, strata="kind", random_state=1)
    none = survey().with_columns(
        weight=pl.when(pl.int_range(pl.len()) < 3).then(0.0).otherwise("weight")
    )
    with pytest.raises(InputError, match="3 of 300 are not positive"):
        icsa.anonymize(none, weight="weight")


def test_a_seed_gives_the_same() -> None:
    for said in ({"weight": "weight"}, {"strata": "kind"}):
        first, again = (icsa.anonymize(survey(), random_state=3, **said).table for _ in range(2))  # type: ignore[arg-type]
        assert first.equals(again)


def test_weighted_correlations_are_those_of_rows_repeated() -> None:
    rng = np.random.default_rng(0)
    view = rng.normal(size=(40, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
    view[rng.random((40, 3)) < 0.2] = np.nan
    counts = rng.integers(1, 5, 40)
    repeated = view_correlation(np.repeat(view, counts, axis=0))
    np.testing.assert_allclose(view_correlation(view, counts.astype(float)), repeated, atol=1e-12)


def test_whole_weights_do_not_come_out_whole() -> None:
    whole = survey().with_columns(pl.col("weight").round().cast(pl.Int64))
    made = icsa.anonymize(whole, weight="weight", random_state=1).table
    np.testing.assert_allclose(totals(made), totals(whole), rtol=1e-6)
    pandas = icsa.anonymize(whole.to_pandas(), weight="weight", random_state=1).table
    assert pandas["weight"].to_list() == made["weight"].to_list()


def test_raking_holds_each_weight_within_its_ratio() -> None:
    rng = np.random.default_rng(1)
    weights, flag = rng.uniform(1, 9, 200), (rng.random(200) < 0.2).astype(float)
    values = np.column_stack([np.ones(200), flag])
    total = weights.sum()
    found, off = raked(weights, values, np.array([total, 0.3 * total]))
    assert off < 1e-9
    np.testing.assert_allclose(found @ values, [total, 0.3 * total])
    far, off = raked(weights, values, np.array([total, 0.99 * total]))
    assert off > 0.01
    assert (far / weights).min() >= 0.2 - 1e-9
    assert (far / weights).max() <= 5.0 + 1e-9
