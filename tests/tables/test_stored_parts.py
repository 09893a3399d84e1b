"""Folders and patterns of Parquet files as other programs write them: all rows, or a sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.tables.stored import StoredTable, parquet_parts, stored_parquet

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def written(folder: Path, *names: str) -> Path:
    for place, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"age": [place, place + 1]}).write_parquet(folder / name)
    return folder


def read(path: Path) -> StoredTable:
    return stored_parquet(parquet_parts(path))


def graded(levels: list[str], cells: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame({"grade": pd.Categorical(cells, categories=levels, ordered=True)})


def test_what_spark_writes_beside_part_files_is_no_part(tmp_path: Path):
    folder = written(tmp_path / "t", "part-00000-c000.snappy.parquet", "part-00001.snappy.parquet")
    for note in ("_SUCCESS", "_metadata", "_common_metadata", "._SUCCESS.crc"):
        (folder / note).write_bytes(b"")
    written(folder / "_temporary" / "0", "part-00002.parquet")
    assert read(folder).rows == read(folder / "part*").rows == (2, 2)
    (folder / "_temporary" / "0" / "part-00002.parquet").unlink()
    assert read(folder / "*[!y]").rows == (2, 2)


@pytest.mark.parametrize("others", ["part-0.parquet", "notes.txt"])
def test_part_files_in_folders_below_are_not_passed_over(tmp_path: Path, others: str):
    folder = written(tmp_path / "t", "year=2024/month=1/a.parquet", others)
    for path in (folder, folder / "*"):
        with pytest.raises(InputError, match="in the folder year=2024 too, and those of"):
            parquet_parts(path)
    (folder / "year=2024/month=1/a.parquet").rename(folder / "year=2024/month=1/a.txt")
    written(folder, "part-0.parquet")
    assert read(folder).rows == (2,)


def test_a_folder_with_the_name_of_a_file_holds_other_part_files(tmp_path: Path):
    folder = written(tmp_path, "visits.parquet/part-0.parquet")
    with pytest.raises(InputError, match=r"in the folder visits\.parquet too"):
        parquet_parts(folder)
    assert read(folder / "visits.parquet").rows == (2,)


@pytest.mark.parametrize("pattern", ["year=*/a.parquet", "year=*/*.parquet", "**/*.parquet"])
def test_patterns_of_folders_are_refused_as_such(tmp_path: Path, pattern: str):
    folder = written(tmp_path, "year=2024/a.parquet")
    with pytest.raises(InputError, match="a pattern stands for files of one folder, not for fold"):
        parquet_parts(folder / pattern)


def test_brackets_in_the_name_of_a_folder_stand_for_themselves(tmp_path: Path):
    folder = written(tmp_path / "t[1]", "a.parquet")
    assert read(folder / "*.parquet").rows == (2,)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        parquet_parts(folder / "b.parquet")


def test_ordered_levels_are_the_same_in_all_parts_or_refused(tmp_path: Path):
    graded(["low", "mid", "high"], ["mid", "low"]).to_parquet(tmp_path / "a.parquet")
    graded(["low", "mid", "high"], ["high", None]).to_parquet(tmp_path / "b.parquet")
    table = read(tmp_path)
    cells = table.column("grade").frame["grade"]
    assert table.dtypes["grade"] == cells.dtype == pl.Enum(["low", "mid", "high"])
    assert cells.to_list() == ["mid", "low", "high", None]
    graded(["high", "low"], ["high"]).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="'grade' has other ordered levels in some parts than in"):
        read(tmp_path).column("grade")


@pytest.mark.parametrize("place", ["0", "m", "z"])
def test_parts_without_rows_have_no_types(tmp_path: Path, place: str):
    whole = graded(["low", "high"], ["low", "high"]).assign(name=["a", "b"])
    whole.to_parquet(tmp_path / "a.parquet")
    whole.to_parquet(tmp_path / "y.parquet")
    whole[:0].astype({"grade": object}).to_parquet(tmp_path / f"{place}.parquet")
    table = read(tmp_path)
    assert dict(table.dtypes) == {"grade": pl.Enum(["low", "high"]), "name": pl.String}
    assert table.column("grade").frame["grade"].to_list() == ["low", "high"] * 2
    assert table.column("name").frame["name"].dtype == pl.String
    whole[:0].assign(more=1).to_parquet(tmp_path / f"{place}.parquet")
    with pytest.raises(InputError, match=r"has (no|a) column 'more'"):
        read(tmp_path)


def test_a_name_that_is_there_twice_is_told(tmp_path: Path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    parquet.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"has the same name more than once\. Give every"):
        read(tmp_path)


def test_types_that_pyarrow_does_not_know_beside_categories(tmp_path: Path):
    frame = pl.DataFrame(
        {"arm": ["a", "b"], "big": [1, 2]}, schema={"arm": pl.Categorical, "big": pl.Int128}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    assert dict(read(tmp_path).dtypes) == {"arm": pl.Categorical, "big": pl.Int128}
