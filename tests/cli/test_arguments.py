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
