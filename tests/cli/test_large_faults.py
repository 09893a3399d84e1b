"""``icsa anonymize`` of tables in files: odd inputs and outputs, and what killed runs leave."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icsa import cli
from icsa.jobs.folder import locked
from icsa.release import anonymize
from icsa.release.blocks import large_runs, scratch_runs
from icsa.release.blocks.text_tables import TextTable
from tests.release.blocks.tables import N_ROWS, measured

MEMORY = ("--memory", "15MB", "--seed", "1")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return measured().select("kg", "score")


@pytest.fixture(scope="module")
def wanted(frame: pl.DataFrame) -> pl.DataFrame:
    return anonymize(frame, random_state=1).table


def in_parts(frame: pl.DataFrame, folder: Path, names: tuple[str, ...]) -> Path:
    folder.mkdir()
    step = -(-frame.height // len(names))
    for number, name in enumerate(names):
        frame[number * step : (number + 1) * step].write_parquet(folder / name)
    return folder


@pytest.fixture
def parts(tmp_path: Path, frame: pl.DataFrame) -> Path:
    return in_parts(frame, tmp_path / "parts", ("a.parquet", "b.parquet", "c.parquet"))


def run(file: Path, *options: str) -> int:
    return cli.run(["anonymize", str(file), *MEMORY, *options])


def refused(capsys: pytest.CaptureFixture[str], file: Path, *options: str) -> str:
    assert run(file, *options) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    return shown


def test_an_input_is_never_written_to(parts: Path, capsys: pytest.CaptureFixture[str]):
    before = (parts / "a.parquet").read_bytes()
    for file in (parts, parts / "*.parquet"):
        target = str(parts / "a.parquet")
        assert "is an input" in refused(capsys, file, "--force", "--output", target)
        assert "is an input" in refused(
            capsys, file, "--force", "--output", str(parts.parent / "out"), "--save-key", target
        )
    for new in ("new.parquet", "released"):
        said = refused(capsys, parts, "--output", str(parts / new))
        assert "among the original's part files" in said
    assert (parts / "a.parquet").read_bytes() == before
    assert len(list(parts.iterdir())) == 3
    around = parts.parent / "around"
    around.mkdir()
    moved = parts.rename(around / "table.parquet")
    said = refused(capsys, moved, "--force", "--output", str(around))
    assert "is no folder that holds part files of a release alone" in said
    assert len(list(moved.iterdir())) == 3


def test_a_folder_that_is_not_there_is_told_before_anything_runs(
    parts: Path, capsys: pytest.CaptureFixture[str]
):
    target = str(parts.parent / "nowhere" / "out")
    said = refused(capsys, parts, "--output", target, "--scratch", str(parts.parent))
    assert "nowhere is no folder. Make it first" in said


@pytest.mark.parametrize("names", [("a.parquet", "a.pq"), ("part.0", "part.1")])
def test_parts_whose_names_differ_in_suffixes_alone_lose_no_rows(
    tmp_path: Path, frame: pl.DataFrame, wanted: pl.DataFrame, names: tuple[str, ...]
):
    folder = in_parts(frame, tmp_path / "x", names)
    assert run(folder / "*", "--output", str(tmp_path / "out"), "-q") == 0
    found = [tmp_path / "out" / f"{name}.parquet" for name in names]
    assert pl.concat(pl.read_parquet(part) for part in found).equals(wanted)


def test_folders_of_any_name(parts: Path, wanted: pl.DataFrame, monkeypatch: pytest.MonkeyPatch):
    assert run(parts, "--output", str(parts.parent / "Größe (1)"), "-q") == 0
    assert pl.read_parquet(parts.parent / "Größe (1)" / "*.parquet").equals(wanted)
    monkeypatch.chdir(parts)
    assert run(Path(), "-q") == 0
    assert pl.read_parquet(parts.parent / "parts.release" / "*.parquet").equals(wanted)


def test_brackets_in_a_name_stand_for_themselves(
    tmp_path: Path, frame: pl.DataFrame, wanted: pl.DataFrame
):
    path = tmp_path / "table[1].parquet"
    frame.write_parquet(path)
    for options in ((), ("--scratch", str(tmp_path))):
        assert run(path, *options, "--force", "-q") == 0
        assert pl.read_parquet(tmp_path / "table[1].release.parquet", glob=False).equals(wanted)


def test_what_a_killed_program_was_writing_is_no_part(
    parts: Path, wanted: pl.DataFrame, capsys: pytest.CaptureFixture[str]
):
    shutil.copy(parts / "a.parquet", parts / ".tmp-12345678-a.parquet")
    for number, file in enumerate((parts, parts / "*.parquet")):
        out = parts.parent / f"out{number}"
        assert run(file, "--output", str(out), "-q") == 0
        assert pl.read_parquet(out / "*.parquet").equals(wanted)
    (parts / "d.csv").write_text("kg,score\n1,2\n")
    assert "parts holds d.csv besides Parquet files" in refused(capsys, parts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda part: part.unlink(), "There is no file"),
        (
            lambda part: pl.read_parquet(part).head(9).write_parquet(part),
            f"had {-(-N_ROWS // 3):,} rows at first and has 9 now",
        ),
        (
            lambda part: pl.read_parquet(part).select(pl.all().reverse()).write_parquet(part),
            "b.parquet was changed while it was read. Let no program write to it, and begin again.",
        ),
    ],
)
def test_a_part_that_changes_while_it_is_read(
    parts: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    said: str,
):
    released = large_runs.release_in_blocks

    def changed_before(*given: Any, **more: Any) -> Any:
        change(parts / "b.parquet")
        return released(*given, **more)

    monkeypatch.setattr(large_runs, "release_in_blocks", changed_before)
    shown = refused(capsys, parts)
    assert said in shown
    assert "in job" not in shown
    assert [path.name for path in parts.parent.iterdir()] == ["parts"]


def test_a_text_file_that_changes_while_it_is_read(
    tmp_path: Path,
    frame: pl.DataFrame,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    file = tmp_path / "table.csv"
    frame.write_csv(file)
    stored = TextTable.stored

    def changed_behind(table: TextTable, *given: Any) -> Any:
        found = stored(table, *given)
        frame.select(pl.all().reverse()).write_csv(file)
        return found

    monkeypatch.setattr(TextTable, "stored", changed_behind)
    assert "table.csv was changed while it was read" in refused(capsys, file)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
def test_scratch_of_somebody_else_is_not_called_left(
    parts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (parts.parent / ".icsa-scratch-0123456789abcdef").mkdir()
    assert run(parts, "--drop", "nothing") == 2
    assert "was left by a run" in capsys.readouterr().err
    somebody = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: somebody)
    assert "was left by a run" not in refused(capsys, parts, "--drop", "nothing")


def test_what_killed_runs_left(parts: Path, capsys: pytest.CaptureFixture[str]):
    folder = parts.parent / "with blanks"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch_runs, "_remove", lambda _: None)  # as if it had been killed
        for seed in ("2", ""):
            given = ("--seed", seed) if seed else ()
            arguments = ["anonymize", str(parts), *MEMORY[:2], *given, "--scratch", str(folder)]
            assert cli.run([*arguments, "--drop", "nothing"]) == 2
    capsys.readouterr()
    left = sorted(folder.iterdir())
    assert len(left) == 2
    assert run(parts, "--scratch", str(folder), "--drop", "nothing") == 2
    shown = capsys.readouterr().err
    assert shown.count("Go on with it by that command and --resume, or remove it: rm -r") == 1
    assert shown.count("Nothing can go on with it: remove it: rm -r") == 1
    assert {Path(path) for path in re.findall("rm -r '(.*)'", shown)} == set(left)
    assert run(parts, "--scratch", str(folder), "--drop", "nothing", "--resume") == 2
    assert "with these options and this key: starting anew" in capsys.readouterr().err
    with ExitStack() as at_work:
        for one in left:
            at_work.enter_context(locked(one))
        assert run(parts, "--seed", "2", "--scratch", str(folder), "--drop", "nothing") == 2
        shown = capsys.readouterr().err
        assert "Another process runs this command, and computes in" in shown
        assert "rm -r" not in shown


def test_scratch_that_cannot_hold_a_note_is_told_and_removed(
    parts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def full(path: Path, *_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    said = refused(capsys, parts)
    assert f"{parts.parent} cannot hold scratch files (No space left on device)" in said
    assert [path.name for path in parts.parent.iterdir()] == ["parts"]


class Killed(BaseException):
    """Stands for a signal that nobody sees."""


def interrupted_while_removing(monkeypatch: pytest.MonkeyPatch, ended: type[BaseException]) -> None:
    """Have a run end when half of its scratch is removed, once."""
    remove = shutil.rmtree

    def half(folder: Path, *rest: Any, **more: Any) -> None:
        if folder.name.startswith(".icsa-scratch-"):
            monkeypatch.setattr(shutil, "rmtree", remove)
            remove(folder / "found")
            raise ended
        remove(folder, *rest, **more)

    monkeypatch.setattr(shutil, "rmtree", half)


def test_an_interruption_while_scratch_is_removed(
    parts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    interrupted_while_removing(monkeypatch, KeyboardInterrupt)
    assert run(parts, "-q") == 130
    target = parts.with_name("parts.release")
    assert capsys.readouterr().err == f"icsa: interrupted. Written: {target}.\n"
    assert sorted(path.name for path in parts.parent.iterdir()) == ["parts", "parts.release"]


def test_nobody_goes_on_with_scratch_that_was_being_removed(
    parts: Path,
    wanted: pl.DataFrame,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    interrupted_while_removing(monkeypatch, Killed)
    with pytest.raises(Killed):
        run(parts, "-q")
    (left,) = parts.parent.glob(".icsa-scratch-*")
    assert run(parts, "--resume", "--force") == 0
    shown = capsys.readouterr().err
    assert f"Nothing can go on with it: remove it: rm -r {left}" in shown
    assert "starting anew" in shown
    assert pl.read_parquet(parts.with_name("parts.release") / "*.parquet").equals(wanted)


def test_what_a_killed_run_was_writing_is_named_and_goes_when_it_is_gone_on_with(
    parts: Path, capsys: pytest.CaptureFixture[str]
):
    half = parts.parent / ".tmp-12345678-parts.release"
    other = parts.parent / ".tmp-12345678-other"
    for folder in (half, other):
        folder.mkdir()
        (folder / "a.parquet").write_bytes(b"half")
    assert run(parts) == 0
    shown = capsys.readouterr().err
    assert f"{half} was left by a run that was killed while it wrote" in shown
    assert f"rm -r {half}" in shown
    assert str(other) not in shown
    assert half.exists()
    assert run(parts, "--resume", "--force", "-q") == 0
    assert not half.exists()
    assert other.exists()
