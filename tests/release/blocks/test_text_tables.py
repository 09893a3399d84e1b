"""A text file that is released in pieces has the bytes of one that is released in memory."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.release.blocks.ground import Resources
from icsa.release.blocks.large_runs import write_file, write_text_file
from icsa.release.blocks.text_tables import TextTable
from icsa.tables import Table, file_kind, read_table, write_table
from icsa.tables.base import ReadingOptions
from icsa.tables.table import Layout, Variable
from icsa.tables.text_streams import look_through

from .tables import measured, of_all_kinds

OPTIONS = {"method": "icsa"}


def released(
    path: Path,
    target: Path,
    *,
    n_bytes: int = 1 << 20,
    leaves: int = 4,
    memory: int = 1 << 40,
    **choices: Any,
) -> bytes:
    """Return the bytes of a release that is made in pieces, and what they are called in scratch."""
    kind = file_kind(path)
    text = TextTable(
        look_through(path, compressed=kind.compressed, encoding=None), kind, ReadingOptions()
    )
    folder = target.with_name("scratch")
    folder.mkdir()
    with patch.multiple("icsa.release.blocks.text_tables", _LEAST=n_bytes, _MOST=n_bytes):
        table = text.stored(Passes(Scratch(folder, 0)), Resources(memory=memory, scratch=folder))
    passes = Passes(Scratch(folder, table.n_rows))
    ground = Ground(table, leaves * LEAF_ROWS)
    made = release_in_blocks(passes, ground, as_key(1), choices=choices, options=OPTIONS)
    if target.suffix == ".parquet":
        write_file(made.cells, target, lambda _: None)
    else:
        write_text_file(passes, made, target)
    return target.read_bytes()


def released_in_memory(path: Path, target: Path, **choices: Any) -> bytes:
    """Return the bytes of a release that is made in memory."""
    made = anonymize(read_table(path), random_state=1, **OPTIONS, **choices)
    write_table(made.table, target)
    return target.read_bytes()


def of_few_kinds() -> pl.DataFrame:
    return of_all_kinds().select("kg", "dose", "group", "seen", "sugar", "patient")


def test_of_all_kinds(tmp_path: Path):
    path = tmp_path / "t.csv"
    of_all_kinds().write_csv(path)
    choices = {"keep": ("pain",), "recipe": "topcode"}
    wanted = released_in_memory(path, tmp_path / "wanted.csv", **choices)
    assert released(path, tmp_path / "found.csv", **choices) == wanted
    left = {p.suffix for p in (tmp_path / "scratch" / "original").rglob("*") if p.is_file()}
    assert left == {".parquet"}  # what is kept as it is, alone
    assert len(list((tmp_path / "scratch" / "original").rglob("*.parquet"))) == 1


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("one")
    of_few_kinds().write_csv(folder / "t.csv")
    return folder / "t.csv", released_in_memory(folder / "t.csv", folder / "wanted.csv")


@given(n_bytes=st.integers(30_000, 20_000_000), leaves=st.integers(1, 13))
@settings(max_examples=4, deadline=None, derandomize=True)
def test_whatever_the_edges_of_blocks(one: tuple[Path, bytes], n_bytes: int, leaves: int):
    path, wanted = one
    with TemporaryDirectory() as folder:
        found = released(path, Path(folder) / "t.csv", n_bytes=n_bytes, leaves=leaves)
    assert found == wanted


LAYOUTS = {
    "commas": Layout("csv", separator=";", decimal=",", encoding="iso8859-1", newline="\r\n"),
    "words": Layout("csv", separator="|", decimal=".", encoding="utf-8-sig", missing="NULL"),
    "points": Layout("csv", separator="\t", decimal=".", encoding="utf-16", missing="."),
}


@pytest.mark.parametrize(
    ("name", "layout"), [("t.csv", "commas"), ("t.csv", "words"), ("t.tsv", "points")]
)
def test_in_other_dialects(tmp_path: Path, name: str, layout: str):
    path = tmp_path / name
    variables = {"seen": Variable(text_format="%-d.%-m.%Y"), "kg": Variable(decimals=1)}
    said = replace(LAYOUTS[layout], suffix=path.suffix)
    frame = of_few_kinds().with_columns(pl.col("group").replace("mid", "mittel, größer"))
    write_table(Table(frame, variables, said), path)
    wanted = released_in_memory(path, tmp_path / f"wanted{path.suffix}")
    assert released(path, tmp_path / f"found{path.suffix}") == wanted
    assert "größer" in wanted.decode(said.encoding or "")


def test_packed_and_into_another_format(tmp_path: Path):
    path = tmp_path / "t.csv.gz"
    write_table(Table(measured().select("kg", "dose", "age")), path)
    wanted = released_in_memory(path, tmp_path / "wanted.csv.gz")
    assert released(path, tmp_path / "found.csv.gz") == wanted
    (tmp_path / "scratch").rename(tmp_path / "scratch before")
    released_in_memory(path, tmp_path / "wanted.parquet")
    released(path, tmp_path / "found.parquet")
    found, frame = (pl.read_parquet(tmp_path / f"{n}.parquet") for n in ("found", "wanted"))
    assert found.equals(frame)


def test_small_files_and_those_with_quoted_cells(tmp_path: Path):
    path = tmp_path / "t.csv"
    frame = of_all_kinds().select("age", "group").with_columns(pl.col("group") + "\n, so")
    frame.select("age").write_csv(path)
    assert path.stat().st_size < 1 << 20
    wanted = released_in_memory(path, tmp_path / "wanted.csv")
    assert released(path, tmp_path / "found.csv") == wanted
    (tmp_path / "scratch").rename(tmp_path / "scratch before")
    frame.write_csv(path)
    wanted = released_in_memory(path, tmp_path / "quoted.csv")
    assert released(path, tmp_path / "found quoted.csv", n_bytes=99_999) == wanted


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"70.5,1.5\n", r"row 200,?001 .*: 2 cells where the header has 3"),
        (b"70.5,1.5,2,4\n", r"4 cells where the header has 3"),
        (b'70.5,1.5,"2\n', r"a quotation mark opens a cell and none closes it|field"),
        (b"70.5,\x00,2\n", r"line 200001 has a zero byte"),
    ],
)
def test_a_bad_row_far_below_is_named_as_in_memory(tmp_path: Path, bad: bytes, said: str):
    path = tmp_path / "t.csv"
    lines = measured().select("kg", "dose", "age").write_csv().encode().splitlines(keepends=True)
    lines[200_000] = bad
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=said) as wanted:
        read_table(path)
    with pytest.raises(InputError) as found:
        released(path, tmp_path / "found.csv", n_bytes=1_000_000)
    assert str(found.value) == str(wanted.value)


def test_strings_that_do_not_fit_are_refused(tmp_path: Path):
    path = tmp_path / "t.csv"
    of_few_kinds().write_csv(path)
    with pytest.raises(InputError, match=r"'\w+' takes 0\.0116 GB as text .* --memory more"):
        released(path, tmp_path / "found.csv", memory=11_000_000)


@pytest.mark.parametrize("names", [("kg", "dose", "score"), ("group", "seen", "patient")])
def test_a_full_disk_is_named(tmp_path: Path, names: tuple[str, ...]):
    path = tmp_path / "t.csv"
    of_all_kinds().select(names).write_csv(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with pytest.raises(OSError, match=r"No space left for scratch files.*--scratch"):
            released(path, tmp_path / "found.csv", n_bytes=1 << 23)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
