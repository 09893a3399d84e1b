"""Frames come back as they came, without their index and their metadata."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icsa.errors import InputError
from icsa.tables import Table, from_frame, to_frame


def pandas_frame() -> pd.DataFrame:
    moments = pd.Series(pd.to_datetime(["2020-01-01 00:00", None, "2021-05-06 12:30"]))
    frame = pd.DataFrame(
        {
            "int": [1, 2, 3],
            "int8": np.array([1, 2, 3], dtype="int8"),
            "float": [1.5, np.nan, 2.0],
            "float32": np.array([1, np.nan, 3], dtype="float32"),
            "bool": [True, False, True],
            "str": ["a", None, "b"],
            "object": pd.Series(["a", None, "b"], dtype=object),
            "object dates": pd.Series(
                [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)], dtype=object
            ),
            "string": pd.Series(["a", None, "b"], dtype="string"),
            "Int64": pd.Series([1, None, 3], dtype="Int64"),
            "UInt8": pd.Series([1, None, 3], dtype="UInt8"),
            "Float64": pd.Series([1.5, None, 3], dtype="Float64"),
            "boolean": pd.Series([True, None, False], dtype="boolean"),
            "category": pd.Categorical(["x", None, "y"], categories=["z", "y", "x"]),
            "ordered": pd.Categorical(["x", "x", "y"], categories=["y", "x"], ordered=True),
            "numbers": pd.Categorical([1, None, 3]),
            "moment": moments,
            "seconds": moments.astype("datetime64[s]"),
            "nanoseconds": moments.astype("datetime64[ns]"),
            "zone": moments.dt.tz_localize("Europe/Berlin"),
            "span": pd.to_timedelta(["1h", None, "2h"]),
            "arrow": pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int16())),
            "arrow text": pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.string())),
            2020: [1, 2, 3],
            ("a", 1): [1, 2, 3],
        }
    )
    frame.attrs = {"who": "Ann"}
    return frame.set_axis(["Ann", "Bob", "Cy"])


def test_pandas_comes_back_in_its_types_without_its_index() -> None:
    frame = pandas_frame()
    back = to_frame(from_frame(frame), frame)
    pd.testing.assert_frame_equal(back, frame.reset_index(drop=True), check_column_type=True)
    assert isinstance(back.index, pd.RangeIndex)
    assert back.attrs == {}


def test_categories_of_pandas() -> None:
    table = from_frame(pandas_frame())
    assert table.frame["ordered"].dtype == pl.Enum(["y", "x"])
    assert table.variable("ordered").measurement == "ordinal"
    assert table.variable("category").measurement == "nominal"
    assert table.frame["numbers"].to_list() == ["1", None, "3"]
    assert table.frame["numbers"].dtype == pl.Enum(["1", "3"])


def test_fewer_other_and_changed_columns() -> None:
    frame = pd.DataFrame({"id": [1, 2], "c": pd.Categorical(["x", "y"]), "n": [1, 2]})
    changed = Table(
        pl.DataFrame(
            {
                "n": [5, None, 7],
                "id": ["r1", "r2", "r3"],
                "c": ["x", "w", "x"],
                "new": [1.5, None, 2],
            }
        )
    )
    back = to_frame(changed, frame)
    assert list(back.columns) == ["n", "id", "c", "new"]
    assert back["n"].dtype == "Int64"
    assert back["id"].tolist() == ["r1", "r2", "r3"]
    assert back["c"].tolist() == ["x", "w", "x"]


def test_zero_rows_of_pandas() -> None:
    frame = pandas_frame().iloc[:0]
    back = to_frame(from_frame(frame), frame)
    assert list(back.dtypes) == [
        dtype if name not in ("object dates",) else back[name].dtype
        for name, dtype in frame.dtypes.items()
    ]


def test_polars_comes_back_in_its_types() -> None:
    frame = pl.DataFrame(
        {
            "cat": pl.Series(["x", None], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y"], dtype=pl.Enum(["y", "x"])),
            "small": pl.Series([1, 2], dtype=pl.UInt16),
            "nan": [1.0, float("nan")],
            "decimal": pl.Series(["1.50", None]).cast(pl.Decimal(10, 2)),
        }
    )
    back = to_frame(from_frame(frame), frame)
    assert back.schema == frame.schema
    assert back["nan"].to_list() == [1.0, None]


def test_arrow_comes_back_in_its_types_without_metadata() -> None:
    frame = pa.table(
        {
            "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
            "string": pa.array(["x", None, "y"]),
            "large": pa.array(["x", None, "y"], pa.large_string()),
            "int16": pa.array([1, None, 3], pa.int16()),
            "day": pa.array([dt.date(2020, 1, 1)] * 3),
            "moment": pa.array([dt.datetime(2020, 1, 1)] * 3, pa.timestamp("ms", tz="UTC")),
            "clock": pa.array([dt.time(1)] * 3, pa.time32("s")),
            "span": pa.array([1, 2, 3], pa.duration("s")),
        }
    ).replace_schema_metadata({"who": "Ann"})
    back = to_frame(from_frame(frame), frame)
    assert back.equals(frame)
    assert back.schema.types == frame.schema.types
    assert back.schema.metadata is None
    batch = frame.to_batches()[0]
    assert to_frame(from_frame(batch), batch).equals(batch)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"x": [[1], [2]]}), "Column 'x' holds values of several or unusual types"),
        (pd.DataFrame({"x": [1, "secret"]}), "Column 'x' holds values of several"),
        (pd.DataFrame({"x": [1j]}), "Column 'x' holds"),
        (pd.DataFrame({"x": pd.period_range("2020", periods=2, freq="Y")}), "Column 'x' holds"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name: 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "same name: '1'"),
        (pl.LazyFrame({"a": [1]}), r"collect\(\)"),
        (pl.DataFrame({"a": [[1]]}), "column 'a' holds lists"),
        (pl.DataFrame({"^a$": [1]}), "cannot keep its name"),
        (pa.table([[1], [2]], names=["a", "a"]), "same name: 'a'"),
        (np.zeros((2, 2)), r"got numpy\.ndarray"),
    ],
)
def test_frames_that_cannot_be_used(frame: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        from_frame(frame)
    assert "secret" not in str(caught.value)


def test_only_frames_can_be_likened() -> None:
    with pytest.raises(InputError, match=r"got builtins\.list"):
        to_frame(Table(pl.DataFrame({"a": [1]})), [1])


def test_tables_load_no_library_before_it_is_needed() -> None:
    code = (
        "import sys, polars as pl, icsa.tables as t; t.from_frame(pl.DataFrame({'a': [1]}));"
        "print(*[m for m in ('pandas','pyarrow','pyreadstat','fastexcel','xlsxwriter','openpyxl')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# Ordered categories.

LEVELS = ["none", "trace", "plus", "strong", "never seen"]


def graded(ordered: bool = True, pieces: int = 2) -> pa.Table:
    """Return a table of Arrow with a category whose order is not that of the alphabet."""
    codes = pa.array([3, 0, None, 1, 2, 2], pa.int8())
    piece = pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=ordered)
    number = pa.chunked_array([pa.array([1, 2, 3, 4, 5, 6])] * pieces)
    return pa.table({"n": number, "z": pa.chunked_array([piece] * pieces)})


@pytest.mark.parametrize("as_batch", [False, True])
def test_ordered_dictionaries_of_arrow_keep_their_order(as_batch: bool) -> None:
    frame = graded(pieces=1).to_batches()[0] if as_batch else graded()
    table = from_frame(frame)
    assert table.frame["z"].dtype == pl.Enum(LEVELS)
    assert table.variable("z").measurement == "ordinal"
    turned = table.with_frame(table.frame.reverse())
    back = to_frame(turned, frame)
    assert type(back) is type(frame)
    assert back.schema.field("z").type == frame.schema.field("z").type
    column = back.column("z")
    assert (column if as_batch else column.chunk(0)).dictionary.to_pylist() == LEVELS
    assert column.to_pylist() == frame.column("z").to_pylist()[::-1]


def test_dictionaries_of_arrow_without_order_have_the_levels_of_their_cells() -> None:
    frame = graded(ordered=False)
    table = from_frame(frame)
    assert table.frame["z"].dtype == pl.Categorical
    back = to_frame(table.with_frame(table.frame.filter(pl.col("z") != "strong")), frame)
    assert back.column("z").type == frame.column("z").type
    assert set(back.column("z").chunk(0).dictionary.to_pylist()) == {"none", "trace", "plus"}


def test_a_new_level_makes_an_ordered_dictionary_text() -> None:
    frame = graded()
    table = from_frame(frame)
    back = to_frame(table.with_frame(pl.DataFrame({"z": ["other", "plus"]})), frame)
    assert back.column("z").to_pylist() == ["other", "plus"]


def test_dictionaries_whose_pieces_have_other_orders_stay_without() -> None:
    one = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["a", "b"]), ordered=True)
    two = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["b", "a"]), ordered=True)
    frame = pa.table({"z": pa.chunked_array([one, two])})
    assert from_frame(frame).frame["z"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([dt.timedelta(0)], pa.duration("us")).cast(pa.int64()).cast(pa.decimal256(50, 2)),
        pa.RunEndEncodedArray.from_arrays([1], pa.array([1])),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ],
)
def test_types_of_arrow_that_are_not_supported(
    column: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"Column 'x' has the type .* of Arrow, which is not"):
        from_frame(pa.table({"n": [1], "x": column}))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "categories",
    [
        range(12),
        [0.5, 1.5, 2.0],
        pd.to_datetime(["2020-01-01", "2020-06-01", "2021-01-01"]),
        pd.to_datetime(["2020-01-01 12:00", "2020-06-01 00:00"]),
        pd.interval_range(0, 4),
        [True, False],
        [dt.date(2020, 1, 1), dt.date(2021, 1, 1)],
    ],
)
@pytest.mark.parametrize("ordered", [False, True])
def test_categories_of_other_things_than_texts(categories: Any, ordered: bool) -> None:
    levels = pd.Index(categories)
    codes = [0, 1, -1, len(levels) - 1, 1]
    column = pd.Categorical.from_codes(codes, categories=levels, ordered=ordered)
    frame = pd.DataFrame({"c": column, "n": [1, 2, 3, 4, 5]})
    table = from_frame(frame)
    assert not table.frame["c"].dtype.is_numeric()
    assert table.variable("c").measurement == ("ordinal" if ordered else "nominal")
    back = to_frame(table.with_frame(table.frame.reverse()), frame)
    expected = frame.iloc[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(back, expected)


def test_numbers_that_are_categories_and_others_that_are_not() -> None:
    frame = pd.DataFrame({"c": pd.Categorical([1, 2, 3])})
    kept = to_frame(Table(pl.DataFrame({"c": [3, None, 1]})), frame)
    assert kept["c"].dtype == frame["c"].dtype
    assert kept["c"].cat.codes.tolist() == [2, -1, 0]
    other = to_frame(Table(pl.DataFrame({"c": [3, 4, 1]})), frame)
    assert other["c"].tolist() == [3, 4, 1]


def test_categories_that_look_the_same_are_refused() -> None:
    frame = pd.DataFrame({"c": pd.Categorical([1, "1"], categories=[1, "1"])})
    with pytest.raises(InputError, match="'c' holds values of several or unusual types"):
        from_frame(frame)


@pytest.mark.parametrize("kept", [[0, 1, 2], [2, 0]])
@pytest.mark.parametrize(
    "names",
    [
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["part", None]),
        pd.Index(["x", "y", "z"], name="variable"),
        pd.Index([2019, 2020, 2021], name="year"),
        pd.RangeIndex(3),
        pd.Index([("a", 1), "b", 3], tupleize_cols=False),
    ],
)
def test_names_of_columns_come_back_whole(names: Any, kept: list[int]) -> None:
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=names)
    table = from_frame(frame)
    back = to_frame(table.with_frame(table.frame[:, kept]), frame)
    expected = frame.iloc[:, kept]
    pd.testing.assert_frame_equal(back, expected)
    assert back.columns.names == names.names
    if isinstance(names, pd.MultiIndex) and len(kept) == 2:
        assert list(back.columns.levels[1]) == [1]
