"""Several rows a person from files: the cells and the account of a release in memory."""

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
from icsa.inspection.unit_rows import leaves_of
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release, anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.schema import with_design
from icsa.tables import from_frame
from icsa.tables.stored import released_parts

from .tables import released_in_blocks, require_the_same, stored
from .unit_tables import pupils, visits_of_many

SEED = 4
DESIGN = {"unit": "patient", "time": "day", "bound": "followed"}


def require_the_same_units(found: tuple[pl.DataFrame, Release], wanted: Release) -> None:
    """Hold cells, account and units of a release from files against those of one in memory."""
    require_the_same(found, wanted)
    assert found[1].units == wanted.units
    assert found[1].n_rows == found[0].height


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return visits_of_many(33_000, dated=True).drop("ward", "drinks", "pain", "flare")


@pytest.fixture(scope="module")
def in_memory(frame: pl.DataFrame) -> Release:
    return anonymize(frame, random_state=SEED, **DESIGN)


@given(edges=st.lists(st.integers(1, 200_000), max_size=3, unique=True), leaves=st.integers(1, 13))
@settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate])
def test_whatever_the_edges_of_files_and_blocks(
    frame: pl.DataFrame, in_memory: Release, edges: list[int], leaves: int
):
    with TemporaryDirectory() as folder:
        table = stored(frame, Path(folder) / "parts", edges)
        found = released_in_blocks(
            table, Path(folder) / "scratch", leaves=leaves, seed=SEED, design=DESIGN
        )
    require_the_same_units(found, in_memory)


def test_residuals_of_the_table_at_hand_are_masked_twice(frame: pl.DataFrame, in_memory: Release):
    assert in_memory.table.height > frame.height + 500 > LONG


def test_with_two_workers(tmp_path: Path, frame: pl.DataFrame, in_memory: Release):
    table = stored(frame, tmp_path / "parts", [70_000])
    found = released_in_blocks(table, tmp_path / "scratch", workers=2, seed=SEED, design=DESIGN)
    require_the_same_units(found, in_memory)


@pytest.mark.parametrize(
    ("options", "choices", "design"),
    [
        ({"mask": "permute"}, {}, DESIGN),
        ({"method": "sa"}, {"recipe": "paper"}, {"unit": "patient", "time": "day"}),
        ({}, {"recipe": "topcode", "drop": ("day", "age")}, {"unit": "patient"}),
        (
            {"scatters": ("cov", "cov4")},
            {"drop": ("ward", "drinks", "pain", "part")},
            {"unit": "patient", "time": "day"},
        ),
    ],
    ids=["permute", "paper", "no time", "other scatters"],
)
def test_other_ways(
    tmp_path: Path, options: dict[str, Any], choices: dict[str, Any], design: dict[str, str]
):
    frame = visits_of_many()
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(
        table, tmp_path / "scratch", options=options, design=design, **choices
    )
    require_the_same_units(found, anonymize(frame, random_state=1, **options, **choices, **design))


def test_pupils_of_schools_and_what_schools_have_of_them(tmp_path: Path):
    frame = pupils()
    wanted = anonymize(frame, random_state=1, unit="school")
    assert "mean_ses is the mean of ses in each unit" in wanted.relations
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", design={"unit": "school"})
    require_the_same_units(found, wanted)


def test_a_schema_with_rules_codes_and_identifiers_of_rows(tmp_path: Path):
    frame = visits_of_many().with_columns(
        pl.format("V{}x", pl.int_range(pl.len()) * 3 + 11).alias("visit"),
        pl.lit(3).alias("one"),
    )
    guessed = guess_schema(from_frame(frame))
    columns = {
        **guessed.columns,
        "pain": replace(guessed.columns["pain"], missing_codes=(4,)),
        "part": replace(guessed.columns["part"], lower=0.0, upper=30.0),
    }
    schema = replace(
        guessed,
        columns=columns,
        rules=('if arm = "none" then drinks = 0', "total <= 48"),
        recipe={"exact_counts": False},
    )
    schema = with_design(schema, **DESIGN)
    wanted = anonymize(frame, random_state=1, schema=schema)
    assert sum(wanted.moved_cells.values()) > 100
    table = stored(frame, tmp_path / "parts")
    require_the_same_units(released_in_blocks(table, tmp_path / "scratch", schema=schema), wanted)


