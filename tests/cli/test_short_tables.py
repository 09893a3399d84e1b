"""Short tables, which are released in memory: folders of them, and options for large ones."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from icsa import cli
from icsa.cli import assess_large, large_inputs
from icsa.release import anonymize
from icsa.tables import read_table
from tests.release.blocks.tables import measured

SEED = ("--seed", "1", "-q")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return measured(n_rows=400)


@pytest.fixture
def parts(tmp_path: Path, frame: pl.DataFrame) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, rows in (("a", slice(0, 150)), ("b", slice(150, 160)), ("c", slice(160, 400))):
        frame[rows].write_parquet(folder / f"{name}.parquet")
    return folder


def run(command: str, *words: str | Path) -> int:
    return cli.run([command, *map(str, words)])


def test_a_folder_gives_the_cells_of_one_file_in_parts_as_long(parts: Path, frame: pl.DataFrame):
    assert run("anonymize", parts, *SEED) == 0
    released = [
        pl.read_parquet(parts.with_name("parts.release") / f"{name}.parquet") for name in "abc"
    ]
    assert [part.height for part in released] == [150, 10, 240]
    assert pl.concat(released).equals(anonymize(frame, random_state=1).table)


def test_a_pattern_goes_into_a_folder_or_into_a_file_of_any_format(
    parts: Path, frame: pl.DataFrame, capsys: pytest.CaptureFixture[str]
):
    pattern, wanted = parts / "*.parquet", anonymize(frame, random_state=1).table
    assert run("anonymize", pattern, *SEED) == 2
    assert "A pattern has no name for its release" in capsys.readouterr().err
    for name in ("out", "out.parquet", "out.dta"):
        target = parts.with_name(name)
        assert run("anonymize", pattern, *SEED, "--output", target) == 0
        assert read_table(target).frame.cast(dict(wanted.schema)).equals(wanted)


def test_a_folder_is_never_written_into_and_replaced_by_force_alone(
    parts: Path, capsys: pytest.CaptureFixture[str]
):
    before = {path.name: path.read_bytes() for path in parts.iterdir()}
    for target, said in (
        (parts / "d.parquet", "would be among the original's part files"),
        (parts / "a.parquet", "is an input"),
        (parts, "is there already"),
    ):
        assert run("anonymize", parts, *SEED, "--output", target) == 2
        assert said in capsys.readouterr().err
    assert run("anonymize", parts, *SEED, "--force", "--output", parts) == 2
    assert run("inspect", parts, "--force", "--schema-out", parts / "b.parquet") == 2
    assert "is an input" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in parts.iterdir()} == before
    for force in ((), ("--force",)):
        assert run("anonymize", parts, *SEED, *force) == 0
    assert sorted(path.name for path in parts.parent.iterdir()) == ["parts", "parts.release"]


def test_units_stay_whole_in_part_files(tmp_path: Path):
    visits = pl.DataFrame(
        {
            "id": [k // 4 for k in range(400)],
            "day": [k % 4 * 30 + k // 4 % 7 for k in range(400)],
            "kg": measured(n_rows=400)["kg"],
        }
    )
    parts = tmp_path / "visits"
    parts.mkdir()
    visits[:101].write_parquet(parts / "a.parquet")
    visits[101:].write_parquet(parts / "b.parquet")
    said = ("--unit", "id", "--time", "day")
    assert run("anonymize", parts, *said, *SEED) == 0
    first, second = (
        pl.read_parquet(tmp_path / "visits.release" / f"{name}.parquet") for name in "ab"
    )
    assert not set(first["id"]) & set(second["id"])
    assert first.height / (first.height + second.height) == pytest.approx(0.25, abs=0.03)


def test_a_folder_is_inspected_assessed_and_verified(
    parts: Path, capsys: pytest.CaptureFixture[str]
):
    report = parts.with_name("report.html")
    assert run("anonymize", parts, *SEED, "--report", report, "--rehearse", "0") == 0
    released = parts.with_name("parts.release")
    assert run("verify", report, parts, released) == 0
    assert capsys.readouterr().out.count("the same") == 6
    assert run("verify", report, released) == 0
    assert capsys.readouterr().out.endswith("not looked at: original\n")
    assert run("assess", parts, released, "--force", "--report", report) == 0
    pl.read_parquet(released / "a.parquet").head(3).write_parquet(released / "b.parquet")
    assert run("verify", report, parts, released) == 4
    capsys.readouterr()
    assert run("inspect", parts) == 0
    assert "parts: Parquet, 400 rows" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_options_for_large_tables_do_nothing_to_short_ones(
    tmp_path: Path, frame: pl.DataFrame, suffix: str, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / f"short.{suffix}"
    write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "xlsx": frame.write_excel}
    write[suffix](path)
    target = tmp_path / f"short.release.{suffix}"
    assert run("anonymize", path, *SEED) == 0
    wanted = read_table(target).frame
    for options in (
        ("--workers", "2"),
        ("--dask", "local"),
        ("--scratch", str(tmp_path)),
        ("--resume",),
        ("--memory", "1kB"),
    ):
        target.unlink()
        assert run("anonymize", path, "--seed", "1", "--json", *options) == 0
        assert capsys.readouterr().err == ""
        assert read_table(target).frame.equals(wanted)
    assert run("anonymize", path, "--seed", "1", "--force", "--workers", "2") == 0
    assert "is released in memory: --workers has no use there" in capsys.readouterr().err


def test_where_a_short_table_is_released_is_explained(
    parts: Path, capsys: pytest.CaptureFixture[str]
):
    assert run("anonymize", parts, "--explain") == 0
    assert "It is released in memory, which takes about" in capsys.readouterr().out
    assert [path.name for path in parts.parent.iterdir()] == ["parts"]


def test_a_run_that_is_gone_on_with_has_the_key_that_was_kept(parts: Path):
    key, target = parts.with_name("key"), parts.with_name("parts.release")
    assert run("anonymize", parts, "-q", "--save-key", key) == 0
    first, kept = read_table(target).frame, key.read_text()
    assert run("anonymize", parts, "-q", "--save-key", key, "--resume", "--force") == 0
    assert key.read_text() == kept
    assert read_table(target).frame.equals(first)


def test_short_tables_of_any_format_are_assessed_together(
    parts: Path, frame: pl.DataFrame, capsys: pytest.CaptureFixture[str]
):
    workbook = parts.with_name("table.xlsx")
    frame.write_excel(workbook)
    for original in (workbook, parts):
        assert run("assess", original, parts, "-q", "--workers", "2", "--gate") == 4
    assert capsys.readouterr().err == ""


def test_wide_tables_that_do_not_fit_are_told(
    parts: Path,
    frame: pl.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    for module in (large_inputs, assess_large):
        monkeypatch.setattr(module, "ALWAYS_FITS", 0.0)
    frame.write_csv(parts.with_name("one.csv"))
    frame.write_excel(parts.with_name("one.xlsx"))
    in_memory = "more than fits in memory, where {} of up to 200,000 rows"
    for file in (parts, parts / "a.parquet", parts.with_name("one.csv")):
        assert run("anonymize", file, *SEED, "--memory", "1kB", "--output", "no.csv") == 2
        assert in_memory.format("tables") in capsys.readouterr().err
        assert run("assess", file, parts, "--memory", "1kB") == 2
        assert in_memory.format("originals") in capsys.readouterr().err
    workbook = parts.with_name("one.xlsx")
    assert run("anonymize", workbook, *SEED, "--memory", "1kB") == 2
    assert "Write it as CSV or Parquet, which need not fit" in capsys.readouterr().err
    assert run("assess", workbook, parts, "--memory", "1kB") == 2
    assert "Write both as CSV or Parquet, which need not fit" in capsys.readouterr().err
