"""More units than a short table has rows, from files that leave no room for a row of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release, anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.schema import Schema, with_design
from icsa.tables import from_frame

from .tables import released_in_blocks, stored
from .test_units_same_cells import require_the_same_units
from .test_weighted_units_same_cells import weighed
from .unit_tables import few_visits_each

DESIGN = {"unit": "patient", "time": "day", "bound": "followed"}
MANY = LONG + 1_000
TOO_LITTLE, ENOUGH = 5e7, 1e9  # bytes: a row a unit takes twice the former


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return few_visits_each(MANY)


@pytest.fixture(scope="module")
def in_memory(frame: pl.DataFrame) -> Release:
    return anonymize(frame, random_state=1, **DESIGN)


def went_in_blocks(scratch: Path) -> bool:
    """Return whether there are released numbers of units, which a release in memory leaves not."""
    return (scratch / "of units" / "table" / "released").exists()


@pytest.mark.parametrize(
    ("leaves", "workers", "memory"), [(1, 2, TOO_LITTLE), (9, 1, TOO_LITTLE), (4, 1, ENOUGH)]
)
def test_whatever_the_blocks_workers_and_memory(
    tmp_path: Path,
    frame: pl.DataFrame,
    in_memory: Release,
    leaves: int,
    workers: int,
    memory: float,
):
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(
        table,
        tmp_path / "scratch",
        leaves=leaves,
        workers=workers,
        memory=memory,
        design=DESIGN,
    )
    assert went_in_blocks(tmp_path / "scratch") == (memory == TOO_LITTLE)
    require_the_same_units(found, in_memory)


def test_the_table_at_hand_has_slopes_gaps_and_what_follows_from_rows(in_memory: Release):
    assert in_memory.units is not None
    assert in_memory.units.n_units == MANY
    assert "at_first is the first of crp in each unit" in in_memory.relations
    names = ["arm", "kg", "crp", "albumin", "flare"]
    gaps = {"kg", "albumin"}
    pattern_levels_and_slopes = 2 + len(names) + 2
    assert in_memory.n_components >= len(names) + len(gaps) + pattern_levels_and_slopes


@pytest.mark.parametrize(
    ("options", "choices", "design"),
    [
        ({"mask": "permute"}, {}, DESIGN),
        (
            {"scatters": ("cov", "cov4")},
            {"drop": ("day", "followed", "arm", "flare")},
            {"unit": "patient"},
        ),
    ],
    ids=["permute", "other scatters, no time"],
)
def test_other_ways(
    tmp_path: Path,
    frame: pl.DataFrame,
    options: dict[str, Any],
    choices: dict[str, Any],
    design: dict[str, str],
):
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(
        table, tmp_path / "scratch", options=options, memory=TOO_LITTLE, design=design, **choices
    )
    assert went_in_blocks(tmp_path / "scratch")
    require_the_same_units(found, anonymize(frame, random_state=1, **options, **choices, **design))


RULE = 'if arm = "none" then kg <= 80'


def with_a_rule(frame: pl.DataFrame) -> tuple[pl.DataFrame, Schema]:
    """Return a table that keeps a rule on its units, and a schema that says so."""
    light = pl.col("kg").clip(None, 80.0)
    some = frame.with_columns(kg=pl.when(pl.col("arm") == "none").then(light).otherwise("kg"))
    guessed = guess_schema(from_frame(some))
    columns = {**guessed.columns, "kg": replace(guessed.columns["kg"], missing_codes=(70.0,))}
    schema = replace(guessed, columns=columns, rules=(RULE,), recipe={"exact_counts": False})
    return some, with_design(schema, **DESIGN)


def test_a_schema_with_rules_and_codes_of_units(tmp_path: Path, frame: pl.DataFrame):
    some, schema = with_a_rule(frame)
    wanted = anonymize(some, random_state=1, schema=schema)
    assert wanted.moved_cells[RULE] > 100
    table = stored(some, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", schema=schema, memory=TOO_LITTLE)
    assert went_in_blocks(tmp_path / "scratch")
    require_the_same_units(found, wanted)


def test_what_cannot_be_is_told_of_units(tmp_path: Path, frame: pl.DataFrame):
    some, schema = with_a_rule(frame.drop("crp", "at_first", "flare"))
    table = stored(some, tmp_path / "parts")
    told = "As a table with one row for each unit: arm, kg: columns that relations or rules hold"
    with pytest.raises(InputError, match=told):
        released_in_blocks(table, tmp_path / "scratch", schema=schema, memory=1e7)


def test_with_weights_of_units(tmp_path: Path, frame: pl.DataFrame):
    some = weighed(frame.drop("flare", "at_first"), "patient")
    design = {**DESIGN, "weight": "w"}
    wanted = anonymize(some, random_state=1, **design)
    table = stored(some, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", memory=8e7, design=design)
    assert went_in_blocks(tmp_path / "scratch")
    require_the_same_units(found, wanted)


def test_a_run_that_stops_anywhere_stays_with_its_way(
    tmp_path: Path, frame: pl.DataFrame, in_memory: Release
):
    table = stored(frame, tmp_path / "parts")
    (tmp_path / "scratch").mkdir()
    stops = [("fitting columns", 0.3), ("masking units", 0.5), ("masking units", 0.8)]
    stops += [("times of rows", -1.0), ("decoding", 0.3), ("nowhere", 0.0)]
    for number, (stop, after) in enumerate(stops):

        def told(name: str, share: float, stop: str = stop, after: float = after) -> None:
            if name == stop and share > after:
                raise KeyboardInterrupt

        passes = Passes(Scratch(tmp_path / "scratch", table.n_rows), told=told)
        ground = Ground(table, 2 * LEAF_ROWS, TOO_LITTLE if number < 2 else ENOUGH)
        try:
            made = release_in_blocks(
                passes, ground, as_key(1), choices={"design": DESIGN}, options={}
            )
        except KeyboardInterrupt:
            continue
        assert stop == "nowhere"
    assert went_in_blocks(tmp_path / "scratch")
    cells = pl.concat(list(made.cells.blocks(0, made.cells.n_rows)))
    require_the_same_units((cells, made.release), in_memory)
