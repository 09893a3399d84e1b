"""Frames that are not in memory: polars' LazyFrame and Dask's DataFrame, in and out."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import dask.dataframe
import pandas as pd
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.release import anonymize
from icsa.tables import from_frame

from .tables import N_ROWS, measured
from .unit_tables import visits_of_many


@pytest.fixture(autouse=True)
def _private_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files of releases go with the test: those who run it end without a last word."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_lazy_frame_comes_back_as_one_with_the_same_cells(tmp_path: Path):
    frame = measured().select("kg", "score", "age")
    path = tmp_path / "schema.toml"
    kinds = {"kg": "continuous", "score": "continuous", "age": "integer"}
    columns = [f'[columns.{name}]\nkind = "{kind}"\n' for name, kind in kinds.items()]
    path.write_text("version = 1\n" + "".join(columns) + "upper = 900\n", encoding="utf-8")
    released = anonymize(frame.lazy(), schema=path, random_state=3, return_key=True)
    assert isinstance(released.table, pl.LazyFrame)
    wanted = anonymize(frame, schema=path, random_state=3)
    assert released.table.collect().equals(wanted.table)
    assert released.columns == wanted.columns
    assert released.n_rows == frame.height
    assert released.key is not None


def test_a_dask_frame_comes_back_as_one_with_as_many_partitions():
    frame = measured().select("kg", "score")
    parts = dask.dataframe.from_pandas(frame.to_pandas(), npartitions=3)
    released = anonymize(parts, random_state=3)
    assert released.table.npartitions == 3
    assert pl.from_pandas(released.table.compute()).equals(anonymize(frame, random_state=3).table)


def test_cells_that_are_no_numbers_are_missing_as_in_memory():
    frame = measured().select(
        "kg", score=pl.when(pl.col("age") > 60).then(float("nan")).otherwise("score")
    )
    found = anonymize(frame.lazy(), random_state=3).table.collect()
    assert found["score"].null_count() > 0
    assert found.equals(anonymize(frame, random_state=3).table)


@pytest.mark.parametrize("n_rows", [N_ROWS, 900])
def test_types_of_a_dask_frame_are_those_of_pandas_in_memory(n_rows: int):
    frame = measured(n_rows=n_rows).to_pandas()
    frame["group"] = pd.cut(frame.pop("age"), [-1, 40, 55, 999], labels=["b", "c", "a"])
    frame["group"] = frame["group"].cat.as_unordered()
    frame["dose"] = frame["dose"].round().astype("Int64").where(frame["kg"] > 60.0)
    parts = dask.dataframe.from_pandas(frame, npartitions=3)
    wanted = anonymize(frame, random_state=3).table
    found = anonymize(parts, random_state=3).table
    assert list(found.dtypes) == list(wanted.dtypes)
    assert found.compute().reset_index(drop=True).equals(wanted)


def test_levels_that_dask_does_not_know():
    frame = measured().select("kg", old=pl.when(pl.col("age") > 50).then(pl.lit("yes"))).to_pandas()
    parts = dask.dataframe.from_pandas(frame, npartitions=3)
    parts["old"] = parts["old"].astype("category")
    found = anonymize(parts, random_state=3).table
    wanted = anonymize(frame.astype({"old": "category"}), random_state=3).table
    assert found.dtypes["old"] == "category"
    assert (
        found.compute()
        .reset_index(drop=True)
        .astype({"old": str})
        .equals(wanted.astype({"old": str}))
    )


def test_short_ones_are_released_in_memory():
    frame = measured(n_rows=300)
    wanted = anonymize(frame, random_state=3).table
    assert anonymize(frame.lazy(), random_state=3).table.collect().equals(wanted)
    parts = dask.dataframe.from_pandas(frame.to_pandas(), npartitions=2)
    found = anonymize(parts, random_state=3).table
    assert pl.from_pandas(found.compute()).equals(wanted)


def test_strata_of_a_lazy_frame():
    frame = measured().with_columns(old=pl.col("age") > 50)
    found = anonymize(frame.lazy(), strata="old", random_state=1).table.collect()
    assert found.equals(anonymize(frame, strata="old", random_state=1).table)


def test_several_rows_a_person_in_a_lazy_frame():
    frame = visits_of_many().select("patient", "day", "age", "arm", "crp", "flare")
    design = {"unit": "patient", "time": "day"}
    released = anonymize(frame.lazy(), random_state=3, **design)
    wanted = anonymize(frame, random_state=3, **design)
    assert released.table.collect().equals(wanted.table)
    assert released.units == wanted.units


def test_people_that_a_schema_file_speaks_of(tmp_path: Path):
    frame = visits_of_many().select("patient", "day", "age", "crp")
    kinds = {"patient": "identifier", "day": "integer", "age": "continuous", "crp": "continuous"}
    path = tmp_path / "schema.toml"
    path.write_text(
        'version = 1\nunit = "patient"\ntime = "day"\n'
        + "".join(f'[columns.{name}]\nkind = "{kind}"\n' for name, kind in kinds.items()),
        encoding="utf-8",
    )
    released = anonymize(frame.lazy(), random_state=3, schema=path)
    assert released.table.collect().equals(anonymize(frame, random_state=3, schema=path).table)
    assert released.units is not None


def test_a_schema_is_held_against_the_cells():
    frame = measured().select("kg", "score", "age")
    guessed = guess_schema(from_frame(frame))
    age = replace(guessed.columns["age"], upper=60)
    schema = replace(guessed, columns={**guessed.columns, "age": age})
    with pytest.raises(InputError, match="above the declared upper bound 60"):
        anonymize(frame.lazy(), schema=schema)
    ruled = replace(guessed, rules=("age <= 60",))
    with pytest.raises(InputError, match="the table itself breaks it"):
        anonymize(frame.lazy(), schema=ruled)


def test_nothing_stays_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(InputError, match="cannot be released for itself"):
        anonymize(measured().lazy(), strata="age")
    assert not list(tmp_path.iterdir())
