"""Weights of people with several rows, from files: the cells and the account as in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.limits import LONG
from icsa.release import Release, anonymize

from .tables import released_in_blocks, require_the_same, stored
from .unit_tables import pupils, visits_of_many

DESIGN = {"unit": "patient", "time": "day", "weight": "w"}


def weighed(frame: pl.DataFrame, unit: str, *, by_row: bool = False) -> pl.DataFrame:
    """Return a table with whole weights of its units, or of its rows."""
    draw = np.random.default_rng(6)
    names = frame[unit].unique(maintain_order=True)
    n = frame.height if by_row else names.len()
    weights = np.rint(np.exp(draw.normal(5.0, 0.5, n))).astype(np.int64) + 1
    if by_row:
        return frame.with_columns(w=pl.Series(weights))
    known = pl.DataFrame({unit: names, "w": weights})
    return frame.join(known, on=unit, how="left", maintain_order="left")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    # A few large numbers, whose sums depend on the order in which they are added.
    dose = pl.col("crp") ** 5 / 3.0
    names = ["patient", "day", "arm", "kg", "ward"]
    return weighed(visits_of_many().select(*names, dose=dose), "patient")


def require_the_same_units(found: tuple[pl.DataFrame, Release], wanted: Release) -> None:
    """Hold a release with weights from files against one in memory."""
    require_the_same(found, wanted)
    assert found[1].units == wanted.units
    assert found[0]["w"].dtype == pl.Float64


@pytest.mark.parametrize("raking", [True, False])
def test_weights_of_units(tmp_path: Path, frame: pl.DataFrame, raking: bool):
    design = {**DESIGN, "raking": raking}
    wanted = anonymize(frame, random_state=1, **design)
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(
        table, tmp_path / "scratch", leaves=1, workers=1 + raking, design=design
    )
    require_the_same_units(found, wanted)
    assert (found[0].group_by("patient").agg(pl.col("w").n_unique())["w"] == 1).all()
    assert wanted.table.height != frame.height
    told = next(change.how for change in found[1].columns if change.name == "w")
    assert told.endswith("raked, one a unit" if raking else "scale, one a unit")


def test_many_units_are_raked_by_leaves(
    tmp_path: Path, frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
):
    # As if there were more than 200,000 of them.
    for module in ("raking", "blocks.block_raking"):
        monkeypatch.setattr(f"icsa.release.{module}.LONG", 20_000)
    wanted = anonymize(frame, random_state=1, **DESIGN)
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", leaves=1, design=DESIGN)
    require_the_same_units(found, wanted)


def test_weights_of_rows_and_fewer_released_rows_than_long(tmp_path: Path):
    # Of 200,000 rows and a few, fewer come out: those are raked at once, as in memory.
    frame = visits_of_many().select("patient", "day", "age", "crp", "ward")
    frame = weighed(frame.head(LONG + 20), "patient", by_row=True)
    for seed in range(1, 6):
        wanted = anonymize(frame, random_state=seed, **DESIGN)
        if wanted.table.height <= LONG:
            break
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", seed=seed, design=DESIGN)
    require_the_same_units(found, wanted)


def test_weights_of_schools_without_a_time(tmp_path: Path):
    frame = weighed(pupils(), "school")
    design = {"unit": "school", "weight": "w"}
    wanted = anonymize(frame, random_state=1, **design)
    table = stored(frame, tmp_path / "parts")
    require_the_same_units(released_in_blocks(table, tmp_path / "scratch", design=design), wanted)


@pytest.mark.parametrize(
    ("least", "memory", "match"),
    [
        (0, np.inf, r"'w' is the weight: \d+ of \d+ are not positive"),
        (1, 1.6e7, r"weighted totals of 31,000 units would take"),
    ],
)
def test_what_cannot_be_is_told(
    tmp_path: Path, frame: pl.DataFrame, least: int, memory: float, match: str
):
    some = frame.select("patient", "day", "ward", "dose", pl.col("w") - pl.col("w").min() + least)
    some = some.with_columns(code=pl.col("patient") % 60)
    table = stored(some, tmp_path / "parts")
    with pytest.raises(InputError, match=match):
        released_in_blocks(table, tmp_path / "scratch", design=DESIGN, memory=memory)
