"""Weights of units whose rows stand side by side, from files: cells and account as in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release, anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.schema import with_design
from icsa.tables import from_frame

from .tables import released_in_blocks, stored
from .test_weighted_units_same_cells import require_the_same_units, weighed
from .wide_tables import households, waves

BY_WAVE = {"unit": "person", "time": "wave", "weight": "w"}
BY_ROLE = {"unit": "house", "role": "role", "weight": "w"}
MANY, FEW = LONG + 901, 85_001  # units: more, and fewer, than a short table has rows; odd


def weighed_houses(n_units: int, *, by_row: bool = False) -> pl.DataFrame:
    """Return households with weights; a few large rents, whose sums depend on their order."""
    frame = households(n_units).drop("school", "works").with_columns(rent=pl.col("rent") ** 3 / 3.0)
    return weighed(frame, "house", by_row=by_row)


@pytest.fixture(scope="module")
def houses() -> pl.DataFrame:
    return weighed_houses(MANY)


@pytest.fixture(scope="module")
def in_memory(houses: pl.DataFrame) -> Release:
    return anonymize(houses, random_state=1, **BY_ROLE)


@pytest.mark.parametrize(("edges", "leaves", "workers"), [([70_000], 3, 2), ([], 40, 1)])
def test_many_households(
    tmp_path: Path,
    houses: pl.DataFrame,
    in_memory: Release,
    edges: list[int],
    leaves: int,
    workers: int,
):
    table = stored(houses, tmp_path / "parts", edges)
    found = released_in_blocks(
        table, tmp_path / "scratch", leaves=leaves, workers=workers, design=BY_ROLE
    )
    require_the_same_units(found, in_memory)


def test_the_release_at_hand_is_wide_and_raked_with_one_weight_a_household(
    houses: pl.DataFrame, in_memory: Release
):
    assert in_memory.units is not None
    assert in_memory.units.way == "wide"
    assert LONG < in_memory.units.n_units < in_memory.table.height < houses.height
    released = in_memory.table
    assert (released.group_by("house").agg(pl.col("w").n_unique())["w"] == 1).all()
    totals = [(t["w"] * t["age"]).sum() for t in (houses, released)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-6)
    told = next(change.how for change in in_memory.columns if change.name == "w")
    assert told.endswith("raked, one a unit")


@pytest.mark.parametrize(
    ("by_row", "raking"),
    [(False, True), (True, True), (False, False)],
    ids=["of units", "of rows", "not raked"],
)
def test_few_households(tmp_path: Path, by_row: bool, raking: bool):
    frame, design = weighed_houses(FEW, by_row=by_row), {**BY_ROLE, "raking": raking}
    wanted = anonymize(frame, random_state=1, **design)
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(table, tmp_path / "scratch", leaves=2, design=design)
    require_the_same_units(found, wanted)


@pytest.mark.parametrize(
    ("n_units", "n_waves", "by_row", "choices"),
    [
        (70_001, 3, False, {"drop": ("more",)}),
        (MANY, 2, True, {"keep": ("part",), "drop": ("sex", "total")}),
    ],
    ids=["few, of units", "many, of rows, with a column kept"],
)
def test_by_time(tmp_path: Path, n_units: int, n_waves: int, by_row: bool, choices: dict[str, Any]):
    frame = weighed(waves(n_units, n_waves), "person", by_row=by_row)
    wanted = anonymize(frame, random_state=1, **BY_WAVE, **choices)
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(table, tmp_path / "scratch", design=BY_WAVE, **choices)
    require_the_same_units(found, wanted)


def test_a_schema_with_rules_and_codes(tmp_path: Path):
    frame = weighed(waves(70_001, 3).drop("more", "total"), "person")
    frame = frame.with_columns(
        part=pl.when(pl.col("sex") == "f").then(pl.col("part").clip(0, 20)).otherwise("part")
    )
    guessed = guess_schema(from_frame(frame))
    part = replace(guessed.columns["part"], missing_codes=(4,), lower=0, upper=30)
    rule = 'if sex = "f" then part <= 20'
    schema = replace(guessed, columns={**guessed.columns, "part": part}, rules=(rule,))
    schema = with_design(schema, **BY_WAVE)
    wanted = anonymize(frame, random_state=1, schema=schema)
    assert wanted.moved_cells[rule] > 100
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", schema=schema)
    require_the_same_units(found, wanted)


def test_a_run_that_stops_anywhere_ends_with_the_same_cells(
    tmp_path: Path, houses: pl.DataFrame, in_memory: Release
):
    table = stored(houses, tmp_path / "parts")
    (tmp_path / "scratch").mkdir()
    for stop in ["columns as rows", "laying long", "weights of units", "raking round", "nowhere"]:

        def told(name: str, share: float, stop: str = stop) -> None:
            if name.startswith(stop) and (share > 0.3 or share == 0.0):
                raise KeyboardInterrupt

        passes = Passes(Scratch(tmp_path / "scratch", table.n_rows), told=told)
        ground = Ground(table, 2 * LEAF_ROWS)
        choices = {"design": BY_ROLE}
        try:
            made = release_in_blocks(passes, ground, as_key(1), choices=choices, options={})
        except KeyboardInterrupt:
            continue
        assert stop == "nowhere"
    cells = pl.concat(list(made.cells.blocks(0, made.cells.n_rows)))
    require_the_same_units((cells, made.release), in_memory)


@pytest.mark.parametrize(
    ("least", "memory", "match"),
    [
        (0, np.inf, r"'w' is the weight: \d+ of \d+ are not positive"),
        (1, 2.5e7, r"weighted totals of 85,001 units would take .* or use --no-raking"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, least: int, memory: float, match: str):
    frame = weighed_houses(FEW).with_columns(
        pl.col("w") - pl.col("w").min() + least, code=pl.col("house").str.tail(2)
    )
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(InputError, match=match):
        released_in_blocks(table, tmp_path / "scratch", design=BY_ROLE, memory=memory)
