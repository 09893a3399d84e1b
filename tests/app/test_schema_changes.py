"""Changes of a schema's text: what people type, and what of the text stays."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from icsa.app.desk_schemas import changed, checked
from icsa.app.desk_tables import opened
from icsa.app.schema_changes import typed_number, typed_value
from icsa.errors import ICSAError, InputError

from .talking import CLINIC, VISITS


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("0,5", 0.5),
        ("0.5", 0.5),
        (",5", 0.5),
        ("1 234,5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("1\u202f234", 1234),
        ("1.234.567", 1234567),
        ("1.234,56", 1234.56),
        ("1,234.56", 1234.56),
        ("1'234.5", 1234.5),
        ("−3,2", -3.2),
        ("-7", -7),
        ("1e3", 1000),
        (" 42 ", 42),
    ],
)
def test_numbers_as_people_type_them(typed: str, number: float) -> None:
    assert typed_number(typed) == number
    assert isinstance(typed_number(typed), type(number)) or "e" in typed


@pytest.mark.parametrize(
    "typed", ["", "abc", "1,2,3x", "--1", "nan", "inf", "1..2.x", "0x10", "1e400"]
)
def test_what_is_no_number_is_told(typed: str) -> None:
    with pytest.raises(InputError, match=r"is no number\. Write it as 0\.5 or 0,5"):
        typed_number(typed)


def test_dates_as_people_type_them() -> None:
    assert typed_value("31.12.2020", "date") == date(2020, 12, 31)
    assert typed_value("1.2.2020", "date") == date(2020, 2, 1)
    assert typed_value("2020-12-31", "date") == date(2020, 12, 31)
    assert typed_value("1.2.2020 13:30", "datetime") == datetime(2020, 2, 1, 13, 30)
    assert typed_value("13:30", "time") == time(13, 30)
    for typed in ("32.1.2020", "soon"):
        with pytest.raises(InputError, match="is no date"):
            typed_value(typed, "date")


FILE: dict[str, Any] = {"path": str(CLINIC)}


@pytest.fixture
def text() -> str:
    return str(opened(lambda _: None, file=FILE)["schema"])


def column(view: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in view["columns"] if one["name"] == name)


def number_of(view: dict[str, Any], name: str) -> int:
    return [one["name"] for one in view["columns"]].index(name)


def test_a_change_is_in_the_text_and_comments_stay(text: str) -> None:
    before = checked(file=FILE, text=text)
    assert before["problem"] == ""
    change = {"column": number_of(before, "age"), "key": "upper", "value": "105,5"}
    kind = {"column": number_of(before, "age"), "key": "kind", "value": "continuous"}
    after = changed(file=FILE, text=text, changes=[kind, change])
    assert after["problem"] == ""
    assert column(after, "age")["upper"] == "105.5"
    lines, others = text.splitlines(), after["text"].splitlines()
    assert [line for line in others if line not in lines] == ["upper = 105.5"]
    assert [line for line in lines if line.startswith("#")] == [
        line for line in others if line.startswith("#")
    ]


def test_a_wrong_change_is_told_without_a_cell_and_stays_in_the_text(text: str) -> None:
    view = checked(file=FILE, text=text)
    change = {"column": number_of(view, "age"), "key": "upper", "value": "30"}
    after = changed(file=FILE, text=text, changes=[change])
    assert after["problem"].startswith("[columns.age] ")
    assert "above the declared upper bound 30" in after["problem"]
    assert "/" not in after["problem"]
    assert column(after, "age")["upper"] == "30"
    assert (
        changed(file=FILE, text=after["text"], changes=[{**change, "value": ""}])["problem"] == ""
    )


def test_an_expression_of_what_is_not_masked_is_told_at_once(text: str) -> None:
    view = checked(file=FILE, text=text)
    change = {"column": number_of(view, "weight_kg"), "key": "action", "value": "drop"}
    after = changed(file=FILE, text=text, changes=[change])
    assert "Column 'bmi': derive" in after["problem"]


def test_another_kind_takes_along_what_goes_with_it(text: str) -> None:
    view = checked(file=FILE, text=text)
    for name, kind, action in (
        ("clinic", "identifier", "replace"),
        ("age", "category", "mask"),
        ("bmi", "identifier", "replace"),
        ("patient_id", "text", "drop"),
    ):
        change = {"column": number_of(view, name), "key": "kind", "value": kind}
        after = changed(file=FILE, text=text, changes=[change])
        assert after["problem"] == "", (name, after["problem"])
        assert column(after, name)["action"] == action


def test_an_expression_is_an_action_and_goes_with_it(text: str) -> None:
    view = checked(file=FILE, text=text)
    assert column(view, "bmi")["action"] == "derive"
    change = {"column": number_of(view, "bmi"), "key": "action", "value": "mask"}
    after = changed(file=FILE, text=text, changes=[change])
    assert column(after, "bmi")["action"] == "mask"
    assert after["problem"] == ""
    again = {
        "column": number_of(view, "bmi"),
        "key": "derive",
        "value": "10000 * weight_kg / height_cm^2",
    }
    assert (
        column(changed(file=FILE, text=after["text"], changes=[again]), "bmi")["action"] == "derive"
    )


def test_every_switch_goes_off_and_on_again(text: str) -> None:
    view = checked(file=FILE, text=text)
    assert {one["what"] for one in view["switches"]} == {"derived", "relation"}
    for number, switch in enumerate(view["switches"]):
        assert switch["on"]
        off = changed(
            file=FILE, text=text, changes=[{"key": "switch", "number": number, "value": False}]
        )
        assert off["problem"] == ""
        assert not off["switches"][number]["on"]
        on = changed(
            file=FILE,
            text=off["text"],
            changes=[{"key": "switch", "number": number, "value": True}],
        )
        assert on["switches"] == view["switches"]
        assert tomlkit.parse(on["text"]) == tomlkit.parse(text)


def test_a_relation_that_is_off_is_not_kept(text: str, tmp_path: Path) -> None:
    from icsa.inspection import related_columns
    from icsa.schema_files import read_schema
    from icsa.tables import read_table

    view = checked(file=FILE, text=text)
    (number,) = (k for k, one in enumerate(view["switches"]) if "total_score =" in one["text"])
    off = changed(
        file=FILE, text=text, changes=[{"key": "switch", "number": number, "value": False}]
    )
    path, table = tmp_path / "s.toml", read_table(CLINIC)
    for written, kept in ((text, True), (off["text"], False)):
        path.write_text(written, encoding="utf-8")
        related = related_columns(table, read_schema(path, table))
        told = [note for notes in related.notes.values() for note in notes]
        assert any("total_score" in n and " + " in n and "kept so" in n for n in told) == kept


def test_whom_rows_are_about_is_said_and_unsaid() -> None:
    file = {"path": str(VISITS)}
    text = opened(lambda _: None, file=file)["schema"]
    view = checked(file=file, text=text)
    assert view["design"]["unit"] == "patient_id"
    assert view["design"]["time"] == "day"
    assert any(one["what"] == "rule" and one["on"] for one in view["switches"])
    none = changed(file=file, text=text, changes=[{"key": "unit", "value": "none"}])
    assert none["problem"] == ""
    assert none["design"]["unit"] is False
    assert none["design"]["time"] is None
    unit = str(number_of(view, "patient_id"))
    again = changed(file=file, text=none["text"], changes=[{"key": "unit", "value": unit}])
    assert again["problem"] == ""
    assert again["design"]["unit"] == "patient_id"
    strata = [str(number_of(view, "sex"))]
    said = changed(file=file, text=none["text"], changes=[{"key": "strata", "value": strata}])
    assert said["design"]["strata"] == ["sex"]


@pytest.mark.parametrize(
    "change",
    [
        {"column": 99, "key": "kind", "value": "text"},
        {"column": -1, "key": "kind", "value": "text"},
        {"column": 0, "key": "kind", "value": "<b>"},
        {"column": 0, "key": "action", "value": "x"},
        {"column": 0, "key": "version", "value": "2"},
        {"key": "recipe", "value": "x"},
        {"key": "unit", "value": "99"},
        {"key": "switch", "number": 99, "value": True},
    ],
)
def test_changes_of_what_is_not_there_are_refused(text: str, change: dict[str, Any]) -> None:
    with pytest.raises(ICSAError):
        changed(file=FILE, text=text, changes=[change])


def test_a_text_that_is_no_toml_is_told_with_its_line(text: str) -> None:
    view = checked(file=FILE, text=text + "\nkind = [\n")
    assert "this is no TOML" in view["problem"]
    assert "line" in view["problem"]
    assert not view["parsed"]
    assert len(view["columns"]) == 31
    with pytest.raises(InputError, match="no TOML as it stands"):
        changed(file=FILE, text=text + "\nkind = [\n", changes=[])