def test_a_run_that_stops_anywhere_ends_with_the_same_cells(tmp_path: Path):
    frame = visits_of_many()
    table = stored(frame, tmp_path / "parts")
    wanted = anonymize(frame, random_state=1, **DESIGN)
    stops = ["times of units", "drawing effects", "masking units", "regaining", "decoding"]
    (tmp_path / "scratch").mkdir()

    for stop in [*stops, "nowhere"]:

        def told(name: str, share: float, stop: str = stop) -> None:
            if name.startswith(stop) and share > 0.3:
                raise KeyboardInterrupt

        passes = Passes(Scratch(tmp_path / "scratch", table.n_rows), told=told)
        ground = Ground(table, 4 * LEAF_ROWS)
        choices = {"design": DESIGN}
        try:
            made = release_in_blocks(passes, ground, as_key(1), choices=choices, options={})
        except KeyboardInterrupt:
            continue
    cells = pl.concat(list(made.cells.blocks(0, made.cells.n_rows)))
    require_the_same_units((cells, made.release), wanted)


def test_part_files_hold_whole_units(tmp_path: Path, frame: pl.DataFrame):
    table = stored(frame.head(LONG + 300), tmp_path / "parts", [50_000, 60_000])
    (tmp_path / "scratch").mkdir()
    passes = Passes(Scratch(tmp_path / "scratch", table.n_rows))
    choices = {"design": DESIGN, "drop": ("albumin", "total")}
    made = release_in_blocks(
        passes, Ground(table, LEAF_ROWS), as_key(1), choices=choices, options={}
    )
    rows = [rows for _, rows in released_parts(table.parts, table.rows, made.cells.starts)]
    assert rows[-1].stop == made.cells.n_rows
    parts = [made.cells.between(one.start, one.stop)["patient"] for one in rows]
    assert [part.len() / made.cells.n_rows for part in parts] == pytest.approx(
        np.array(table.rows) / table.n_rows, abs=1e-3
    )
    names = [set(part) for part in parts]
    assert not names[0] & names[1]
    assert not names[1] & names[2]


def test_leaves_cover_all_units_of_a_long_table_alone():
    starts = np.arange(0, 400_001, 8)
    leaves = leaves_of(starts)
    assert len(leaves) > 1
    assert [leaf.start for leaf in leaves[1:]] == [leaf.stop for leaf in leaves[:-1]]
    assert leaves[-1].stop == starts.size - 1
    assert leaves_of(starts[:100]) == [slice(0, 99)]


@pytest.mark.parametrize(
    ("design", "match"),
    [
        ({"unit": "patient", "time": "pain"}, "two rows have the same one within"),
        ({"unit": "patient", "time": "day", "bound": "crp"}, "varies within units"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, design: dict[str, str], match: str):
    frame = visits_of_many().select("patient", "day", "age", "arm", "crp", "pain")
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(InputError, match=match):
        released_in_blocks(table, tmp_path / "scratch", design=design)


def test_a_declaration_that_cells_of_units_break_is_told(tmp_path: Path):
    frame = visits_of_many().select("patient", "day", "age", "crp")
    guessed = guess_schema(from_frame(frame))
    age = replace(guessed.columns["age"], upper=60.0)
    schema = replace(guessed, columns={**guessed.columns, "age": age})
    schema = with_design(schema, unit="patient", time="day")
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(InputError, match=r"Column 'age': \d+ of \d+ cells are above"):
        released_in_blocks(table, tmp_path / "scratch", schema=schema)


def test_units_that_do_not_fit_are_refused(tmp_path: Path):
    table = stored(visits_of_many(), tmp_path / "parts")
    with pytest.raises(InputError, match=r"31,000 units, levels and slopes .* give --memory more"):
        released_in_blocks(table, tmp_path / "scratch", design=DESIGN, memory=2e6)
