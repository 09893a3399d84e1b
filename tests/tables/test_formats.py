"""Every format: round trips with labels, clear errors, neutral metadata, whole files."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter

from icsa.errors import InputError
from icsa.tables import (
    Table,
    Variable,
    default_output,
    describe_layout,
    read_table,
    unwritten_reasons,
    write_table,
)
from icsa.tables.transport_files import write_transport_letters

FRAME = pl.DataFrame(
    {
        "id": [1, 2, 99, None],
        "weight": [61.5, -1.0, None, 2.25],
        "sex": ["m", "f", "ü", None],
        "born": [dt.date(1950, 1, 2), None, dt.date(2000, 2, 29), dt.date(2021, 1, 1)],
        "seen": [
            dt.datetime(2020, 1, 2, 3, 4, 5),
            None,
            dt.datetime(2021, 1, 1),
            dt.datetime(2021, 1, 1, 1, 1, 1, 500_000),
        ],
        "slept": [dt.time(1, 2, 3), None, dt.time(4, 5), dt.time(23, 59, 59)],
    }
)
VARIABLES = {
    "id": Variable(
        label="Number",
        value_labels={1: "one", 99: "refused"},
        missing_codes=(99, (100, 200)),
        measurement="ordinal",
    ),
    "weight": Variable(label="Weight in kg", missing_codes=(-1.0,), measurement="scale"),
    "sex": Variable(value_labels={"m": "male", "f": "female"}, measurement="nominal"),
}
SUFFIXES = (
    "csv tsv txt csv.gz tsv.gz parquet pq feather arrow ipc xlsx sav zsav dta xpt".split()  # noqa: SIM905
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path, copy = tmp_path / f"t.{suffix}", tmp_path / f"copy.{suffix}"
    write_table(Table(FRAME, VARIABLES), path)
    table = read_table(path)
    assert table.frame.schema == FRAME.schema
    assert table.frame.equals(FRAME)
    write_table(table, copy)
    again = read_table(copy)
    assert again.frame.equals(table.frame)
    assert dict(again.variables) == dict(table.variables)
    assert again.layout == table.layout


@pytest.mark.parametrize("suffix", ["sav", "zsav"])
def test_spss_keeps_labels_levels_and_codes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(Table(FRAME, VARIABLES), path)
    table = read_table(path)
    number = table.variable("id")
    assert number.label == "Number"
    assert number.value_labels == {1: "one", 99: "refused"}
    assert all(isinstance(value, int) for value in number.value_labels)
    assert set(number.missing_codes) == {99, (100, 200)}
    assert number.measurement == "ordinal"
    assert table.variable("weight").missing_codes == (-1.0,)
    assert table.variable("sex").value_labels == {"m": "male", "f": "female"}
    assert table.frame["id"].to_list() == [1, 2, 99, None]


def test_stata_keeps_labels_of_whole_numbers(tmp_path: Path) -> None:
    write_table(Table(FRAME, VARIABLES), tmp_path / "t.dta")
    table = read_table(tmp_path / "t.dta")
    assert table.variable("id").value_labels == {1: "one", 99: "refused"}
    assert table.variable("weight").label == "Weight in kg"


def test_sas_keeps_labels_of_columns(tmp_path: Path) -> None:
    write_table(Table(FRAME, VARIABLES), tmp_path / "t.xpt")
    assert read_table(tmp_path / "t.xpt").variable("id").label == "Number"


def test_sas_data_sets_go_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No library here writes .sas7bdat: the bytes are a transport file's, and so is their reader;
    # letters come as pyreadstat gives them, as capitals among the numbers.
    def read(path: str, *, user_missing: bool, **options: Any) -> Any:
        assert user_missing
        frame, meta = pyreadstat.read_xport(path, **options)
        weight = pl.Series("weight", [61.5, -1.0, "R", 2.25], dtype=pl.Object)
        meta.missing_user_values = {"weight": ["R"]}
        return frame.with_columns(weight), meta

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read)
    write_table(Table(FRAME, VARIABLES), tmp_path / "t.xpt")
    (tmp_path / "t.xpt").rename(tmp_path / "t.sas7bdat")
    table = read_table(tmp_path / "t.sas7bdat")
    assert table.frame.equals(FRAME)
    assert table.variable("id").label == "Number"
    assert table.missing_letters["weight"].to_list() == [None, None, "r", None]
    write_table(table, default_output(tmp_path / "t.sas7bdat"))
    again = read_table(tmp_path / "t.release.xpt")
    assert again.frame.equals(FRAME)
    assert again.missing_letters["weight"].equals(table.missing_letters["weight"])


def test_single_precision_of_stata_is_read_as_it_was_typed_in(tmp_path: Path) -> None:
    import pandas as pd

    typed_in = [71.3, 4.9, -0.01, 1e-7, 123_456_792.0, None]
    frame = pd.DataFrame({"w": pd.Series(typed_in, dtype="float32"), "n": [1, 2, 3, 4, 5, 6]})
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    table = read_table(tmp_path / "t.dta")
    assert table.frame["w"].to_list() == typed_in
    write_table(table, tmp_path / "copy.dta")
    assert read_table(tmp_path / "copy.dta").frame["w"].to_list() == typed_in


def test_another_format_than_the_input(tmp_path: Path) -> None:
    write_table(Table(FRAME, VARIABLES), tmp_path / "t.sav")
    table = read_table(tmp_path / "t.sav")
    for suffix in ("csv", "dta", "xpt", "xlsx", "parquet"):
        write_table(table, tmp_path / f"t.{suffix}")
        assert read_table(tmp_path / f"t.{suffix}").frame.equals(FRAME)


def test_durations_and_dates_with_codes_in_spss(tmp_path: Path) -> None:
    pyreadstat.write_sav(
        pl.DataFrame({"t": [90_000.0, 60.0], "d": [13_799_894_400.0, 86_400.0]}),
        str(tmp_path / "t.sav"),
        variable_format={"t": "TIME8", "d": "EDATE10"},
        missing_ranges={"d": [{"lo": 86_400, "hi": 86_400}]},
    )
    table = read_table(tmp_path / "t.sav")
    assert table.frame["t"].to_list() == [dt.timedelta(hours=25), dt.timedelta(minutes=1)]
    assert table.frame["d"].to_list() == [dt.date(2020, 2, 1), None]
    assert table.variable("d").missing_codes == ()


def test_numbers_that_are_no_dates_stay_numbers(tmp_path: Path) -> None:
    pyreadstat.write_sav(
        pl.DataFrame({"d": [1e18, 1.0]}), str(tmp_path / "t.sav"), variable_format={"d": "DATE11"}
    )
    assert read_table(tmp_path / "t.sav").frame["d"].to_list() == [1e18, 1.0]


def lettered(tmp_path: Path) -> Path:
    """Return a Stata file with letters among whole numbers, numbers and dates."""
    path = tmp_path / "t.dta"
    columns = {"x": [1, "a", None, "z"], "w": [1.5, 2.5, "b", None], "d": [20_000, "c", 1, 0]}
    pyreadstat.write_dta(
        pl.DataFrame({name: pl.Series(v, dtype=pl.Object) for name, v in columns.items()}),
        str(path),
        missing_user_values={"x": ["a", "y", "z"], "w": ["b"], "d": ["c"]},
        variable_value_labels={"x": {1: "one", "a": "refused", "y": "not asked"}},
        variable_format={"d": "%td"},
    )
    return path


def test_stata_letters_are_missing_with_their_reason(tmp_path: Path) -> None:
    table = read_table(lettered(tmp_path))
    assert table.frame["x"].to_list() == [1, None, None, None]
    assert table.frame["w"].to_list() == [1.5, 2.5, None, None]
    assert table.frame["d"].to_list() == [
        dt.date(2014, 10, 4),
        None,
        dt.date(1960, 1, 2),
        dt.date(1960, 1, 1),
    ]
    letters = {name: found.to_list() for name, found in table.missing_letters.items()}
    assert letters == {
        "x": [None, "a", None, "z"],
        "w": [None, None, "b", None],
        "d": [None, "c", None, None],
    }
    assert table.variable("x").value_labels == {1: "one"}
    assert table.variable("x").letter_labels == {"a": "refused", "y": "not asked"}


@pytest.mark.parametrize("suffix", ["dta", "xpt"])
def test_letters_survive(tmp_path: Path, suffix: str) -> None:
    table = read_table(lettered(tmp_path))
    target = tmp_path / f"copy.{suffix}"
    write_table(table, target)
    again = read_table(target)
    assert again.frame.equals(table.frame)
    assert unwritten_reasons(table, target) == ()
    assert set(again.missing_letters) == {"x", "w", "d"}
    for name, letters in again.missing_letters.items():
        assert letters.equals(table.missing_letters[name])
    if suffix == "dta":
        assert again.variables == table.variables


@pytest.mark.parametrize("suffix", ["csv", "sav", "parquet", "xlsx"])
def test_letters_that_a_format_does_not_have_are_told(tmp_path: Path, suffix: str) -> None:
    table = read_table(lettered(tmp_path))
    (sentence,) = unwritten_reasons(table, tmp_path / f"t.{suffix}")
    assert sentence.startswith("x, w, d: 4 lettered missing value(s) (.a, .b, .c, .z) are written")
    write_table(table, tmp_path / f"t.{suffix}")
    assert read_table(tmp_path / f"t.{suffix}").frame["x"].null_count() == 3


def test_codes_that_a_format_does_not_declare_are_told() -> None:
    table = Table(
        pl.DataFrame({"x": [1.5, 99.0], "y": [1, 2]}), {"x": Variable(missing_codes=(99.0,))}
    )
    (sentence,) = unwritten_reasons(table, "t.csv")
    assert sentence.startswith("x: codes for missing are written as plain values")
    assert unwritten_reasons(table, "t.sav") == ()


def test_the_letter_that_only_sas_has(tmp_path: Path) -> None:
    letters = {"x": pl.Series("x", [None, "_", "a"])}
    table = Table(
        pl.DataFrame({"x": [1.5, None, None], "s": ["a", "A", "_"]}), {}, missing_letters=letters
    )
    write_table(table, tmp_path / "t.xpt")
    assert read_table(tmp_path / "t.xpt").missing_letters["x"].equals(letters["x"])
    write_table(table, tmp_path / "t.dta")
    assert read_table(tmp_path / "t.dta").missing_letters["x"].to_list() == [None, None, "a"]
    assert "x: 1 lettered missing value(s) (._)" in unwritten_reasons(table, "t.dta")[0]


@pytest.mark.parametrize("version", [5, 8])
def test_letters_in_both_versions_of_transport_files(tmp_path: Path, version: int) -> None:
    frame = pl.DataFrame({"s": ["A", "bc", ""], "x": [1.0, None, -65.0], "y": [None, 16.0, 0.0]})
    path = tmp_path / "t.xpt"
    labels = {"x": "a label that is longer than forty characters, which needs a record of its own"}
    pyreadstat.write_xport(
        frame,
        str(path),
        file_format_version=version,
        column_labels=labels if version == 8 else None,
    )
    letters = {"x": pl.Series([None, "q", None]), "y": pl.Series(["a", None, None])}
    write_transport_letters(path, frame, letters)
    table = read_table(path)
    assert table.frame["x"].to_list() == [1, None, -65]
    assert {n: found.to_list() for n, found in table.missing_letters.items()} == {
        "x": [None, "q", None],
        "y": ["a", None, None],
    }


def test_a_damaged_transport_file_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(pl.DataFrame({"s": ["A", "b"], "x": [1.0, None]}), str(path))
    whole = path.read_bytes()
    for place in range(240, len(whole), 3):
        path.write_bytes(whole[:place] + b"x" + whole[place + 1 :])
        with contextlib.suppress(InputError):
            read_table(path)


def test_a_letter_of_a_cell_that_is_there_is_not_written(tmp_path: Path) -> None:
    letters = {"x": pl.Series("x", ["a", "b"])}
    table = Table(pl.DataFrame({"x": [1.5, None]}), missing_letters=letters)
    write_table(table, tmp_path / "t.dta")
    assert read_table(tmp_path / "t.dta").missing_letters["x"].to_list() == [None, "b"]
    assert table.with_frame(table.frame).missing_letters == {}


def test_zero_rows(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        path = tmp_path / f"zero.{suffix}"
        write_table(Table(FRAME.clear()), path)
        assert read_table(path).frame.columns == FRAME.columns
        assert read_table(path).frame.height == 0


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_ordered_categories_keep_their_order(tmp_path: Path, suffix: str) -> None:
    import pandas as pd

    levels = ["none", "trace", "plus", "strong", "never seen"]
    grades = ["plus", "none", None, "strong", "trace"]
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3, 4, 5],
            "grade": pd.Categorical(grades, categories=levels, ordered=True),
            "place": pd.Categorical(["a", "b", "a", "b", "a"]),
        }
    )
    path, copy = tmp_path / f"t.{suffix}", tmp_path / f"copy.{suffix}"
    (frame.to_parquet if suffix == "parquet" else frame.to_feather)(path)
    table = read_table(path)
    assert table.frame["grade"].dtype == pl.Enum(levels)
    assert table.frame["grade"].to_list() == grades
    assert table.frame["place"].dtype == pl.Categorical
    write_table(table, copy)
    back = (pd.read_parquet if suffix == "parquet" else pd.read_feather)(copy)
    assert back["grade"].cat.ordered
    assert list(back["grade"].cat.categories) == levels
    assert back["grade"].cat.codes.tolist() == frame["grade"].cat.codes.tolist()


def test_ordered_categories_in_a_stream_of_arrow(tmp_path: Path) -> None:
    import pyarrow as pa

    cells = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["b", "a"]), ordered=True)
    source = pa.table({"z": cells})
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file,
        pa.ipc.new_stream(file, source.schema) as out,
    ):
        out.write_table(source)
    assert read_table(tmp_path / "t.arrow").frame["z"].dtype == pl.Enum(["b", "a"])


def test_the_same_name_twice_in_an_arrow_file(tmp_path: Path) -> None:
    import pyarrow as pa

    source = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file,
        pa.ipc.new_file(file, source.schema) as out,
    ):
        out.write_table(source)
    with pytest.raises(InputError, match="the same name more than once"):
        read_table(tmp_path / "t.arrow")


def test_without_pyarrow_categories_have_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    import pandas as pd

    frame = pd.DataFrame({"z": pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)})
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert read_table(tmp_path / "t.parquet").frame["z"].to_list() == ["b", "a"]


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_decimals_of_too_many_digits(
    tmp_path: Path, suffix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    import pyarrow as pa
    import pyarrow.feather

    table = pa.table({"n": [1], "x": pa.array([1]).cast(pa.decimal256(50, 2))})
    path = tmp_path / f"t.{suffix}"
    (pq.write_table if suffix == "parquet" else pyarrow.feather.write_feather)(table, path)
    with pytest.raises(InputError, match="column 'x' has decimals of 50 digits"):
        read_table(path)
    assert capfd.readouterr().err == ""


# Workbooks.


def make_workbook(path: Path) -> None:
    with xlsxwriter.Workbook(path) as book:
        first, second = book.add_worksheet("People"), book.add_worksheet("Notes")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for column, name in enumerate(["n", "mixed", "day", "code", "", "none"]):
            first.write_string(0, column, name)
        for row in (1, 2, 3):
            first.write_number(row, 0, row)
            first.write_string(row, 3, f"00{row}")
            first.write_boolean(row, 4, row == 2)
        first.write_number(1, 1, 1.5)
        first.write_string(2, 1, "n/a")
        first.write_number(3, 1, 2)
        first.write_datetime(1, 2, dt.date(2020, 1, 31), day)
        first.write_string(2, 2, "NA")
        first.write_datetime(3, 2, dt.date(2020, 2, 1), day)
        second.write_string(0, 0, "a")
        second.write_string(1, 0, "word")


def test_workbook_types(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_workbook(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert table.frame.to_dict(as_series=False) == {
        "n": [1, 2, 3],
        "mixed": [1.5, None, 2.0],
        "day": [dt.date(2020, 1, 31), None, dt.date(2020, 2, 1)],
        "code": ["001", "002", "003"],
        "column_5": [False, True, False],
        "none": [None, None, None],
    }
    assert describe_layout(table) == (
        "Excel, sheet 'People' (not read: 'Notes'), 3 rows, 6 columns, "
        "1 without a name in the header: it is called 'column_5'"
    )
    assert not caplog.records


def test_sheets(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    make_workbook(path)
    for sheet in ("Notes", 2, "2"):
        assert read_table(path, sheet=sheet).frame["a"].to_list() == ["word"]
    for sheet in ("Nowhere", 3, 0, -1, "²", ""):
        with pytest.raises(InputError, match=r"no sheet .* Its sheets: 'People', 'Notes'"):
            read_table(path, sheet=sheet)


def test_an_empty_sheet(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Cover")
        for name in ("People", "Notes"):
            book.add_worksheet(name).write_string(0, 0, "n")
    expected = r"sheet 'Cover' is empty\. Read another one with --sheet: 'People', 'Notes'\.$"
    for sheet in (None, "Cover", 1):
        with pytest.raises(InputError, match=expected):
            read_table(path, sheet=sheet)
    assert read_table(path, sheet=2).frame.columns == ["n"]
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Only")
    with pytest.raises(InputError, match=r"sheet 'Only' is empty\. Save it again\.$"):
        read_table(path)


def test_text_that_looks_like_a_formula_stays_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["=1+1", "http://x.y", "{=3}"]})
    write_table(Table(frame), tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").frame.equals(frame)


# Metadata.


def test_parquet_says_nothing_of_the_original(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame({"a": [1, 2]}, index=["Ann", "Bob"]).to_parquet(tmp_path / "in.parquet")
    table = read_table(tmp_path / "in.parquet")
    write_table(table.with_frame(table.frame.select("a")), tmp_path / "out.parquet")
    metadata = pq.read_metadata(tmp_path / "out.parquet").metadata or {}
    assert set(metadata) <= {b"ARROW:schema"}
    assert b"Ann" not in (tmp_path / "out.parquet").read_bytes()
    assert pq.read_schema(tmp_path / "out.parquet").metadata is None


def test_arrow_says_nothing_of_the_original(tmp_path: Path) -> None:
    import pyarrow as pa

    source = pa.table({"a": [1]}).replace_schema_metadata({"who": "Ann"})
    with (
        pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file,
        pa.ipc.new_stream(file, source.schema) as out,
    ):
        out.write_table(source)
    write_table(read_table(tmp_path / "in.arrow"), tmp_path / "out.arrow")
    with pa.ipc.open_file(str(tmp_path / "out.arrow")) as file:
        assert not file.schema.metadata
        assert file.schema.field("a").metadata is None


def test_spss_has_neither_label_nor_notes(tmp_path: Path) -> None:
    pyreadstat.write_sav(
        pl.DataFrame({"a": [1.0]}), str(tmp_path / "in.sav"), file_label="Ann's", note="by Ann"
    )
    write_table(read_table(tmp_path / "in.sav"), tmp_path / "out.sav")
    meta: Any = pyreadstat.read_sav(str(tmp_path / "out.sav"), output_format="polars")[1]
    assert not meta.file_label
    assert meta.notes == []


def test_workbooks_have_no_author_and_a_fixed_date(tmp_path: Path) -> None:
    make_workbook(tmp_path / "in.xlsx")
    write_table(read_table(tmp_path / "in.xlsx"), tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as book:
        core = book.read("docProps/core.xml").decode()
        dates = {entry.date_time for entry in book.infolist()}
    assert "<dc:creator></dc:creator>" in core
    assert "<cp:lastModifiedBy></cp:lastModifiedBy>" in core
    assert core.count("2000-01-01T00:00:00Z") == 2
    assert dates == {(1980, 1, 1, 0, 0, 0)}


def test_the_same_table_gives_the_same_workbook(tmp_path: Path) -> None:
    for name in ("a.xlsx", "b.xlsx"):
        write_table(Table(FRAME), tmp_path / name)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


# Errors.


def test_unknown_suffixes(tmp_path: Path) -> None:
    for name in ("t.doc", "t", "t.gz", "t.parquet.gz"):
        (tmp_path / name).write_text("a\n1\n")
        with pytest.raises(InputError, match=r"Known suffixes: \.csv, \.tsv, .*\.xpt"):
            read_table(tmp_path / name)
    assert read_table(tmp_path / "t.doc", file_format="csv").frame.rows() == [(1,)]
    with pytest.raises(InputError, match="No file format 'word'"):
        read_table(tmp_path / "t.doc", file_format="word")


def test_no_file_a_folder_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path / "folder.csv")
    for suffix in SUFFIXES:
        (tmp_path / f"t.{suffix}").touch()
        with pytest.raises(InputError, match="is empty"):
            read_table(tmp_path / f"t.{suffix}")


@pytest.mark.parametrize("suffix", ["parquet", "feather", "xlsx", "sav", "zsav", "dta", "xpt"])
def test_damaged_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(Table(FRAME), path)
    whole = path.read_bytes()
    for damaged in (b"secret" * 50, whole[: len(whole) // 3], whole[:20] + b"secret" * 9):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"is not a whole|has no columns") as caught:
            read_table(path)
        assert "secret" not in str(caught.value)
    path = tmp_path / "t.sas7bdat"
    path.write_bytes(b"secret" * 50)
    with pytest.raises(InputError, match="is not a whole SAS"):
        read_table(path)


def test_nested_columns(tmp_path: Path) -> None:
    pl.DataFrame({"a": [[1]], "b": [{"c": 1}]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'a', 'b' holds lists"):
        read_table(tmp_path / "t.parquet")


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old\n")
    table = Table(pl.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match="--force"):
        write_table(table, path)
    assert path.read_text() == "old\n"
    write_table(table, path, force=True)
    assert path.read_text() == "a\n1\n"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match=r"Use \.xpt"):
        write_table(table, tmp_path / "t.sas7bdat")
    with pytest.raises(InputError, match="There is no folder"):
        write_table(table, tmp_path / "nowhere" / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write_table(table, tmp_path / "folder.csv", force=True)
    with pytest.raises(InputError, match="no columns"):
        write_table(Table(pl.DataFrame()), tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("suffix", "name", "reason"),
    [
        ("sav", "body mass", "a blank"),
        ("sav", "1st", "a first character"),
        ("sav", "end.", "a sign"),
        ("sav", "by", "a word of its language"),
        ("sav", "x" * 65, "longer than 64 bytes"),
        ("dta", "body-mass", "a sign"),
        ("dta", "x" * 33, "longer than 32 characters"),
        ("dta", "int", "a word of its language"),
        ("xpt", "größe", "a sign"),
        ("xpt", "x" * 33, "longer than 32 characters"),
    ],
)
def test_names_that_a_program_does_not_allow(
    tmp_path: Path, suffix: str, name: str, reason: str
) -> None:
    with pytest.raises(InputError, match=f"Column '{name}' cannot be a name .*{reason}"):
        write_table(Table(pl.DataFrame({name: [1]})), tmp_path / f"t.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_in_capitals(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"age": [1], "AGE": [2]}))
    for suffix in ("sav", "xpt"):
        with pytest.raises(InputError, match="differs from 'age' in capitals only"):
            write_table(table, tmp_path / f"t.{suffix}")
    write_table(table, tmp_path / "t.dta")
    assert read_table(tmp_path / "t.dta").frame.rows() == [(1, 2)]


NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("suffix", "cells", "what"),
    [
        ("xlsx", [2**60], "more than 15 digits"),
        ("xlsx", [float("inf")], "infinite"),
        ("xlsx", [NOON], "time zone"),
        ("xlsx", [dt.date(1850, 1, 1)], "before March 1900"),
        ("xlsx", ["x" * 40_000], "longer than 32,767"),
        ("sav", [2**60], "more than 15 digits"),
        ("sav", [NOON], "time zone"),
        ("sav", [dt.date(1500, 1, 1)], "before 1583"),
        ("dta", [float("-inf")], "infinite"),
        ("dta", [dt.timedelta(1)], "durations"),
        ("xpt", ["x" * 40_000], "longer than 32,767"),
    ],
)
def test_cells_that_a_format_cannot_hold(
    tmp_path: Path, suffix: str, cells: list[Any], what: str
) -> None:
    with pytest.raises(InputError, match=f"Column 'here' has .*{what}"):
        write_table(Table(pl.DataFrame({"ok": [1], "here": cells})), tmp_path / f"t.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_more_rows_than_a_sheet_has(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"a": pl.zeros(1_048_576, dtype=pl.Int8, eager=True)}))
    with pytest.raises(InputError, match="1,048,575 rows"):
        write_table(table, tmp_path / "t.xlsx")


def test_a_library_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match="pip install pyreadstat"):
        write_table(Table(pl.DataFrame({"a": [1]})), tmp_path / "t.sav")


def test_default_output() -> None:
    assert default_output("x/patients.csv") == Path("x/patients.release.csv")
    assert default_output("a.csv.gz") == Path("a.release.csv.gz")
    assert default_output("a.b.PARQUET") == Path("a.b.release.PARQUET")
    assert default_output("a.sas7bdat") == Path("a.release.xpt")


# Whole files.

WRITE_FOR_EVER = """
import sys
import polars as pl
from icsa.tables import Table, write_table
table = Table(pl.DataFrame({"a": range(300_000), "b": [0.5] * 300_000}))
print("ready", flush=True)
while True:
    write_table(table, sys.argv[1], force=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_killed_while_writing_leaves_no_file_or_a_whole_one(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    for delay in (0.0, 0.01, 0.05):
        path.unlink(missing_ok=True)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITE_FOR_EVER, str(path)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert not path.exists() or read_table(path).frame.height == 300_000
