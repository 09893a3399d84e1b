"""``icsa anonymize`` of tables that are released from their files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from icsa import cli
from icsa.cli.large_inputs import parsed_size
from icsa.release import anonymize
from tests.cli.gates import waiting_after
from tests.release.blocks.tables import N_ROWS, measured
from tests.release.blocks.unit_tables import visits_of_many
from tests.release.blocks.wide_tables import households

SMALL = "15MB"  # three columns of N_ROWS take more in memory, and one takes less


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
    assert f"{N_ROWS:,} rows, 3 columns" in capsys.readouterr().out
    out = tmp_path / "parts.release"
    released = [pl.read_parquet(out / f"{name}.parquet") for name in "abc"]
    assert [part.height for part in released] == [150_000, 1, N_ROWS - 150_001]
    assert pl.concat(released).equals(anonymize(frame, random_state=1).table)
    assert run(parts, "--seed", "1", "--memory", SMALL) == 2
    assert "is there already" in capsys.readouterr().err
    assert run(parts, "--seed", "2", "--memory", SMALL, "--force", "-q") == 0
    assert not pl.read_parquet(out / "a.parquet").equals(released[0])
    assert run(parts, "--output", str(parts), "--memory", SMALL, "--force") == 2
    assert "holds part files of a release alone" in capsys.readouterr().err


def test_several_rows_a_person_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    frame = visits_of_many().select("patient", "day", "followed", "age", "arm", "crp", "flare")
    parts = tmp_path / "parts"
    parts.mkdir()
    for name, start, stop in (("a", 0, 50_000), ("b", 50_000, None)):
        frame[start:stop].write_parquet(parts / f"{name}.parquet")
    said = ["--unit", "patient", "--time", "day", "--bound", "followed", "--memory", "25MB"]
    assert run(parts, *said, "--explain") == 0
    assert "drawing effects" in capsys.readouterr().out
    assert run(parts, *said, "--seed", "1") == 0
    shown = capsys.readouterr().out
    assert "31,000 units of 'patient' as before, by two levels" in shown
    assert "--unit patient --time day --bound followed" in shown
    released = [pl.read_parquet(tmp_path / "parts.release" / f"{name}.parquet") for name in "ab"]
    design = {"unit": "patient", "time": "day", "bound": "followed"}
    wanted = anonymize(frame, random_state=1, **design).table
    assert pl.concat(released).equals(wanted)
    assert not set(released[0]["patient"]) & set(released[1]["patient"])
    assert leftover(tmp_path) == []


def test_households_in_a_text_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "houses.csv"
    households(85_000).drop("region", "works", "school").write_csv(path)
    said = ["--unit", "house", "--role", "role", "--seed", "1"]
    assert run(path, *said, "--memory", "1GB", "--output", str(tmp_path / "fits.csv"), "-q") == 0
    said += ["--memory", "200MB", "--scratch", str(tmp_path)]
    assert run(path, *said, "--explain") == 0
    assert "laying long" in capsys.readouterr().out
    assert run(path, *said, "--output", str(tmp_path / "large.csv")) == 0
    assert "85,000 units of 'house' as before, by wide" in capsys.readouterr().out
    assert (tmp_path / "large.csv").read_bytes() == (tmp_path / "fits.csv").read_bytes()
    assert leftover(tmp_path) == []


def test_a_killed_run_is_found_and_gone_on_with(big: Path, frame: pl.DataFrame):
    asked = ["anonymize", str(big), "--memory", SMALL]
    keyed = [*asked, "--save-key", str(big.with_name("key")), "-q"]
    with waiting_after("masking-0", *keyed) as first:
        first.kill()
    command = [sys.executable, "-m", "icsa"]
    target = big.with_name("big.release.parquet")
    assert not target.exists()
    (scratch,) = big.parent.glob(".icsa-scratch-*")
    done = {path: path.stat().st_mtime_ns for path in (scratch / "found").glob("fitting*")}
    other = subprocess.run(
        [*command, *asked, "--seed", "1", "--drop", "nothing"], capture_output=True, check=False
    )
    assert f"{scratch} was left by a run on {big}" in other.stderr.decode()
    assert done == {path: path.stat().st_mtime_ns for path in done}
    subprocess.run([*command, *keyed, "--resume"], check=True)
    key = bytes.fromhex(big.with_name("key").read_text())
    assert pl.read_parquet(target).equals(anonymize(frame, random_state=key).table)
    assert leftover(big.parent) == []


@pytest.mark.skipif(os.name != "posix", reason="no such signals here")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("keyed", [True, False])
def test_a_run_that_the_system_ends_leaves_what_ctrl_c_leaves(big: Path, name: str, keyed: bool):
    number = signal.Signals[name]
    seed = ("--seed", "1") if keyed else ()
    with waiting_after(
        "masking-0", "anonymize", str(big), "--memory", SMALL, "-q", *seed
    ) as process:
        process.send_signal(number)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number
    assert told.startswith("icsa: interrupted.")
    left = leftover(big.parent)
    assert len(left) == keyed
    assert ("--resume goes on with it" in told) == keyed
    assert not big.with_name("big.release.parquet").exists()


def test_what_is_done_is_explained_and_nothing_runs(big: Path, capsys: pytest.CaptureFixture[str]):
    earlier = big.with_name("big.release.parquet")
    earlier.touch()
    assert run(big, "--memory", SMALL, "--explain") == 0
    shown = capsys.readouterr().out
    assert f"{N_ROWS:,} rows, 3 columns in 1 file(s)" in shown
    assert "masking" in shown
    assert "forests instead of masked (--method auto)" in shown
    assert sorted(big.parent.iterdir()) == [big, earlier]
    assert earlier.stat().st_size == 0


def test_forests_are_explained(big: Path, capsys: pytest.CaptureFixture[str]):
    assert run(big, "--memory", SMALL, "--method", "forest", "--explain") == 0
    shown = capsys.readouterr().out
    assert "drawing" in shown
    assert "masking" not in shown


def test_strata_are_explained(big: Path, capsys: pytest.CaptureFixture[str]):
    assert run(big, "--memory", SMALL, "--strata", "kg", "--explain") == 0
    shown = capsys.readouterr().out
    assert "each stratum" in shown
    assert "scratch up to 0.0169 GB" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--memory", "5MB"), "takes 0.00965 GB while it is worked on"),
        (("--memory", "much"), "'much' is no size"),
        (("--memory", SMALL, "--output", "out.xlsx"), "is written as CSV or Parquet"),
        (("--memory", SMALL, "--strata", "kg"), "cannot be released for itself"),
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


@pytest.fixture
def text(tmp_path: Path, frame: pl.DataFrame) -> Path:
    path = tmp_path / "big.csv"
    frame.with_columns(pl.col("dose").round(3)).write_csv(path)
    return path


@pytest.fixture
def wanted(text: Path) -> bytes:
    target = text.with_name("wanted.csv")
    assert run(text, "--seed", "1", "--output", str(target), "-q") == 0
    return target.read_bytes()


def test_a_text_file_that_does_not_fit_gives_the_bytes_that_it_gives_in_memory(
    text: Path, wanted: bytes, capsys: pytest.CaptureFixture[str]
):
    assert run(text, "--memory", SMALL, "--seed", "1") == 0
    shown = capsys.readouterr().out
    assert f"big.csv: CSV, separator ',', decimal '.', UTF-8, {N_ROWS:,} rows, 3 columns" in shown
    target = text.with_name("big.release.csv")
    assert target.read_bytes() == wanted
    assert leftover(text.parent) == []
    assert run(text, "--memory", SMALL, "--seed", "1", "-q") == 2
    assert "is there already" in capsys.readouterr().err
    again = ("--seed", "1", "--force", "-q", "--scratch", str(text.parent))
    for engine in ((), ("--dask", "local")):
        target.write_bytes(b"")
        assert run(text, "--workers", "2", *engine, *again) == 0
        assert target.read_bytes() == wanted
    assert leftover(text.parent) == []


def test_text_into_parquet_and_parquet_into_text(text: Path, wanted: bytes, frame: pl.DataFrame):
    options = ("--memory", SMALL, "--seed", "1", "-q")
    assert run(text, "--output", str(text.with_suffix(".out.parquet")), *options) == 0
    found = pl.read_parquet(text.with_suffix(".out.parquet"))
    assert found.equals(pl.read_csv(wanted))
    big, target = text.with_name("big.parquet"), text.with_name("of_parquet.csv")
    frame.write_parquet(big)
    assert run(big, "--output", str(target), *options) == 0
    assert run(big, "--output", str(target.with_name("in_memory.csv")), "--seed", "1", "-q") == 0
    assert target.read_bytes() == target.with_name("in_memory.csv").read_bytes()


def test_a_killed_run_on_text_is_gone_on_with(text: Path, wanted: bytes):
    asked = ["anonymize", str(text), "--memory", SMALL, "--seed", "1", "-q"]
    for until in ("typing-1", "fitting_columns-1", "masking-0"):
        more = ["--resume"] if list(text.parent.glob(".icsa-scratch-*")) else []
        with waiting_after(until, *asked, *more) as first:
            first.kill()
    assert not text.with_name("big.release.csv").exists()
    subprocess.run([sys.executable, "-m", "icsa", *asked, "--resume"], check=True)
    assert text.with_name("big.release.csv").read_bytes() == wanted
    assert leftover(text.parent) == []


def test_passes_over_text_are_explained(text: Path, capsys: pytest.CaptureFixture[str]):
    assert run(text, "--memory", SMALL, "--explain") == 0
    shown = capsys.readouterr().out
    assert f"{N_ROWS:,} rows, 3 columns in 1 file(s)" in shown
    assert "reading" in shown
    assert "typing" in shown
    assert [path.name for path in text.parent.iterdir()] == ["big.csv"]


@pytest.mark.parametrize(
    ("line", "options", "said"),
    [
        (b"1.5,2.5", (), "row 150000 (the header is row 1): 2 cells where the header has 3"),
        (b"1.5,\xe9,2", ("--encoding", "utf-8"), "is not UTF-8 (from line"),
        (b"1.5,\0,2", (), "line 150000 has a zero byte"),
        (b"", ("--memory", "5MB"), "takes 0.00965 GB while it is worked on"),
        (b"", ("--strata", "kg"), "cannot be released for itself"),
        (b"", ("--separator", "\t"), "the file is one column, and 3 by ','"),
        (b"", ("--decimal", ","), "The decimal mark ',' does not go with the file"),
    ],
)
def test_what_is_wrong_far_below_is_told_in_a_sentence_and_nothing_is_left(
    text: Path,
    capsys: pytest.CaptureFixture[str],
    line: bytes,
    options: tuple[str, ...],
    said: str,
):
    lines = text.read_bytes().splitlines()
    lines[149_999] = line or lines[149_999]
    text.write_bytes(b"\n".join(lines))
    assert run(text, "--memory", SMALL, "--seed", "1", *options) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1
    assert [path.name for path in text.parent.iterdir()] == ["big.csv"]


def test_a_column_that_is_text_far_below_is_what_it_is_in_memory(
    text: Path, capsys: pytest.CaptureFixture[str]
):
    lines = text.read_bytes().splitlines()
    lines[149_999] = b"1.5,somewhat,2"
    text.write_bytes(b"\n".join(lines))
    said = []
    for options in ((), ("--memory", "30MB")):
        assert run(text, "--seed", "1", "--force", "--json", *options) == 0
        said.append((capsys.readouterr().out, text.with_name("big.release.csv").read_bytes()))
    assert "left out" in said[0][0]
    assert said[0] == said[1]


def test_sizes():
    assert [parsed_size(text) for text in ("7", "2kB", "1.5 MB", "1GiB")] == [7, 2000, 1.5e6, 2**30]
