"""``icsa assess`` of tables that are assessed from their files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa import cli

SMALL = "25MB"  # both tables take more in memory, and columns of two workers take less


def people(seed: int) -> pl.DataFrame:
    """Return five measurements that go together."""
    draws = np.random.default_rng(seed).normal(size=(201_000, 5)) @ (np.eye(5) + 0.3)
    return pl.DataFrame(draws, schema=["kg", "dose", "score", "crp", "pulse"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an original, its exact copy in part files, and fresh people."""
    found = tmp_path_factory.mktemp("large")
    original, fresh = (people(seed) for seed in (0, 5))
    original.write_parquet(found / "original.parquet")
    fresh.write_parquet(found / "fresh.parquet")
    (found / "copy").mkdir()
    shuffled = original.sample(fraction=1.0, shuffle=True, seed=1)
    shuffled[:100_000].write_parquet(found / "copy" / "a.parquet")
    shuffled[100_000:].write_parquet(found / "copy" / "b.parquet")
    return found


def run(folder: Path, released: str, *options: str, original: str = "original.parquet") -> int:
    scratch = ["--scratch", str(folder)] if "--memory" in options else []
    files = [str(folder / original), str(folder / released)]
    return cli.run(["assess", *files, *options, *scratch])


def test_fresh_people_are_released_and_a_copy_in_part_files_is_not(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "fresh.parquet", "--memory", SMALL, "--gate") == 0
    told = capsys.readouterr()
    assert "verdict: release" in told.out
    assert "From 200,000 original and 200,000 released rows, drawn at random" in " ".join(
        told.out.split()
    )
    assert "201,000 and 201,000 rows from their files" in told.err
    outputs = {name: tmp_path / name for name in ("a.json", "p.json", "r.html")}
    options = ("--json", "--public-json", "--report")
    named = [
        text for pair in zip(options, map(str, outputs.values()), strict=True) for text in pair
    ]
    assert run(folder, "copy", "--memory", SMALL, "--workers", "2", "--gate", "-q", *named) == 4
    found = json.loads(outputs["a.json"].read_text(encoding="utf-8"))
    assert found["tables"]["released"] == {"rows": 201_000, "columns": 5}
    assert found["privacy"]["verbatim_rows"]["value"] == 201_000
    assert {person["status"] for person in found["people"]} == {"copied"}
    assert all(person["before"] == person["after"] for person in found["people"])
    names = [(file["role"], file["name"]) for file in found["handed_in"]["files"]]
    assert names[0] == ("original", "original.parquet")
    assert names[1:3] == [("release", "a.parquet"), ("release", "b.parquet")]
    assert "do not release" in outputs["r.html"].read_text(encoding="utf-8")
    assert "people" not in json.loads(outputs["p.json"].read_text(encoding="utf-8"))
    assert not list(folder.glob(".icsa-*"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--rehearse", "2"), "--rehearse needs the tables in memory"),
        (("--recipe", "mixed"), "--recipe needs the tables in memory"),
        (("--redraws", "9"), "--redraws needs the tables in memory"),
        (("--unit", "kg"), "--unit needs the tables in memory"),
        (("--memory", "1MB"), "A column of 201,000 rows takes"),
        (("--memory", "much"), "is no size"),
    ],
)
def test_what_needs_memory_is_refused(
    folder: Path, options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = () if "--memory" in options else ("--memory", SMALL)
    assert run(folder, "fresh.parquet", *memory, *options) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert not list(folder.glob(".icsa-*"))


def test_other_formats_and_few_rows_are_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = pl.read_parquet(folder / "fresh.parquet")[:500]
    few.write_csv(tmp_path / "few.csv")
    few.write_parquet(tmp_path / "few.parquet")
    (tmp_path / "parts").mkdir()
    few.write_parquet(tmp_path / "parts" / "a.parquet")

    def told(*names: str) -> str:
        files = [str(tmp_path / name) if "/" not in name else name for name in names[:2]]
        assert cli.run(["assess", *files, *names[2:]]) == 2
        return " ".join(capsys.readouterr().err.split())

    assert "--workers is for Parquet files, and few.csv is none" in told(
        "few.csv", "few.csv", "--workers", "2"
    )
    assert "is read as Parquet files, and few.csv is none" in told("few.csv", "parts")
    assert "part files are for originals of more than 200,000 rows" in told("parts", "few.parquet")
    assert "--workers is for originals of more than 200,000 rows" in told(
        "few.parquet", "few.parquet", "--workers", "2"
    )
    assert "more than fits in memory" in told("few.csv", "few.csv", "--memory", "10KB")


def test_tables_without_a_column_in_common_are_to_be_looked_at_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.parquet"
    pl.read_parquet(folder / "fresh.parquet").select(stone="kg").write_parquet(other)
    command = ["assess", str(folder / "original.parquet"), str(other), "--memory", SMALL]
    assert cli.run([*command, "--scratch", str(tmp_path), "--gate"]) == 3
    assert "do not look like a table and its release" in " ".join(capsys.readouterr().out.split())
