"""Text files that do not fit are assessed as those that are read into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icsa.assessment import assess
from icsa.assessment.blocks.large_assessing import Wanted, assess_stored
from icsa.errors import InputError
from icsa.release.blocks.ground import Resources
from icsa.release.blocks.text_tables import TextTable
from icsa.tables import Table, file_kind, read_table, write_table
from icsa.tables.base import ReadingOptions
from icsa.tables.stored import stored_parquet
from icsa.tables.table import Layout, Variable
from icsa.tables.text_streams import look_through
from tests.release.blocks.tables import of_all_kinds

N_ROWS = 15_000
NAMES = ("kg", "dose", "group", "seen", "sugar", "pain")


def people(seed: int) -> pl.DataFrame:
    """Return people whose cells are of the kinds that text has to say in its own way."""
    return of_all_kinds(seed).select(NAMES)[-N_ROWS:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an original and a release, each in formats that say it otherwise."""
    found = tmp_path_factory.mktemp("texts")
    original, released = people(1), people(3)
    released = pl.concat([released[:-1], original[7:8]])
    released.write_csv(found / "plain.csv")
    released.write_parquet(found / "released.parquet")
    original.write_parquet(found / "original.parquet")
    said = Layout("csv", separator=";", decimal=",", encoding="iso8859-1", newline="\r\n")
    days = {"seen": Variable(text_format="%-d.%-m.%Y"), "kg": Variable(decimals=1)}
    write_table(Table(original, days, said), found / "original.csv.gz")
    write_table(Table(released, days, said), found / "released.csv")
    return found


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have text read in pieces, however short it is."""
    monkeypatch.setattr("icsa.tables.text_reading.SMALL", 10_000)
    monkeypatch.setattr("icsa.release.blocks.text_tables._MOST", 100_000)
    monkeypatch.setattr("icsa.release.blocks.text_tables._LEAST", 100_000)


def source(path: Path) -> Any:
    """Return a table as it is read from its file."""
    if path.suffix == ".parquet":
        return stored_parquet([path])
    kind = file_kind(path)
    looked = look_through(path, compressed=kind.compressed, encoding=None)
    return TextTable(looked, kind, ReadingOptions())


def from_files(folder: Path, names: tuple[str, str], workers: int) -> dict[str, Any]:
    """Return the document of an assessment from files, and look at its progress."""
    told: list[tuple[str, float]] = []
    pair = (source(folder / name) for name in names)
    resources = Resources(memory=10**9, scratch=folder, workers=workers)
    wanted = Wanted(design={"unit": False})
    found = assess_stored(*pair, resources, wanted, lambda *one: told.append(one)).as_dict()
    assert not list(folder.glob(".icsa-*"))
    shares = [share for _, share in told]
    assert told[0] == ("reading text", 0.0)
    assert shares == sorted(shares)
    assert shares[-1] < 1.0
    return found


@pytest.mark.parametrize(
    ("original", "released", "workers"),
    [
        ("original.csv.gz", "released.csv", 2),
        ("original.parquet", "plain.csv", 1),
        ("original.csv.gz", "released.parquet", 1),
    ],
)
def test_text_is_assessed_as_in_memory(
    folder: Path, original: str, released: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    found = from_files(folder, (original, released), workers)
    tables = (read_table(folder / name) for name in (original, released))
    expected = assess(*tables, unit=False).as_dict()
    assert [one["name"] for one in found["handed_in"]["files"]] == [original, released]
    for each in (found, expected):
        each["attackers"] = [one for one in each["attackers"] if one["attack"] != "all but one"]
    assert found == expected


def test_a_bad_row_is_told_as_in_memory_and_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "plain.csv").read_bytes().splitlines(keepends=True)
    lines[10_000] = b"70.5,1.5\n"
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=r"row 10001 .*: 2 cells where the header has 6") as told:
        read_table(bad)
    resources = Resources(memory=10**9, scratch=tmp_path)
    pair = source(folder / "original.parquet"), source(bad)
    with pytest.raises(InputError) as found:
        assess_stored(*pair, resources, Wanted(), lambda _stage, _share: None)
    assert str(found.value) == str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_what_is_wanted_may_wait_for_the_columns(folder: Path) -> None:
    seen = []

    def wanted(original: Table) -> Wanted:
        seen.extend(original.frame.columns)
        raise InputError("told")

    pair = source(folder / "original.csv.gz"), source(folder / "original.parquet")
    resources = Resources(memory=10**9, scratch=folder)
    with pytest.raises(InputError, match="told"):
        assess_stored(*pair, resources, wanted, lambda _stage, _share: None)
    assert tuple(seen) == NAMES
