"""Files that cannot be read or written, or not whole: one sentence, a remedy, nothing left."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icsa import cli
from icsa.tables import Table, read_table, write_table

from .test_anonymize import HEAD, files, refused, rows

COMMANDS = ("anonymize", "inspect")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text("\n".join([HEAD, *rows()]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def told(clinic: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command is told that is refused and leaves nothing behind."""

    def refusal(*arguments: object) -> str:
        before = files(clinic.parent)
        assert cli.run([str(argument) for argument in arguments]) == 2
        assert files(clinic.parent) == before
        return refused(capsys)

    return refusal


def forbid(monkeypatch: pytest.MonkeyPatch, forbidden: Path) -> None:
    """Let a file be one that may not be read, for whoever runs the tests (root may read all)."""
    usual = Path.open

    def opened(self: Path, *arguments: Any, **options: Any) -> Any:
        if self == forbidden:
            raise PermissionError(13, "Permission denied", str(self))
        return usual(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "There is no file {path}. Check its name and its folder."),
        ("clinic.csv/none.csv", "There is no file {path}. Check its name and its folder."),
        ("folder.csv", "{path} is a folder. Give the name of a file in it."),
        ("empty.csv", "{path} is empty. Give a file with a header and rows."),
        ("empty.parquet", "{path} is empty. Give a file with a header and rows."),
        ("locked.csv", "{path} may not be read by you. Ask its owner for the right"),
    ],
)
def test_inputs(
    command: str,
    name: str,
    message: str,
    clinic: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Callable[..., str],
) -> None:
    folder = clinic.parent
    (folder / "folder.csv").mkdir()
    (folder / "empty.csv").touch()
    (folder / "empty.parquet").touch()
    (folder / "locked.csv").write_bytes(clinic.read_bytes())
    forbid(monkeypatch, folder / "locked.csv")
    assert message.format(path=folder / name) in told(command, folder / name)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.toml", "There is no file {path}. Check its name and its folder, or make one with: "),
        ("folder.toml", "{path} is a folder. Give the name of a file in it."),
        ("empty.toml", "{path}: version is missing or not 1. Begin with a line version = 1."),
        ("bad.toml", "{path}, line 2: this is no TOML"),
        ("other.toml", "{path}: not written in UTF-8. Save it as UTF-8."),
        ("clinic.csv", "{path}, line 1: this is no TOML"),
        ("locked.toml", "{path} may not be read by you. Ask its owner for the right"),
    ],
)
def test_schemas(
    command: str,
    name: str,
    message: str,
    clinic: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Callable[..., str],
) -> None:
    folder = clinic.parent
    (folder / "folder.toml").mkdir()
    (folder / "empty.toml").touch()
    (folder / "bad.toml").write_text("version = 1\n[columns\n")
    (folder / "other.toml").write_bytes("é".encode("latin-1"))
    (folder / "locked.toml").write_text("version = 1\n")
    forbid(monkeypatch, folder / "locked.toml")
    path = folder / name
    assert message.format(path=path) in told(command, clinic, "--schema", path)


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["careful", "force"])
@pytest.mark.parametrize(
    ("command", "option", "suffix"),
    [
        ("anonymize", "--output", "csv"),
        ("anonymize", "--save-key", "key"),
        ("anonymize", "--report", "html"),
        ("inspect", "--schema-out", "toml"),
    ],
)
def test_outputs(
    command: str,
    option: str,
    suffix: str,
    force: list[str],
    clinic: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Callable[..., str],
) -> None:
    folder = clinic.parent
    (folder / f"folder.{suffix}").mkdir()
    (folder / "locked").mkdir()
    usual = os.access
    monkeypatch.setattr(
        os, "access", lambda path, *a: path != folder / "locked" and usual(path, *a)
    )
    for name, message in (
        (f"none/out.{suffix}", "none is no folder. Make it first, or write elsewhere."),
        (f"clinic.csv/out.{suffix}", "clinic.csv is no folder. Make it first, or write elsewhere."),
        (f"folder.{suffix}", f"is a folder. Give {option} the name of a file in it."),
        (f"locked/out.{suffix}", "locked may not be written to by you. Write elsewhere."),
    ):
        assert message in told(command, clinic, option, folder / name, *force)


def test_a_format_that_cannot_be_written_is_refused_before_the_work(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, told: Callable[..., str]
) -> None:
    monkeypatch.setattr("icsa.tables.read_table", lambda *_, **__: pytest.fail("was read"))
    for name in ("out.docx", "out.sas7bdat"):
        told("anonymize", clinic, "--output", clinic.parent / name)


def test_letters_that_the_output_does_not_have_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(8)
    columns = {name: [draw.gauss(70, 9) for _ in range(60)] for name in ("x", "y", "z", "w")}
    gone = pl.Series([row < 5 for row in range(60)])
    frame = pl.DataFrame(columns)
    letters = pl.Series(["a", "a", "b", None, None, *[None] * 55])
    table = Table(frame.with_columns(frame["x"].set(gone, None)), missing_letters={"x": letters})
    write_table(table, tmp_path / "t.dta")
    options = ["anonymize", str(tmp_path / "t.dta"), "--method", "sa"]
    assert cli.run(options) == 0
    assert "lettered" not in capsys.readouterr().out
    released = read_table(tmp_path / "t.release.dta").missing_letters["x"]
    assert sorted(released.drop_nulls()) == ["a", "a", "b"]
    assert cli.run([*options, "--output", str(tmp_path / "t.csv")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "look at: x: 3 lettered missing value(s) (.a, .b) are written as plain missing" in shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.toml", "There is no file {path}. Check its name, or print one to begin with"),
        ("folder.toml", "{path} is a folder. Give the name of a file in it."),
        ("wrong.toml", "{path}, line 1: this is no TOML"),
    ],
)
def test_policies(
    name: str, message: str, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clinic.parent / name
    (clinic.parent / "folder.toml").mkdir()
    (clinic.parent / "wrong.toml").write_text("value = = 3\n", encoding="utf-8")
    assert cli.run(["assess", str(clinic), str(clinic), "--policy", str(path)]) == 2
    assert message.format(path=path) in refused(capsys)
