"""Weights and strata of people with several rows: totals of both levels, nobody torn apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.columns import ColumnSpec, fit_column
from icsa.errors import InputError
from icsa.inspection.unit_rows import rows_of_units
from icsa.release.units.level_calibration import level_statistics
from icsa.release.weighted_totals import totalled, totals_of_both, wanted_totals
from tests.people_tables import balanced, clusters, households, visits

# For each table: how its rows are told apart, a column of its units and one of its rows.
Way = tuple[pl.DataFrame, dict[str, Any], str, str]
WAYS: dict[str, Way] = {
    "households": (households(200), {"unit": "household", "role": "role"}, "rooms", "age"),
    "visits": (visits(), {"unit": "id", "time": "day", "bound": "followed"}, "age", "crp"),
    "schools": (clusters(), {"unit": "school"}, "funds", "marks"),
    "balanced": (balanced(), {"unit": "subject", "time": "age"}, "sex", "mm"),
}


def weighed(frame: pl.DataFrame, unit: str, seed: int = 5) -> pl.DataFrame:
    """Return the table with a weight for every unit."""
    names = frame[unit].unique(maintain_order=True)
    weights = np.exp(np.random.default_rng(seed).normal(3.0, 0.6, names.len())).round(2)
    known = pl.DataFrame({unit: names, "w": weights})
    return frame.join(known, on=unit, how="left", maintain_order="left")


def values(frame: pl.DataFrame, column: str) -> np.ndarray:
    """Return the numbers of a column; those of a level are flags."""
    cells = frame[column]
    return (cells if cells.dtype.is_numeric() else cells == "m").cast(pl.Float64).to_numpy()


def totals(frame: pl.DataFrame, unit: str, of_unit: str, of_row: str) -> list[float]:
    """Return weighted numbers of units and rows, and totals of both."""
    first = frame.unique(unit, keep="first", maintain_order=True)
    weights = frame["w"].to_numpy()
    return [
        float(first["w"].sum()),
        float(weights.sum()),
        float(first["w"].to_numpy() @ values(first, of_unit)),
        float(weights @ values(frame, of_unit)),
        float(weights @ values(frame, of_row)),
    ]


@pytest.mark.parametrize("name", WAYS)
def test_totals_of_units_and_rows_are_those_of_the_original(name: str) -> None:
    frame, said, of_unit, of_row = WAYS[name]
    original = weighed(frame, said["unit"])
    made = icsa.anonymize(original, weight="w", random_state=1, **said)
    released = made.table
    assert released.schema == original.schema
    asked = said["unit"], of_unit, of_row
    np.testing.assert_allclose(totals(released, *asked), totals(original, *asked), rtol=1e-6)
    assert (released.group_by(said["unit"]).agg(pl.col("w").n_unique())["w"] == 1).all()
    assert released["w"].min() > 0.0  # type: ignore[operator]
    assert not set(released["w"]) & set(original["w"])
    told = next(change for change in made.columns if change.name == "w")
    assert told.how == "masked on a logarithmic scale, raked, one a unit"
    again = icsa.anonymize(original, weight="w", random_state=1, **said).table
    assert released.equals(again)


@pytest.mark.parametrize("name", WAYS)
def test_weights_of_rows_are_raked_by_row(name: str) -> None:
    frame, said, _, of_row = WAYS[name]
    drawn = np.exp(np.random.default_rng(3).normal(3.0, 0.5, frame.height))
    original = frame.with_columns(w=pl.Series(drawn))
    released = icsa.anonymize(original, weight="w", random_state=1, **said).table
    for found in (lambda t: t["w"].sum(), lambda t: float(t["w"].to_numpy() @ values(t, of_row))):
        assert found(released) == pytest.approx(found(original), rel=1e-6)
    assert (released.group_by(said["unit"]).agg(pl.col("w").n_unique())["w"] > 1).any()


def test_without_raking_the_sum_is_kept_and_a_unit_has_one_weight() -> None:
    original = weighed(visits(), "id")
    said = WAYS["visits"][1]
    made = icsa.anonymize(original, weight="w", raking=False, random_state=1, **said)
    assert made.table["w"].sum() == pytest.approx(original["w"].sum())
    found, wanted = (totals(t, "id", "age", "crp") for t in (made.table, original))
    assert abs(found[4] / wanted[4] - 1.0) > 1e-4
    assert (made.table.group_by("id").agg(pl.col("w").n_unique())["w"] == 1).all()


@pytest.mark.parametrize("name", ["households", "visits"])
def test_strata_keep_units_whole(name: str) -> None:
    frame, said, stratum = {
        "households": (households(420), WAYS["households"][1], "town"),
        "visits": (visits(220), WAYS["visits"][1], "sex"),
    }[name]
    unit = said["unit"]
    original = weighed(frame, unit)
    made = icsa.anonymize(original, weight="w", strata=stratum, random_state=1, **said)
    released = made.table
    by = [pl.col(unit).n_unique().alias("units")]
    both = [t.group_by(stratum).agg(by).sort(stratum) for t in (original, released)]
    assert both[0]["units"].equals(both[1]["units"])
    counts = released.group_by(unit).agg(pl.col("w", stratum).n_unique())
    assert (counts.drop(unit).to_numpy() == 1).all()
    assert not set(released[unit]) & set(original[unit])
    runs = released[unit].rle_id().max()  # rows of a unit stand together
    assert runs == released[unit].n_unique() - 1  # type: ignore[comparison-overlap]
    assert int(released[stratum].rle_id().max() or 0) > 20  # type: ignore[call-overload]
    assert made.units is not None
    assert made.units.n_units == original[unit].n_unique()
    assert (made.units.rows_before, made.units.rows_after) == (original.height, released.height)
    again = icsa.anonymize(original, weight="w", strata=stratum, random_state=1, **said).table
    assert released.equals(again)


def test_a_weight_that_a_stratum_has_stays_with_it() -> None:
    weights = {"N": 10.0, "S": 20.0, "E": 5.0, "W": 8.5}
    original = households(420).with_columns(w=pl.col("town").replace_strict(weights))
    said = WAYS["households"][1]
    released = icsa.anonymize(original, weight="w", strata="town", random_state=1, **said).table
    assert set(released.select("town", "w").rows()) == set(weights.items())


def test_what_cannot_be_released_in_strata_is_said() -> None:
    frame, said = households(150), WAYS["households"][1]
    with pytest.raises(InputError, match=r"'woman' is a stratum, but varies within \d+ of 150"):
        icsa.anonymize(frame, strata="woman", random_state=1, **said)
    rare = frame.with_columns(
        town=pl.when(pl.col("household") < 9).then(pl.lit("rare")).otherwise(pl.lit("other"))
    )
    with pytest.raises(InputError, match=r"Stratum number 1 of 2 has \d+ rows of 9 units"):
        icsa.anonymize(rare, strata="town", random_state=1, **said)


def test_totals_by_hand() -> None:
    frame = pl.DataFrame(
        {"home": [1, 2, 1, 1], "rooms": [3.0, 5.0, 3.0, 3.0], "age": [40.0, 70.0, 8.0, 5.0]}
    )
    columns = {
        name: fit_column(frame[name], ColumnSpec(name=name, kind="continuous"))
        for name in ("rooms", "age")
    }
    homes, totals = rows_of_units(frame["home"]), wanted_totals(columns, {"rooms"})
    found = list(totalled(totals, frame, homes))
    wanted = [[1, 1], [3, 1], [3, 5], [53, 70], [9, 5]]  # homes, people, rooms, ages, rooms a head
    np.testing.assert_allclose([part[:, 0] for part in found], wanted)
    assert [part.shape for part in totalled(wanted_totals(columns), frame, 4)] == [(4, 1)] * 3
    old, new = totals_of_both(totals, (frame, homes), (frame, homes))
    assert old.shape == new.shape == (2, 1)  # two homes bear one total


def test_weighted_statistics_are_those_of_units_repeated() -> None:
    rng = np.random.default_rng(4)
    sizes = rng.integers(2, 6, 30)
    view, x = rng.normal(size=(sizes.sum(), 3)), rng.normal(size=(30, 2))
    view[rng.random(view.shape) < 0.1] = np.nan
    times, design = rng.random(sizes.sum()), np.ones((sizes.sum(), 1))
    counts = rng.integers(1, 4, 30)
    rows = np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])
    again = np.repeat(np.arange(30), counts)
    many = np.concatenate([rows[unit] for unit in again])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    repeated = np.concatenate([[0], np.cumsum(sizes[again])])
    one = level_statistics(view, design, starts, x, times, counts.astype(float))
    other = level_statistics(view[many], design[many], repeated, x[again], times[many])
    np.testing.assert_allclose(one.between, other.between, rtol=1e-5)
    np.testing.assert_allclose(one.within, other.within, atol=1e-6)
    np.testing.assert_allclose(one.on_x, other.on_x, rtol=1e-4, atol=1e-6)
