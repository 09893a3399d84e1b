"""Text tables: what is found from bytes, and one clear error where nothing can be."""

from __future__ import annotations

import codecs
import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icsa.errors import InputError
from icsa.tables import Table, describe_layout, read_table, write_table
from icsa.tables import text_reading as text_reading_module

from .in_pieces import read_in_pieces

Reader = Callable[..., Table]


WAYS = ["every cell looked at", "types from the first rows", "in pieces"]


@pytest.fixture(params=WAYS)
def read(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Read bytes or text as CSV, in the way of small files, large ones, and those beyond memory."""
    if request.param != WAYS[0]:
        monkeypatch.setattr(text_reading_module, "SMALL", 0)

    def read_bytes(content: bytes | str, name: str = "t.csv", **options: Any) -> Table:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        if request.param == WAYS[2]:
            return read_in_pieces(path, tmp_path / "scratch", **options)
        return read_table(path, **options)

    return read_bytes


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(read: Reader, separator: str, newline: str) -> None:
    lines = ["name,age", '"Smith, A",41', "Jones,39"]
    text = newline.join(line.replace(",", separator) for line in lines) + newline
    table = read(text)
    assert table.frame.rows() == [(f"Smith{separator} A", 41), ("Jones", 39)]
    assert (table.layout.separator, table.layout.newline) == (separator, newline)


@pytest.mark.parametrize(
    ("codec", "mark", "found"),
    [
        ("utf-8", b"", "utf-8"),
        ("utf-8", codecs.BOM_UTF8, "utf-8-sig"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "utf-16"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "utf-16"),
        ("utf-16-le", b"", "utf-16-le"),
        ("utf-16-be", b"", "utf-16-be"),
        ("cp1252", b"", "cp1252"),
    ],
)
def test_encodings(read: Reader, codec: str, mark: bytes, found: str) -> None:
    table = read(mark + "näme,größe\nZoë,1.5\nJosé,2.5\n".encode(codec))
    assert table.frame.columns == ["näme", "größe"]
    assert table.frame["näme"].to_list() == ["Zoë", "José"]
    assert table.layout.encoding == found


def test_bytes_that_windows_does_not_know_are_latin_1(read: Reader) -> None:
    assert read(b"a,b\n\xe9\x81,1\n").layout.encoding == "iso8859-1"


def test_a_given_encoding_is_used_and_must_fit(read: Reader) -> None:
    assert read("a,b\né,1\n".encode(), encoding="latin-1").frame["a"][0] == "Ã©"
    with pytest.raises(InputError, match=r"is not UTF-8 \(from line 1 on"):
        read(b"a,b\n\xe9,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="No encoding 'utf-9'"):
        read("a,b\n1,2\n", encoding="utf-9")
    with pytest.raises(InputError, match="No encoding 'rot13'"):
        read("a,b\n1,2\n", encoding="rot13")


def test_gzip(read: Reader) -> None:
    table = read(gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")
    assert table.frame.rows() == [(1, 2)]
    assert table.layout.compressed
    with pytest.raises(InputError, match="not a whole gzip file"):
        read(gzip.compress(b"a,b\n1,2\n")[:-9], "t.csv.gz")
    with pytest.raises(InputError, match="not a whole gzip file"):
        read(b"a,b\n1,2\n", "t.csv.gz")


@pytest.mark.parametrize(
    ("cells", "separator", "marks", "values"),
    [
        (["1,5", "22,25"], ";", (",", None), [1.5, 22.25]),
        (["1.234,5", "0,25"], ";", (",", "."), [1234.5, 0.25]),
        (["1,234.5", "0.25"], ";", (".", ","), [1234.5, 0.25]),
        (['"1,234"', '"12,345,678"'], ",", (".", ","), [1234, 12345678]),
        (['"1,25"', '"3,5"'], ",", (",", None), [1.25, 3.5]),
        (["1 234", "56 789"], ";", (".", " "), [1234, 56789]),
        (["1 234,5", "12,5"], "\t", (",", " "), [1234.5, 12.5]),
        (["1,234", "5,678"], ";", (",", None), [1.234, 5.678]),
        (["1,234", "5,678"], "\t", (".", ","), [1234, 5678]),
    ],
)
def test_decimal_marks_and_thousands(
    read: Reader, cells: list[str], separator: str, marks: tuple[str, str | None], values: list[Any]
) -> None:
    text = "".join(f"{cell}{separator}w\n" for cell in ["x", *cells])
    table = read(text)
    assert (table.layout.decimal, table.layout.thousands) == marks
    assert table.frame["x"].to_list() == values


def test_a_given_decimal_mark_is_used(read: Reader) -> None:
    assert read("a;b\n1,234;w\n", decimal=".").frame["a"].to_list() == [1234]
    with pytest.raises(InputError, match="decimal mark must be"):
        read("a;b\n1;2\n", decimal="'")


def test_a_decimal_mark_that_makes_no_numbers_is_refused(read: Reader) -> None:
    with pytest.raises(InputError, match=r"1 column is a number with '\.', and none with ','"):
        read("a;b\n1.25;w\n3.5;w\n", decimal=",")
    with pytest.raises(InputError, match=r"2 columns are numbers with ',', and none with '\.'"):
        read("a;b\n1,25;2,5\n3,5;7,1\n", decimal=".")
    assert read("a;b\n1,25;2.5\n3,5;7.1\n", decimal=",").frame["a"].to_list() == [1.25, 3.5]
    assert read("a;b\n1;w\n3;w\n", decimal=",").frame["a"].to_list() == [1, 3]


@pytest.mark.parametrize(
    ("cells", "dtype", "first"),
    [
        (["1", "-2", "+3"], pl.Int64, 1),
        (["1", "2.5"], pl.Float64, 1.0),
        ([".5", "2.", "1e-3"], pl.Float64, 0.5),
        (["inf", "2.5"], pl.Float64, float("inf")),
        (["007", "012"], pl.String, "007"),
        (["12345678901234567890", "1"], pl.String, "12345678901234567890"),
        (["true", "false"], pl.Boolean, True),
        (["TRUE", "false"], pl.String, "TRUE"),
        (["yes", "no"], pl.String, "yes"),
        (["09:30", "23:59"], pl.Time, dt.time(9, 30)),
        (["9:30:10", "23:59:00"], pl.Time, dt.time(9, 30, 10)),
        (["36:00", "01:00"], pl.Duration("us"), dt.timedelta(hours=36)),
        (["36:00", "01:61"], pl.String, "36:00"),
        (["20200131", "20200201"], pl.Int64, 20200131),
        (["2020-02-30", "2020-01-01"], pl.String, "2020-02-30"),
        (["0.5%", "2%"], pl.String, "0.5%"),
        ([" 1", "2 "], pl.Int64, 1),
        ([" a", "b "], pl.String, " a"),
        (["", ""], pl.String, None),
    ],
)
def test_types_by_cells(read: Reader, cells: list[str], dtype: Any, first: Any) -> None:
    table = read("".join(f"{cell},w\n" for cell in ["x", *cells]))
    assert table.frame["x"].dtype == dtype
    assert table.frame["x"][0] == first


@pytest.mark.parametrize(
    ("cells", "pattern", "first"),
    [
        (["2020-01-31", "2020-02-01"], "%Y-%m-%d", dt.date(2020, 1, 31)),
        (["2020/01/31", "2020/02/01"], "%Y/%m/%d", dt.date(2020, 1, 31)),
        (["31-01-2020", "01-02-2020"], "%d-%m-%Y", dt.date(2020, 1, 31)),
        (["01-31-2020", "02-01-2020"], "%m-%d-%Y", dt.date(2020, 1, 31)),
        (["31.01.2020", "01.02.2020"], "%d.%m.%Y", dt.date(2020, 1, 31)),
        (["31/01/2020", "01/02/2020"], "%d/%m/%Y", dt.date(2020, 1, 31)),
        (["01/31/2020", "02/01/2020"], "%m/%d/%Y", dt.date(2020, 1, 31)),
        (["01/02/2020", "03/04/2020"], "%m/%d/%Y", dt.date(2020, 1, 2)),
        (["01-02-2020", "03-04-2020"], "%d-%m-%Y", dt.date(2020, 2, 1)),
        (["1/31/2020", "12/1/2020"], "%-m/%-d/%Y", dt.date(2020, 1, 31)),
        (["31-Jan-2020", "01-Feb-2020"], "%d-%b-%Y", dt.date(2020, 1, 31)),
        (
            ["2020-01-31T10:20", "2020-02-01T00:00"],
            "%Y-%m-%dT%H:%M",
            dt.datetime(2020, 1, 31, 10, 20),
        ),
        (
            ["31.01.2020 10:20:30.125", "01.02.2020 00:00:00.500"],
            "%d.%m.%Y %H:%M:%S%.3f",
            dt.datetime(2020, 1, 31, 10, 20, 30, 125_000),
        ),
        (
            ["2020-01-31T10:20:30Z", "2020-02-01T00:00:00Z"],
            "%Y-%m-%dT%H:%M:%SZ",
            dt.datetime(2020, 1, 31, 10, 20, 30, tzinfo=dt.UTC),
        ),
        (
            ["2020-01-31T10:20+02:00", "2020-02-01T00:00+02:00"],
            "%Y-%m-%dT%H:%M+02:00",
            dt.datetime(2020, 1, 31, 10, 20),
        ),
        (
            ["2020-01-31T10:20+02:00", "2020-07-01T00:00+01:00"],
            "%Y-%m-%dT%H:%M%:z",
            dt.datetime(2020, 1, 31, 8, 20, tzinfo=dt.UTC),
        ),
        (
            ["1/31/2020 3:04 PM", "2/1/2020 11:00 AM"],
            "%-m/%-d/%Y %-I:%M %p",
            dt.datetime(2020, 1, 31, 15, 4),
        ),
    ],
)
def test_dates(read: Reader, cells: list[str], pattern: str, first: Any) -> None:
    table = read("".join(f"{cell},w\n" for cell in ["x", *cells, "", "-"]))
    assert table.variable("x").text_format == pattern
    assert table.frame["x"][0] == first
    assert table.frame["x"].null_count() == 2


def test_unclear_dates_follow_those_that_tell_and_then_the_country(read: Reader) -> None:
    clear = read("a,b\n01/02/2020,31/12/2020\n02/03/2020,01/12/2020\n")
    assert clear.frame["a"][0] == dt.date(2020, 2, 1)
    continental = read("a;b\n01/02/2020;1\n02/03/2020;1\n")
    assert continental.frame["a"][0] == dt.date(2020, 2, 1)


def test_missing_cells(read: Reader) -> None:
    table = read(
        "n,d,level,word\n"
        "1,2020-01-01,None,NA\n"
        ".,-,-,a\n"
        "NA,None,.,\n"
        "NaN,NULL,b,null\n"
        "N/A,n/a,c,<NA>\n"
    )
    assert table.frame["n"].to_list() == [1, None, None, None, None]
    assert table.frame["d"].null_count() == 4
    assert table.frame["level"].to_list() == ["None", "-", ".", "b", "c"]
    assert table.frame["word"].to_list() == [None, "a", None, None, None]


@pytest.mark.parametrize("token", ["", "NA", ".", "-", "NULL"])
def test_the_commonest_word_for_missing_is_kept(read: Reader, token: str) -> None:
    table = read(f"a,b\n1.5,2\n{token},3\n{token},4\n")
    assert table.layout.missing == token
    assert table.frame["a"].null_count() == 2


def test_decimals_are_kept_where_all_cells_have_as_many(read: Reader) -> None:
    table = read("a,b,c\n1.50,1.5,1\n2.25,2.25,2\n,3.125,3\n")
    assert [table.variable(name).decimals for name in "abc"] == [2, None, None]


def test_blank_names_trailing_separators_and_blank_lines(read: Reader) -> None:
    assert read("a,,c\n1,2,3\n").frame.columns == ["a", "column_2", "c"]
    assert read("column_2,,c\n1,2,3\n").frame.columns == ["column_2", "column_2_", "c"]
    assert read("a,b,\n1,2,\n3,4,\n").frame.columns == ["a", "b"]
    assert read("a,b\n1,2,\n3,4,\n").frame.rows() == [(1, 2), (3, 4)]
    assert read("\n\na,b\n1,2\n\n3,\n\n").frame.rows() == [(1, 2), (3, None)]
    assert read("sep=|\na|b\n1|2,5\n").frame.rows() == [(1, 2.5)]


def test_one_column_keeps_its_missing_cells(read: Reader) -> None:
    assert read("a\n1\n\n3\n").frame["a"].to_list() == [1, None, 3]
    assert read("a\n1,5\n2,5\n").frame["a"].to_list() == [1.5, 2.5]


def test_quotation_marks(read: Reader) -> None:
    assert read('a,b\n"x ""y"", z\nw",1\n').frame["a"].to_list() == ['x "y", z\nw']
    assert read("a;b\n'x;y';1\n'z';2\n").frame["a"].to_list() == ["x;y", "z"]
    assert read("a,b\nit's,1\n'tis,2\n").frame["a"].to_list() == ["it's", "'tis"]
    assert read('a,b\n5" tall,1\n6" tall,2\n').frame["a"].to_list() == ['5" tall', '6" tall']


def test_header_only(read: Reader) -> None:
    for text in ("a,b", "a,b\n"):
        table = read(text)
        assert table.frame.shape == (0, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"a,b,a,b,c\n1,2,3,4,5\n", "same name more than once: 'a', 'b'"),
        (b"a,b\n1,2\n3,4,5\n", r"row 3 \(the header is row 1\): 3 cells where the header has 2"),
        (b"a,b,c\n1,2,3\n\n4,5\n", r"row 4 .*: 2 cells where the header has 3"),
        (b"a,b,c\n1,2,3\n4,5,\n6\n", r"row 4 .*: 1 cells where the header has 3"),
        (
            b'a,b\n1,"x\n2,y\n',
            "row 2 .the header is row 1.: a quotation mark opens a cell and none closes it",
        ),
        (
            b'a,b\n1,2\n1,"x"y\n',
            "row 3 .the header is row 1.: a quotation mark inside a quoted cell is not doubled",
        ),
        (b"a,b\n1,2\n3,\x00\n", "line 3 has a zero byte"),
        (bytes(range(1, 32)) * 20, "not a text file that can be read"),
        (b"PK\x03\x04....", "looks like a zip archive or a workbook. Rename it to end in .xlsx"),
        (b"PAR1....PAR1", "looks like a Parquet file"),
        (b"^a$,b\n1,2\n", "column '.*' cannot keep its name"),
    ],
)
def test_errors(read: Reader, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(content)


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "é"])
def test_separators_that_cannot_be(read: Reader, separator: str) -> None:
    with pytest.raises(InputError, match="separator must be"):
        read("a,b\n1,2\n", separator=separator)


def test_a_given_separator_is_used(read: Reader) -> None:
    assert read("a:b\n1:2\n", separator=":").frame.rows() == [(1, 2)]


def test_what_the_first_rows_do_not_show(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_reading_module, "_SAMPLED_ROWS", 3)
    rows = ["1.5,10", "2.5,11", "3.5,12"]
    assert read("\n".join(["x,zip", *rows, "-,012", "4.25,13"])).frame.to_dict(as_series=False) == {
        "x": [1.5, 2.5, 3.5, None, 4.25],
        "zip": ["10", "11", "12", "012", "13"],
    }
    later = read("\n".join(["x,zip", *rows, "nan,5", "NA,6", "<5,7"]))
    assert later.frame["x"].dtype == pl.String
    assert later.frame["x"].null_count() == 1
    assert read("\n".join(["x,zip", *rows, "NaN,5"])).frame["x"].null_count() == 1
    assert read("\n".join(["x,zip", *rows, "3.625,5"])).variable("x").decimals is None
    with pytest.raises(InputError, match="row 5"):
        read("\n".join(["x,zip", *rows, "4.5"]))


def test_no_error_holds_a_cell(read: Reader) -> None:
    for content in ('a,b\n1,"secret\n2,y\n', "a,b\nsecret,1,2\n", 'a,b\n"secret"x,1\n'):
        with pytest.raises(InputError) as caught:
            read(content)
        assert "secret" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_line_for_the_terminal(read: Reader) -> None:
    table = read("a;b\n1.234,5;é\n0,5;x\n".encode("cp1252"))
    assert describe_layout(table) == (
        "CSV, separator ';', decimal ',', thousands '.', Windows-1252, 2 rows, 2 columns"
    )


class TestBelowTheSample:
    """Large files: what the first rows do not show."""

    @pytest.fixture(autouse=True)
    def large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("icsa.tables.text_reading.SMALL", 0)
        monkeypatch.setattr("icsa.tables.text_reading._SAMPLED_ROWS", 20)

    @pytest.mark.parametrize(
        ("early", "late", "separator", "expected"),
        [
            ("12", "1,234", "\t", (12, 1234)),
            ("12.5", "1,234.5", "\t", (12.5, 1234.5)),
            ("12.5", '"1,234.5"', ",", (12.5, 1234.5)),
            ("12", "1.234,5", ";", (12.0, 1234.5)),
            ("12", "1,5", ";", (12.0, 1.5)),
            ("12", "1 234", ";", (12, 1234)),
            ("1/2/2020", "31/2/2020", ",", None),
            ("1/2/2020", "31/12/2020", ",", (dt.date(2020, 2, 1), dt.date(2020, 12, 31))),
            ("12", "unknown", ",", None),
        ],
    )
    def test_columns_are_what_all_their_cells_are(
        self, tmp_path: Path, early: str, late: str, separator: str, expected: Any
    ) -> None:
        rows = [[early, "x"]] * 50 + [[late, "y"]] + [[early, "z"]] * 5
        text = "".join(separator.join(row) + "\n" for row in [["n", "s"], *rows])
        path = tmp_path / "t.csv"
        path.write_text(text)
        table = read_table(path)
        if expected is None:
            assert table.frame["n"].dtype == pl.String
        else:
            assert (table.frame["n"][0], table.frame["n"][50]) == expected
        write_table(table, tmp_path / "copy.csv")
        assert read_table(tmp_path / "copy.csv").frame.equals(table.frame)

    def test_a_decimal_mark_that_is_known_stays(self, tmp_path: Path) -> None:
        rows = ["1.5;12"] * 50 + ["2.5;1,5"]
        (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"{row}\n" for row in rows))
        table = read_table(tmp_path / "t.csv")
        assert table.frame.dtypes == [pl.Float64, pl.String]
        assert table.layout.decimal == "."


def test_lengths_of_time_are_durations_and_written_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{hours}:{hours % 60:02}:05,{hours:02}:10,0{hours % 9}:30" for hours in range(9, 60)]
    rows.insert(3, ",09:10,")
    path.write_text("\n".join(["watch,stay,meal", *rows]) + "\n", encoding="utf-8")
    table = read_table(path)
    assert table.frame.dtypes == [pl.Duration("us"), pl.Duration("us"), pl.Time]
    assert table.frame["watch"][-1].total_seconds() == 59 * 3600 + 59 * 60 + 5
    write_table(table, tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("odd", ["12:75", "x", "1:30:00", "-1:30"])
def test_what_is_no_length_of_time_stays_text(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"stay\n31:05\n{odd}\n", encoding="utf-8")
    assert read_table(path).frame.dtypes == [pl.String]


def test_a_column_may_be_called_count(read: Reader) -> None:
    table = read("count,n\nfew,1\nNA,2\nmany,3\n")
    assert table.frame["count"].to_list() == ["few", None, "many"]
