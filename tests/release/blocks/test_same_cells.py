"""A release from files has the cells and the account of one in memory, whatever the blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.masks import MASKS
from icsa.release import Release, anonymize
from icsa.tables import from_frame

from .tables import (
    N_ROWS,
    measured,
    of_all_kinds,
    related,
    released_in_blocks,
    require_the_same,
    stored,
)


@pytest.fixture(scope="module")
def in_memory() -> Release:
    return anonymize(measured(), random_state=1)


@given(
    edges=st.lists(st.integers(1, N_ROWS - 1), max_size=3, unique=True), leaves=st.integers(1, 13)
)
@settings(max_examples=4, deadline=None, derandomize=True)
def test_whatever_the_edges_of_files_and_blocks(in_memory: Release, edges: list[int], leaves: int):
    with TemporaryDirectory() as folder:
        table = stored(measured(), Path(folder) / "parts", edges)
        found = released_in_blocks(table, Path(folder) / "scratch", leaves=leaves)
    require_the_same(found, in_memory)


@pytest.mark.parametrize("mask", [mask for mask in MASKS if mask != "redraw"])
def test_with_every_mask(tmp_path: Path, mask: str):
    table = stored(measured(), tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", options={"mask": mask})
    require_the_same(found, anonymize(measured(), random_state=1, mask=mask))


@pytest.mark.parametrize("raw_units", [False, True])
def test_by_principal_components(tmp_path: Path, raw_units: bool):
    options = {"method": "sa", "raw_units": raw_units}
    table = stored(measured(), tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", options=options)
    require_the_same(found, anonymize(measured(), random_state=1, **options))


def test_columns_of_all_kinds_and_a_level_that_only_the_last_part_has(tmp_path: Path):
    frame = of_all_kinds()
    table = stored(frame, tmp_path / "parts", [10, N_ROWS - 5_000])
    options, choices = {"method": "icsa"}, {"keep": ("pain",), "recipe": "topcode"}
    found = released_in_blocks(table, tmp_path / "scratch", options=options, **choices)
    require_the_same(found, anonymize(frame, random_state=1, **options, **choices))
    assert found[0]["group"].value_counts(sort=True).equals(frame["group"].value_counts(sort=True))


def test_relations_rules_bounds_and_codes(tmp_path: Path):
    frame = related()
    guessed = guess_schema(from_frame(frame))
    columns = {
        **guessed.columns,
        "b": replace(guessed.columns["b"], missing_codes=(0,)),
        "kg": replace(guessed.columns["kg"], lower=0.0, upper=150.0),
    }
    schema = replace(
        guessed,
        columns=columns,
        rules=("first <= last", 'if heavy = "no" then kg <= 90'),
        recipe={"exact_counts": False},
    )
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", schema=schema)
    wanted = anonymize(frame, random_state=1, schema=schema)
    assert wanted.relations
    require_the_same(found, wanted)


def test_a_level_that_only_people_who_stand_out_have(tmp_path: Path):
    frame = measured().with_columns(
        rare=pl.when(pl.col("score").abs() > 16).then(pl.lit("odd")).otherwise(pl.lit("usual"))
    )
    assert 10 < frame["rare"].value_counts().filter(pl.col("rare") == "odd")["count"].item() < 999
    wanted = anonymize(frame, random_state=1)
    assert any("belong only to people who stand out" in warning for warning in wanted.warnings)
    table = stored(frame, tmp_path / "parts")
    require_the_same(released_in_blocks(table, tmp_path / "scratch"), wanted)


@pytest.mark.parametrize("breaking", [0, 3])
def test_scores_that_follow_from_others_in_all_rows_or_nearly_all(tmp_path: Path, breaking: int):
    frame, draw = measured(), np.random.default_rng(4)
    gone = draw.random(N_ROWS) < 0.1
    sugar = np.where(gone, np.nan, draw.normal(size=N_ROWS))
    status = np.where(gone, "not done", draw.choice(["low", "high"], N_ROWS))
    status[np.flatnonzero(gone)[:breaking]] = "low"
    frame = frame.with_columns(
        pl.Series("sugar", sugar, nan_to_null=True), pl.Series("status", status)
    )
    wanted = anonymize(frame, random_state=1)
    assert wanted.n_components == 7 + (breaking > 0)
    table = stored(frame, tmp_path / "parts")
    require_the_same(released_in_blocks(table, tmp_path / "scratch", leaves=5), wanted)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_columns_that_are_nearly_the_same_are_refused_in_the_words_of_memory(
    tmp_path: Path, far: float
):
    draw = np.random.default_rng(0)
    one, other = draw.normal(size=(2, N_ROWS))
    other[N_ROWS // 2] += far
    nearly = one * (1 + 1e-9 * draw.normal(size=N_ROWS))
    frame = pl.DataFrame({"one": one, "nearly": nearly, "other": other})
    table, options = stored(frame, tmp_path / "parts"), {"method": "icsa"}
    with pytest.raises(InputError, match="is not positive definite") as wanted:
        anonymize(frame, random_state=1, **options)
    with pytest.raises(InputError) as found:
        released_in_blocks(table, tmp_path / "scratch", options=options)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("method", ["icsa", "sa"])
def test_cells_too_far_out_are_told_as_in_memory(tmp_path: Path, method: str):
    far = np.arange(N_ROWS)
    frame = measured().with_columns(
        pl.when(pl.Series(far % 40_000 == 39_999)).then(1e200).otherwise("dose").alias("dose")
    )
    table, options = stored(frame, tmp_path / "parts", [90_000]), {"method": method}
    with pytest.raises(
        InputError, match=r"'dose': 5 of 201001 .* \(first in row 40000\)"
    ) as wanted:
        anonymize(frame, random_state=1, **options)
    with pytest.raises(InputError) as found:
        released_in_blocks(table, tmp_path / "scratch", options=options)
    assert str(found.value) == str(wanted.value)


def test_a_table_without_measurements(tmp_path: Path):
    draw = np.random.default_rng(2)
    frame = pl.DataFrame({name: draw.choice(list("wxyz"), N_ROWS) for name in "abcd"})
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch")
    require_the_same(found, anonymize(frame, random_state=1))
    assert found[1].method == "sa"


def of_many_levels() -> pl.DataFrame:
    return measured().with_columns(town=pl.lit("town ") + (pl.col("age") % 25).cast(pl.String))


@pytest.mark.parametrize(
    ("made", "names", "match"),
    [
        (of_many_levels, ("kg", "town"), r"'town': its 25 levels would take 0\.011\d* GB"),
        (related, ("a", "b", "total", "kg"), r"a, b, total: columns that relations .* hold"),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(
    tmp_path: Path, made: Callable[[], pl.DataFrame], names: tuple[str, ...], match: str
):
    table = stored(made().select(names), tmp_path / "parts")
    with pytest.raises(InputError, match=match):
        released_in_blocks(table, tmp_path / "scratch", memory=11e6)


def test_people_with_several_rows_are_seen_and_refused(tmp_path: Path):
    frame = measured().with_columns(
        patient=pl.Series(np.arange(N_ROWS) // 3 + 1),
        sex=pl.Series((np.arange(N_ROWS) // 3) ** 2 % 2),
        born=pl.Series(1950 + (np.arange(N_ROWS) // 3) * 7 % 50),
    )
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(InputError, match=r"'patient' stands for 67,001 people .* --unit none"):
        released_in_blocks(table, tmp_path / "scratch")
