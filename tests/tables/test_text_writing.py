"""Text tables come out as they came in, and read again they are the same."""

from __future__ import annotations

import datetime as dt
import gzip
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.tables import Layout, Table, Variable, read_table, write_table
from icsa.tables.text_cells import MISSING

SAME = [
    "a,b\n1,x\n2,y\n",
    "a;b\r\n1,50;x\r\n12,25;\r\n",
    "a;b\n1.234,5;x\n12.345.678,5;y\n-1.234,5;z\n",
    'a,b\n"1,234",x\n"12,345,678",y\n-12,z\n',
    "a\tb\n1 234\tx\n12\ty\n123 456\tz\n",
    "a,b\n31-01-2020,09:30\nNA,10:45\n",
    "a,b\n1/31/2020,TRUE\n12/1/2020,FALSE\n",
    "a,b\n2020-01-31T10:20:30.125Z,True\n2020-02-01T00:00:00.000Z,False\n",
    "a,b\n0.1,1e-7\n0.25,5e-324\n1e+300,0.5\n",
    "a|b\n007|x\n012|y\n",
    'a,b\n"x ""y"", z\nw",1\n5,2\n',
    "a,b\n.,x\n1.5,y\n",
    'a,b\n-,x\n1,""\n',
    'a\n1.5\n""\n2.5\n',
    "naïve,größe\né,1\n",
]


@pytest.mark.parametrize("text", SAME)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
def test_same_bytes(tmp_path: Path, text: str, encoding: str) -> None:
    path, copy = tmp_path / "t.csv", tmp_path / "copy.csv"
    path.write_bytes(text.encode(encoding))
    write_table(read_table(path, encoding=encoding), copy)
    assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "source", "target", "separator"),
    [
        ('a,b\n1.5,x y\n2.5,"y,z"\n', "t.csv", "r.tsv", "\t"),
        ('a,b\n1.5,x y\n2.5,"y,z"\n', "t.csv", "r.tsv.gz", "\t"),
        ('a,b\n1.5,x y\n2.5,"y,z"\n', "t.csv", "r.TSV", "\t"),
        ("a;b\n1,5;x\n2,5;y\n", "t.csv", "r.tsv", "\t"),
        ("a\tb\n1.5\tx\n2.5\ty,z\n", "t.tsv", "r.csv", ","),
        ("a\tb\n1.5\tx\n2.5\ty,z\n", "t.tsv.gz", "r.csv", ","),
        ("a\tb\n1,5\tx\n2,5\ty\n", "t.tsv", "r.csv", ";"),
        ("a\tb\n1.5\tx\n2.5\ty\n", "t.csv", "r.csv.gz", "\t"),
        ("a\tb\n1.5\tx\n2.5\ty\n", "t.tsv", "r.txt", "\t"),
        ("a;b\n1.5;x\n2.5;y\n", "t.tsv", "r.tsv", ";"),
        ("a|b\n1.5|x\n2.5|y\n", "t.txt", "r.csv", "|"),
    ],
)
def test_the_suffix_says_the_separator_where_it_changes(
    tmp_path: Path, text: str, source: str, target: str, separator: str
) -> None:
    content = text.encode()
    path = tmp_path / source
    path.write_bytes(gzip.compress(content) if source.endswith(".gz") else content)
    table = read_table(path)
    write_table(table, tmp_path / target)
    again = read_table(tmp_path / target)
    assert again.layout.separator == separator
    assert again.frame.equals(table.frame)


def test_gzip_has_neither_name_nor_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    write_table(Table(pl.DataFrame({"a": [1]})), path)
    packed = path.read_bytes()
    assert gzip.decompress(packed) == b"a\n1\n"
    assert packed[3] == 0  # no flags: no name, no comment
    assert packed[4:8] == b"\0\0\0\0"


