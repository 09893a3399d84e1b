"""A disk without room gives an error that says so, never a part of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

from icsa.errors import InputError
from icsa.tables import Table, read_table, write_table

if os.name != "posix":
    pytest.skip("needs limits on the size of files", allow_module_level=True)

import resource

N_ROWS = 150
FRAME = pl.DataFrame(
    {
        "id": [f"P{number:05d}" for number in range(N_ROWS)],
        "weight": [float(number * 7919 % 1009) / 7 for number in range(N_ROWS)],
        "visits": [number * 31 % 17 for number in range(N_ROWS)],
    }
)
SUFFIXES = ("csv", "csv.gz", "parquet", "feather", "xlsx", "sav", "zsav", "dta", "xpt")


@contextmanager
def room_for(n_bytes: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes, which programs meet as they meet a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_room_is_an_error_with_the_file_and_the_disk(
    tmp_path: Path, suffix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(Table(FRAME), path)
    size = path.stat().st_size
    for room in {*range(0, size, max(1, size // 40)), size - 1, 320, 1200, 1280} - {size}:
        if room > size:
            continue
        path.unlink(missing_ok=True)
        with room_for(room), pytest.raises(OSError, match="Make room on the disk") as caught:
            write_table(Table(FRAME), path)
        assert caught.value.filename == str(path)
        assert "large" in str(caught.value.strerror)
        assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_old_file_stays(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(Table(FRAME.head(20)), path)
    before = path.read_bytes()
    with room_for(100), pytest.raises(OSError, match="Make room"):
        write_table(Table(FRAME), path, force=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_may_not_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError) as caught:
        write_table(Table(FRAME), tmp_path / "t.csv")
    assert caught.value.filename == str(tmp_path / "t.csv")


@pytest.mark.parametrize("version", [5, 8])
@pytest.mark.parametrize("columns", [["id", "weight", "visits"], ["visits"], ["id"]])
def test_a_transport_file_that_was_cut_off_is_refused(
    tmp_path: Path, columns: list[str], version: int
) -> None:
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(FRAME.select(columns), str(path), file_format_version=version)
    whole = path.read_bytes()
    assert read_table(path).frame.height == N_ROWS
    width = sum(6 if name == "id" else 8 for name in columns)
    first = whole.index(b"*OBS") + 61
    for size in range(len(whole) // 2, len(whole), 16):
        path.write_bytes(whole[:size])
        # Since version 8 the header says how many rows there are.
        if version == 8 or size % 80 or (size - first) % width:
            with pytest.raises(InputError, match="is not a whole SAS"):
                read_table(path)


def test_a_transport_file_of_two_data_sets_is_not_cut_off(tmp_path: Path) -> None:
    first, second = tmp_path / "a.xpt", tmp_path / "b.xpt"
    pyreadstat.write_xport(FRAME, str(first))
    pyreadstat.write_xport(FRAME.select("weight"), str(second))
    members = second.read_bytes()[240:]  # behind the headers of the library
    first.write_bytes(first.read_bytes() + members)
    assert read_table(first).frame.columns == FRAME.columns
