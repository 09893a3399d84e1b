"""First lines that are people and no names, titles above the header, blank rows at the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import icsa.tables.text_reading as text_reading_module
from icsa.errors import InputError
from icsa.tables import Table, describe_layout, read_table

pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")

Reader = Callable[..., Table]


def people(n: int = 40, seed: int = 1) -> list[list[str]]:
    draw = random.Random(seed)
    return [
        [
            str(draw.randint(20, 90)),
            draw.choice("MF"),
            str(draw.randint(90, 180)),
            f"{draw.uniform(18, 40):.1f}",
            f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.{draw.randint(2000, 2020)}",
        ]
        for _ in range(n)
    ]


def lines_of(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.fixture(params=["every cell", "types from the first rows"])
def read(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Return a reader of text, by the way of small files or by that of large ones."""
    if request.param == "types from the first rows":
        monkeypatch.setattr(text_reading_module, "SMALL", 0)

    def read_lines(text: str, **options: Any) -> Table:
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8")
        return read_table(path, **options)

    return read_lines


def sheet_of(path: Path, rows: Sequence[Sequence[Any]], name: str = "Data", *more: str) -> Path:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        for title in (name, *more):
            sheet = book.add_worksheet(title)
            for place, row in enumerate(rows if title == name else [["x"], [1]]):
                sheet.write_row(place, 0, row)
    return path


SURNAMES = "Smith Jones Miller Brown Weber Fox Lee Kim Roy Ray".split()  # noqa: SIM905
FIRST = "Anna Bert Carl Dora Emil Finn Gus Hal Ina Jan".split()  # noqa: SIM905


def person(k: int) -> dict[str, str]:
    """Return cells of a person by what they are; ids and names are unique."""
    return {
        "id": f"P{k:04d}",
        "plate": f"{chr(65 + k % 26)}{chr(65 + k % 7)}-{1000 + k * 37 % 9000}",
        "surname": f"{SURNAMES[k % 10]}{k}",
        "first": f"{FIRST[k % 10]}{chr(97 + k % 26)}{chr(97 + k // 26)}",
        "street": f"Street {k}",
        "age": str(20 + k * 7 % 60),
        "weight": str(50 + k * 11 % 70),
        "sex": "fm"[k % 2],
    }


class TestUniqueTexts:
    """Ids and names of the first person, which no other row has."""

    @pytest.mark.parametrize(
        "columns",
        [
            "id surname first age sex",
            "id surname first age",
            "surname age weight street",
            "surname street age",
            "plate surname age",
            "id surname first sex",
            "first surname age sex",
        ],
    )
    def test_a_person_is_no_header(self, read: Reader, columns: str) -> None:
        rows = [[person(k)[c] for c in columns.split()] for k in range(200)]
        with pytest.raises(InputError, match="looks like a row of cells"):
            read(lines_of(rows))

    @pytest.mark.parametrize(
        "header",
        [
            "id surname first age sex",
            "ID Surname First Age Sex",
            "id surname first 2019 2020",
            "id1 name1 name2 q1 q2",
            "P1 P2 P3 P4 P5",
            "Q101 Q102 Q103 Q104 Q105",
            "var001 var002 var003 var004 var005",
            "PID Name1 Name2 A1 S1",
        ],
    )
    @pytest.mark.parametrize("columns", ["id surname first age sex", "plate surname street sex id"])
    def test_names_above_unique_texts_pass(self, read: Reader, header: str, columns: str) -> None:
        rows = [[person(k)[c] for c in columns.split()] for k in range(200)]
        assert read(lines_of([header.split(), *rows])).frame.columns == header.split()

    def test_names_above_texts_only_pass(self, read: Reader) -> None:
        rows = [[person(k)[c] for c in ("surname", "first", "street")] for k in range(200)]
        header = ["Surname", "First", "Street"]
        assert read(lines_of([header, *rows])).frame.columns == header