def test_blocks_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("icsa.tables.text_files.TEXT_ROWS", 2)
    moments = [
        dt.datetime(2020, 1, 1, 1),
        dt.datetime(2020, 1, 2),
        dt.datetime(2020, 1, 3, 0, 0, 0, 5),
    ]
    frame = pl.DataFrame({"t": moments, "x": [1.0, 2.0, 2.125], "s": ["a", None, "'b'"]})
    for encoding in ("utf-8", "utf-16"):
        table = Table(frame, layout=Layout("csv", encoding=encoding, separator=","))
        write_table(table, tmp_path / "t.csv", force=True)
        again = read_table(tmp_path / "t.csv")
        assert again.frame.equals(frame)
        assert again.frame.schema == frame.schema


def test_numbers_with_more_digits_than_declared_are_written_in_full(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"x": [1.5, 0.125]}), {"x": Variable(decimals=1)})
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x\n1.5\n0.125\n"


@pytest.mark.parametrize("huge", [1e20, 1e300, math.inf])
def test_numbers_too_large_for_fixed_digits_come_back(tmp_path: Path, huge: float) -> None:
    table = Table(pl.DataFrame({"x": [1.5, -huge]}), {"x": Variable(decimals=1)})
    write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").frame.equals(table.frame)


def test_thousands_beside_infinite_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [-1234.5, math.inf, None, 12.25], "y": [1, 2, 3, 4]})
    layout = Layout("csv", separator=";", decimal=",", thousands=".")
    write_table(Table(frame, {"x": Variable(text_format="grouped")}, layout), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x;y\n-1.234,5;1\ninf;2\n;3\n12,25;4\n"
    assert read_table(tmp_path / "t.csv", decimal=",").frame.equals(frame)


def test_categories_durations_and_nan(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "c": pl.Series(["x", None], dtype=pl.Categorical),
            "e": pl.Series(["x", "y"], dtype=pl.Enum(["y", "x"])),
            "d": [dt.timedelta(hours=30), None],
            "n": [math.nan, 1.5],
        }
    )
    write_table(Table(frame), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "c,e,d,n\nx,x,P1DT6H,\n,y,,1.5\n"


def test_characters_that_the_encoding_does_not_have(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"a": ["日本"]}), layout=Layout("csv", encoding="cp1252"))
    with pytest.raises(InputError, match="cannot be written as Windows-1252"):
        write_table(table, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


# Cells that are text whatever stands beside them.
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\r\t,;|\"'"), min_size=1
)
NAME = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8
)
COLUMNS = st.one_of(
    st.tuples(st.just(pl.Int64), st.just(st.integers(-(2**63), 2**63 - 1))),
    st.tuples(st.just(pl.Float64), st.just(st.floats(allow_nan=False))),
    st.tuples(st.just(pl.Boolean), st.just(st.booleans())),
    st.tuples(st.just(pl.Date), st.just(st.dates(dt.date(1000, 1, 1)))),
    st.tuples(st.just(pl.Datetime("us")), st.just(st.datetimes(dt.datetime(1000, 1, 1)))),
    st.tuples(st.just(pl.Time), st.just(st.times())),
    st.tuples(st.just(pl.String), st.just(TEXT.map(lambda text: f"x{text}"))),
)


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 6))
    columns = []
    for name in names:
        dtype, values = draw(COLUMNS)
        cells = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        assume(any(cell is not None for cell in cells))
        columns.append(pl.Series(name, cells, dtype=dtype))
    return pl.DataFrame(columns)


@given(
    frame=frames(),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    missing=st.sampled_from([*MISSING, ".", "-"]),
)
def test_any_table_written_and_read_again_is_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    frame: pl.DataFrame,
    separator: str,
    decimal: str,
    encoding: str,
    newline: str,
    missing: str,
) -> None:
    assume(not any(name == "*" or (name[0] == "^" and name[-1] == "$") for name in frame.columns))
    assume(not any(name.strip("\ufeff") != name for name in frame.columns))
    assume(not frame.columns[0].lower().startswith("sep="))
    # Blank rows at the end are left out.
    assume(frame.width == 1 or any(cell is not None for cell in frame.row(-1)))
    layout = Layout(
        "csv",
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        newline=newline,
        missing=missing,
    )
    path = tmp_path_factory.mktemp("any") / "t.csv"
    write_table(Table(frame, layout=layout), path)
    again = read_table(path, encoding=encoding, separator=separator, decimal=decimal)
    assert again.frame.schema == frame.schema
    assert again.frame.equals(frame)
