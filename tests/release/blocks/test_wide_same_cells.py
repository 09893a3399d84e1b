"""Units whose rows stand side by side, from files: the cells and the account of one in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release, anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.schema import with_design
from icsa.tables import from_frame
from icsa.tables.stored import released_parts

from .tables import released_in_blocks, stored
from .test_units_same_cells import require_the_same_units
from .wide_tables import households, waves

BY_WAVE = {"unit": "person", "time": "wave"}
BY_ROLE = {"unit": "house", "role": "role"}
MANY, FEW = LONG + 900, 70_000  # units: more, and fewer, than a short table has rows


@pytest.fixture(scope="module")
def houses() -> pl.DataFrame:
    return households(MANY)


@pytest.fixture(scope="module")
def in_memory(houses: pl.DataFrame) -> Release:
    return anonymize(houses, random_state=1, **BY_ROLE)


@given(edges=st.lists(st.integers(1, 200_000), max_size=3, unique=True), leaves=st.integers(1, 13))
@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
def test_whatever_the_edges_of_files_and_blocks(
    houses: pl.DataFrame, in_memory: Release, edges: list[int], leaves: int
):
    with TemporaryDirectory() as folder:
        table = stored(houses, Path(folder) / "parts", edges)
        found = released_in_blocks(table, Path(folder) / "scratch", leaves=leaves, design=BY_ROLE)
    require_the_same_units(found, in_memory)


def test_rows_that_too_few_units_have_are_left_out(houses: pl.DataFrame, in_memory: Release):
    account = in_memory.units
    assert account is not None
    assert account.way == "wide"
    assert LONG < account.n_units < account.rows_after < houses.height


def test_with_two_workers(tmp_path: Path, houses: pl.DataFrame, in_memory: Release):
    table = stored(houses, tmp_path / "parts", [70_000])
    found = released_in_blocks(table, tmp_path / "scratch", workers=2, design=BY_ROLE)
    require_the_same_units(found, in_memory)


@pytest.mark.parametrize(
    ("n_units", "n_waves", "choices"),
    [
        (FEW, 3, {"drop": ("more",)}),
        (MANY, 2, {"keep": ("part",), "drop": ("sex", "total"), "recipe": "topcode"}),
    ],
    ids=["few", "many, with a column kept"],
)
def test_by_time(tmp_path: Path, n_units: int, n_waves: int, choices: dict[str, Any]):
    frame = waves(n_units, n_waves)
    wanted = anonymize(frame, random_state=1, **BY_WAVE, **choices)
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(table, tmp_path / "scratch", design=BY_WAVE, **choices)
    require_the_same_units(found, wanted)


@pytest.mark.parametrize("n_units", [MANY, FEW])
def test_a_schema_with_rules_codes_and_another_mask(tmp_path: Path, n_units: int):
    frame = waves(n_units, 3 if n_units == FEW else 2).drop("more", "total")
    guessed = guess_schema(from_frame(frame))
    columns = {
        **guessed.columns,
        "part": replace(guessed.columns["part"], missing_codes=(4,), lower=0, upper=30),
    }
    rule = 'if sex = "f" then part <= 20'
    frame = frame.with_columns(
        part=pl.when(pl.col("sex") == "f").then(pl.col("part").clip(0, 20)).otherwise("part")
    )
    schema = replace(guessed, columns=columns, rules=(rule,), recipe={"exact_counts": False})
    schema = with_design(schema, **BY_WAVE)
    wanted = anonymize(frame, random_state=1, schema=schema, mask="permute")
    assert wanted.moved_cells[rule] > 100
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(
        table, tmp_path / "scratch", schema=schema, options={"mask": "permute"}
    )
    require_the_same_units(found, wanted)


def stopped_and_gone_on_with(
    frame: pl.DataFrame, folder: Path, stops: list[str]
) -> tuple[pl.DataFrame, Release]:
    """Return the release by roles of a run that was stopped in some passes."""
    table = stored(frame, folder / "parts")
    (folder / "scratch").mkdir()
    for stop in [*stops, "nowhere"]:

        def told(name: str, share: float, stop: str = stop) -> None:
            if name.startswith(stop) and (share > 0.3 or share == 0.0):
                raise KeyboardInterrupt

        passes = Passes(Scratch(folder / "scratch", table.n_rows), told=told)
        ground = Ground(table, 2 * LEAF_ROWS)
        choices = {"design": BY_ROLE}
        try:
            made = release_in_blocks(passes, ground, as_key(1), choices=choices, options={})
        except KeyboardInterrupt:
            continue
    return pl.concat(list(made.cells.blocks(0, made.cells.n_rows))), made.release


def test_a_run_that_stops_anywhere_ends_with_the_same_cells(
    tmp_path: Path, houses: pl.DataFrame, in_memory: Release
):
    stops = ["places of rows", "encoding", "masking", "decoding", "laying long"]
    require_the_same_units(stopped_and_gone_on_with(houses, tmp_path, stops), in_memory)


def test_a_run_on_few_units_that_stops_anywhere(tmp_path: Path):
    frame = households(85_000)
    wanted = anonymize(frame, random_state=1, **BY_ROLE)
    stops = ["whose columns", "masking units", "laying long"]
    require_the_same_units(stopped_and_gone_on_with(frame, tmp_path, stops), wanted)


def test_part_files_hold_whole_units_and_columns_come_alone(tmp_path: Path):
    table = stored(households(85_000), tmp_path / "parts", [50_000, 60_000])
    (tmp_path / "scratch").mkdir()
    passes = Passes(Scratch(tmp_path / "scratch", table.n_rows))
    made = release_in_blocks(
        passes, Ground(table, LEAF_ROWS), as_key(1), choices={"design": BY_ROLE}, options={}
    )
    rows = [rows for _, rows in released_parts(table.parts, table.rows, made.cells.starts)]
    assert rows[-1].stop == made.cells.n_rows
    parts = [made.cells.between(one.start, one.stop) for one in rows]
    assert [part.height / made.cells.n_rows for part in parts] == pytest.approx(
        np.array(table.rows) / table.n_rows, abs=1e-3
    )
    houses = [set(part["house"]) for part in parts]
    assert not houses[0] & houses[1]
    assert not houses[1] & houses[2]
    whole = made.cells.between(0, made.cells.n_rows)
    for names in (["age"], ["passport"], ["role", "rent"]):
        assert made.cells.between(7, 5_000, names).equals(whole[7:5_000].select(names))


@pytest.mark.parametrize(
    ("choices", "memory", "match"),
    [
        ({"design": BY_ROLE, "keep": ("age",)}, np.inf, "not every unit has all rows"),
        ({"design": {"unit": "house", "role": "region"}}, np.inf, "is the role: it needs 2 to"),
        ({"design": BY_ROLE}, 2e6, r"85,000 units and \d+ columns .* give --memory more"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, choices: dict[str, Any], memory: float, match: str):
    table = stored(households(85_000), tmp_path / "parts")
    with pytest.raises(InputError, match=match):
        released_in_blocks(table, tmp_path / "scratch", memory=memory, **choices)
