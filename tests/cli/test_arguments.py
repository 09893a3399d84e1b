"""Commands never write over what they read, nor twice to one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa.cli import run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    x = np.random.default_rng(0).normal(size=(60, 4)).round(3)
    pl.DataFrame(x).write_csv(path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        ["--output", "new.csv", "--save-key", "new.csv"],
        ["--output", "new.csv", "--report", "new.csv"],
        ["--report", "r.html", "--public-report", "r.html"],
        ["--save-key", "s.toml", "--schema", "s.toml"],
    ],
)
def test_no_file_is_written_twice(table, options, monkeypatch, capsys):
    monkeypatch.chdir(table.parent)
    Path("s.toml").write_text("version = 1\n")
    assert run(["anonymize", str(table), *options, "--force"]) == 2
    assert Path("s.toml").read_text() == "version = 1\n"
    assert {p.name for p in table.parent.iterdir()} == {"people.csv", "s.toml"}
    assert "Give" in capsys.readouterr().err


def test_the_list_of_outliers_is_an_input(table, monkeypatch):
    monkeypatch.chdir(table.parent)
    Path("rows.txt").write_text("1\n2\n")
    arguments = ["assess", str(table), str(table), "--outliers", "rows.txt", "--json", "rows.txt"]
    assert run([*arguments, "--force"]) == 2
    assert Path("rows.txt").read_text() == "1\n2\n"


@pytest.mark.parametrize("command", ["anonymize", "inspect"])
@pytest.mark.parametrize(
    ("option", "value", "what"),
    [
        ("--separator", ",", ".csv, .tsv, .txt files"),
        ("--decimal", ".", ".csv, .tsv, .txt files"),
        ("--encoding", "utf-8", ".csv, .tsv, .txt, .sav, .zsav, .dta, .sas7bdat, .xpt files"),
        ("--sheet", "1", ".xlsx files"),
    ],
)
def test_options_that_do_nothing_are_refused(table, command, option, value, what, capsys):
    path = table.with_suffix(".parquet")
    pl.read_csv(table).write_parquet(path)
    assert run([command, str(path), option, value]) == 2
    assert f"{option} is for {what}" in capsys.readouterr().err


def test_an_option_must_be_for_one_of_the_files(table, capsys):
    path = table.with_suffix(".parquet")
    pl.read_csv(table).write_parquet(path)
    assert run(["assess", str(path), str(table), "--separator", ",", "--quiet"]) == 0
    assert run(["assess", str(path), str(path), "--separator", ",", "--quiet"]) == 2
    assert run(["assess", str(path), str(table), "--sheet", "x", "--quiet"]) == 2
    assert "--sheet is for .xlsx files" in capsys.readouterr().err


def test_the_sheet_that_was_read_is_named(tmp_path, capsys):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Info").write_column(0, 0, ["Read me", "This is the cover", "Ask us"])
        sheet = book.add_worksheet("Data 2020")
        for row, cells in enumerate(np.random.default_rng(0).normal(size=(60, 3)).round(3)):
            sheet.write_row(row + 1, 0, cells)
        sheet.write_row(0, 0, ["a", "b", "c"])
    assert run(["anonymize", str(path)]) == 2
    told = capsys.readouterr().err
    assert "Sheet 'Info' was read. Read another with --sheet: 'Data 2020'." in told
    assert run(["inspect", str(path)]) == 0
    assert "sheet 'Info' (not read: 'Data 2020')" in capsys.readouterr().out
    assert run(["anonymize", str(path), "--sheet", "Data 2020", "--quiet"]) == 0


@pytest.mark.parametrize("leads_to", ["out.csv", "nowhere.csv"], ids=["loop", "dangling"])
@pytest.mark.parametrize("command", ["anonymize", "inspect", "assess"])
def test_links_are_replaced_only_if_forced(table, command, leads_to, monkeypatch, capsys):
    monkeypatch.chdir(table.parent)
    Path("out.csv").symlink_to(leads_to)
    option = {"anonymize": "--output", "inspect": "--schema-out", "assess": "--json"}[command]
    files = [str(table)] * (2 if command == "assess" else 1)
    arguments = [command, *files, option, "out.csv"]
    assert run(arguments) == 2
    told = "out.csv is there already. Give another name, or --force to overwrite it."
    assert capsys.readouterr().err == f"icsa: error: {told}\n"
    assert Path("out.csv").is_symlink()
    assert run([*arguments, "--force"]) == 0
    assert Path("out.csv").is_file()
    assert not Path("out.csv").is_symlink()
    assert not Path("nowhere.csv").exists()


@pytest.mark.parametrize("command", ["anonymize", "inspect", "assess"])
def test_an_input_that_leads_to_itself_is_refused(table, command, capsys):
    loop = table.with_name("loop.csv")
    loop.symlink_to(loop)
    assert run([command, str(loop), *([str(table)] if command == "assess" else [])]) == 2
    assert str(loop) in capsys.readouterr().err
