"""``icsa anonymize`` of tables that are released from their files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from icsa import cli
from icsa.cli.large_tables import parsed_size
from icsa.release import anonymize
from tests.release.blocks.tables import measured

SMALL = "15MB"  # three columns of 201,000 rows take more in memory, and one takes less


@pytest.fixture
def frame() -> pl.DataFrame:
    return measured().select("kg", "dose", "score")


@pytest.fixture
def big(tmp_path: Path, frame: pl.DataFrame) -> Path:
    path = tmp_path / "big.parquet"
    frame.write_parquet(path)
    return path


def run(file: Path, *options: str) -> int:
    return cli.run(["anonymize", str(file), *options])


def leftover(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_a_file_that_does_not_fit_gives_the_cells_that_it_gives_in_memory(
    big: Path, frame: pl.DataFrame, capsys: pytest.CaptureFixture[str]
):
    assert run(big, "--memory", SMALL, "--seed", "1", "--json") == 0
    account = json.loads(capsys.readouterr().out)
    assert account["rows"] == frame.height
    released = pl.read_parquet(big.with_name("big.release.parquet"))
    assert released.equals(anonymize(frame, random_state=1).table)
    assert leftover(big.parent) == []


def test_a_folder_gives_part_files_of_the_same_names_and_lengths(
    tmp_path: Path, frame: pl.DataFrame, capsys: pytest.CaptureFixture[str]
):
    parts = tmp_path / "parts"
    parts.mkdir()
    for name, start, stop in (("a", 0, 150_000), ("b", 150_000, 150_001), ("c", 150_001, None)):
        frame[start:stop].write_parquet(parts / f"{name}.parquet")
    assert run(parts, "--seed", "1", "--memory", SMALL) == 0
    assert "201,000 rows, 3 columns" in capsys.readouterr().out
    out = tmp_path / "parts.release"
    released = [pl.read_parquet(out / f"{name}.parquet") for name in "abc"]
    assert [part.height for part in released] == [150_000, 1, 50_999]
    assert pl.concat(released).equals(anonymize(frame, random_state=1).table)
    assert run(parts, "--seed", "1", "--memory", SMALL) == 2
    assert "is there already" in capsys.readouterr().err
    assert run(parts, "--seed", "2", "--memory", SMALL, "--force", "-q") == 0
    assert not pl.read_parquet(out / "a.parquet").equals(released[0])
    assert run(parts, "--output", str(parts), "--memory", SMALL, "--force") == 2
    assert "holds part files of a release alone" in capsys.readouterr().err


def test_a_killed_run_is_found_and_gone_on_with(big: Path, frame: pl.DataFrame):
    command = [sys.executable, "-m", "icsa", "anonymize", str(big), "--memory", SMALL]
    keyed = [*command, "--save-key", str(big.with_name("key")), "-q"]
    with subprocess.Popen(keyed) as first:
        while not list(big.parent.glob(".icsa-scratch-*/found/masking-0")):
            assert first.poll() is None, "it ended too soon to be killed"
            time.sleep(0.002)
        os.kill(first.pid, signal.SIGKILL)
    target = big.with_name("big.release.parquet")
    assert not target.exists()
    (scratch,) = big.parent.glob(".icsa-scratch-*")
    done = {path: path.stat().st_mtime_ns for path in (scratch / "found").glob("fitting*")}
    other = subprocess.run(
        [*command, "--seed", "1", "--drop", "nothing"], capture_output=True, check=False
    )
    assert f"{scratch} was left by a run on {big}" in other.stderr.decode()
    assert done == {path: path.stat().st_mtime_ns for path in done}
    subprocess.run([*keyed, "--resume"], check=True)
    key = bytes.fromhex(big.with_name("key").read_text())
    assert pl.read_parquet(target).equals(anonymize(frame, random_state=key).table)
    assert leftover(big.parent) == []


def test_what_is_done_is_explained_and_nothing_runs(big: Path, capsys: pytest.CaptureFixture[str]):
    assert run(big, "--memory", SMALL, "--explain") == 0
    shown = capsys.readouterr().out
    assert "201,000 rows, 3 columns in 1 file(s)" in shown
    assert "masking" in shown
    assert [path.name for path in big.parent.iterdir()] == ["big.parquet"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--memory", "5MB"), "takes 0.0096 GB while it is worked on"),
        (("--memory", "much"), "'much' is no size"),
        (("--memory", SMALL, "--report", "r.html"), "A report needs the table in memory"),
        (("--memory", SMALL, "--output", "out.csv"), "is written as Parquet"),
        (("--memory", SMALL, "--weight", "kg"), "weight needs the table in memory"),
        (("--memory", SMALL, "--method", "forest"), "Forests look at all rows"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(
    big: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    said: str,
):
    monkeypatch.chdir(big.parent)
    assert run(big, *options) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1
    assert [path.name for path in big.parent.iterdir()] == ["big.parquet"]


def test_resuming_without_a_key_starts_anew_and_says_so(
    big: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(big, "--memory", SMALL, "--resume") == 0
    assert "a fresh key is kept nowhere: starting anew" in capsys.readouterr().err


def test_options_for_large_tables_are_refused_for_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "small.csv"
    path.write_text("age\n41\n")
    assert run(path, "--workers", "2") == 2
    assert "--workers is for Parquet files" in capsys.readouterr().err
    measured(n_rows=300).write_parquet(tmp_path / "small.parquet")
    assert run(tmp_path / "small.parquet", "--resume") == 2
    assert "for tables of more than 200,000 rows" in capsys.readouterr().err
    assert run(path, "--memory", "3B") == 2
    assert "Write it as Parquet" in capsys.readouterr().err


def test_sizes():
    assert [parsed_size(text) for text in ("7", "2kB", "1.5 MB", "1GiB")] == [7, 2000, 1.5e6, 2**30]