class TestNoHeader:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    def test_a_first_line_of_cells_is_refused(self, read, seed, separator):
        rows = people(seed=seed)
        with pytest.raises(InputError, match="first line looks like a row of cells") as caught:
            read(lines_of(rows, separator))
        told = str(caught.value).split("first line", 1)[1]
        assert "line with the names" in told
        for cell in rows[0]:
            assert len(cell) < 2 or cell not in told

    def test_the_same_cell_twice_is_not_shown(self, read):
        rows = [[a, "yes" if int(a) % 2 else "no", "yes", b] for a, _, b, *_ in people()]
        rows[0][1] = "yes"
        with pytest.raises(InputError, match="looks like a row of cells") as caught:
            read(lines_of(rows))
        assert "yes" not in str(caught.value).split("first line", 1)[1]

    def test_categories_alone(self, read):
        draw = random.Random(3)
        rows = [[draw.choice("MF"), draw.choice(["yes", "no"])] for _ in range(40)]
        with pytest.raises(InputError, match="looks like a row of cells"):
            read(lines_of(rows))

    def test_numbers_that_rise_as_their_columns_do(self, read):
        draw = random.Random(3)
        rows = [
            [
                str(k),
                str(draw.randint(20, 60)),
                str(draw.randint(90, 180)),
                str(draw.randint(200, 400)),
            ]
            for k in range(1, 41)
        ]
        rows[0] = ["1", "41", "110", "250"]
        with pytest.raises(InputError, match="looks like a row of cells"):
            read(lines_of(rows))

    def test_a_sheet_without_names(self, tmp_path):
        rows = [[int(a), s, int(b), float(c)] for a, s, b, c, _ in people()]
        path = sheet_of(tmp_path / "t.xlsx", rows)
        with pytest.raises(InputError, match="sheet 'Data': the first line looks like a row"):
            read_table(path)

    @pytest.mark.parametrize(
        "header",
        [
            ["2019", "2020", "2021", "2022"],
            ["2010", "2015", "2021", "2022"],
            ["2022", "2021", "2020", "2019"],
            ["0", "1", "2", "3"],
            ["1", "2", "3", "4"],
            ["", "0", "1", "2"],
            ["0", "4", "12", "52"],
            ["400", "410.5", "421", "430"],
            ["q1", "q2", "q3", "q4"],
            ["age", "7", "bmi", "crp"],
            ["42", "age", "bmi", "crp"],
            ["2020-01-01", "2020-01-08", "2020-01-15", "2020-01-22"],
        ],
    )
    def test_names_that_look_like_numbers_pass(self, read, header):
        draw = random.Random(7)
        rows = [[str(draw.randint(0, 100)) for _ in header] for _ in range(60)]
        found = read(lines_of([header, *rows])).frame
        assert found.height == 60
        assert [n for n in found.columns if not n.startswith("column_")] == [n for n in header if n]

    def test_incomes_by_year_pass(self, read):
        draw = random.Random(7)
        rows = [[str(draw.randint(0, 9000) + 300 * k) for k in range(4)] for _ in range(60)]
        header = ["2010", "2013", "2018", "2020"]
        assert read(lines_of([header, *rows])).frame.columns == header

    def test_boxes_that_hold_their_own_name_pass(self, read):
        draw = random.Random(7)
        header = ["asthma", "cancer", "gout"]
        rows = [[draw.choice([name, ""]) for name in header] for _ in range(60)]
        rows[-1] = header
        assert read(lines_of([header, *rows])).frame.columns == header

    def test_a_header_that_comes_again_is_a_header(self, read):
        header = ["age", "sex", "sbp", "bmi", "seen"]
        assert read(lines_of([header, *people(), header, *people()])).frame.columns == header

    def test_few_rows_tell_nothing(self, read):
        assert read("41,52\n38,60\n44,51\n").frame.height == 2


HEADER = ["age", "sex", "sbp", "bmi", "seen"]


class TestLinesAboveTheHeader:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    @pytest.mark.parametrize(
        "above",
        [
            "Table 5. Patients of ward 7\n\n",
            "# Export 2023-04-01\n# contact: A. Smith\n",
            "Ward 7\n",
        ],
    )
    def test_a_title_is_told(self, read, above, separator):
        with pytest.raises(InputError, match="lines above the header") as caught:
            read(above + lines_of([HEADER, *people()], separator))
        assert "5 cells" in str(caught.value)
        assert "Smith" not in str(caught.value)

    def test_a_title_with_as_many_separators_as_the_rows(self, read):
        with pytest.raises(InputError, match=r"names 1 of 5 columns\. Delete the lines above"):
            read(lines_of([["Ward 7", "", "", "", ""], [""] * 5, HEADER, *people()]))

    def test_a_title_with_another_number_of_separators(self, read):
        with pytest.raises(InputError, match="delete lines above the header"):
            read("Ward 7, Oulu\n" + lines_of([HEADER, *people()]))

    @pytest.mark.parametrize("wrong", [";", "\t", "|", ":"])
    def test_a_wrong_separator(self, read, wrong):
        with pytest.raises(InputError, match=r"one column.* 5 by ','. Leave the separator out"):
            read(lines_of([HEADER, *people()]), separator=wrong)

    @pytest.mark.parametrize(
        "cells",
        [
            [f"{k},5" for k in range(40)],
            [f"{k + 1},234,567" for k in range(40)],
            [f"Smith, A{k}" for k in range(40)],
            [f"{k}" for k in range(40)],
            [f"no, {'yes, ' * (k % 4)}never" for k in range(40)],
        ],
    )
    def test_one_column_stays_one(self, read, cells):
        assert read("\n".join(["name", *cells]) + "\n").frame.shape == (40, 1)

    def test_one_column_with_commas_can_be_read(self, read):
        cells = [f"A{k},B{k},C{k}" for k in range(40)]
        text = "\n".join(["codes", *cells]) + "\n"
        with pytest.raises(InputError, match="lines above the header"):
            read(text)
        assert read(text, separator=";").frame.shape == (40, 1)

    def test_a_title_on_a_sheet(self, tmp_path):
        rows = [["Ward 7"], [], HEADER, *people()]
        path = sheet_of(tmp_path / "t.xlsx", rows, "Data", "Codes", "Notes")
        with pytest.raises(InputError, match=r"sheet 'Data': .* names 1 of 5 columns") as caught:
            read_table(path)
        assert "'Codes', 'Notes'" in str(caught.value)
        assert "--sheet" in str(caught.value)
        with pytest.raises(InputError) as caught:
            read_table(path, sheet="Data")
        assert "Codes" not in str(caught.value)

    def test_other_sheets_are_named_unless_one_was_chosen(self, tmp_path):
        path = sheet_of(tmp_path / "t.xlsx", [HEADER, *people()], "Data", "Codes")
        table = read_table(path)
        assert "sheet 'Data' (not read: 'Codes'), 40 rows" in describe_layout(table)
        assert "sheet 'Data', 40 rows" in describe_layout(read_table(path, sheet="Data"))


class TestBlankRowsAtTheEnd:
    @pytest.mark.parametrize("blank", [",,,,", " , ,,,", '"",,,,', "NA,NA,,,"])
    def test_they_are_left_out_and_told(self, read, blank):
        text = lines_of([HEADER, *people()]) + f"{blank}\n" * 3
        table = read(text)
        assert table.frame.height == 40
        assert table.frame.null_count().sum_horizontal()[0] == 0
        assert table.layout.blank_rows == 3
        told = describe_layout(table)
        assert told.endswith("40 rows, 5 columns, 3 blank rows at the end left out")

    def test_they_do_not_say_how_missing_cells_are_written(self, read):
        rows = people()
        rows[3][0] = rows[4][0] = "NA"
        table = read(lines_of([HEADER, *rows]) + ",,,,\n" * 30)
        assert (table.layout.missing, table.frame.shape) == ("NA", (40, 5))

    def test_those_inside_stay(self, read):
        rows = people()
        rows[7] = [""] * 5
        table = read(lines_of([HEADER, *rows]))
        assert (table.frame.height, table.layout.blank_rows) == (40, 0)
        assert "blank" not in describe_layout(table)

    def test_numbers_alone(self, read):
        text = "a,b\n" + "1.5,2.5\n" * 20 + ",\n"
        table = read(text)
        assert (table.frame.height, table.layout.blank_rows) == (20, 1)
        assert describe_layout(table).endswith("1 blank row at the end left out")

    def test_one_column_keeps_its_missing_cells(self, read):
        assert read("a\n1\n2\nNA\n").frame["a"].to_list() == [1, 2, None]

    def test_lines_without_a_character_are_no_rows(self, read):
        rows = people()
        text = lines_of([HEADER, *rows[:20]]) + "\n,,,,\n\n" + lines_of(rows[20:]) + "\n"
        table = read(text)
        assert (table.frame.height, table.layout.blank_rows) == (41, 0)
        assert table.frame.row(20) == (None,) * 5

    def test_nothing_but_blank_rows(self, read):
        assert read("a,b\n,\n,\n").frame.shape == (0, 2)

    def test_on_a_sheet(self, tmp_path):
        import xlsxwriter

        path = tmp_path / "t.xlsx"
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("Data")
            for place, row in enumerate([HEADER, *people(), [" "], ["", " "]]):
                sheet.write_row(place, 0, row)
        table = read_table(path)
        assert (table.frame.height, table.layout.blank_rows) == (40, 2)
        assert table.frame.null_count().sum_horizontal()[0] == 0
        assert table.frame["sbp"].dtype == pl.Int64
