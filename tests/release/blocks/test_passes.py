"""Passes: kept results, workers that are lost, a cluster, and scratch that is private and goes."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.jobs.dask_cluster import connected
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import anonymize
from icsa.release.blocks import Passes, Scratch
from icsa.release.blocks.block_cells import StoredCells, write_cells
from icsa.release.blocks.ground import Ground, Resources, row_ranges
from icsa.release.blocks.large_runs import ground_for
from icsa.release.blocks.passes import OF_A_BLOCK, Task
from icsa.release.blocks.scratch_runs import Run, leftovers, opened_scratch
from icsa.tables.stored import StoredTable, parquet_parts, stored_parquet

from .tables import measured, released_in_blocks, require_the_same, stored


def doubled(scratch: Scratch, number: int) -> int:
    with (scratch.folder / "calls").open("a") as calls:
        calls.write(f"{number}\n")
    return 2 * number


def killed_once(scratch: Scratch, number: int) -> int:
    mark = scratch.folder / "killed"
    if number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_what_is_done_is_not_done_again(tmp_path: Path):
    passes = Passes(Scratch(tmp_path, 3))
    tasks = [Task(doubled, (number,)) for number in range(3)]
    assert passes.over("doubling", tasks) == [0, 2, 4]
    passes.scratch.forget("doubling-1")
    assert passes.over("doubling", tasks) == [0, 2, 4]
    assert (tmp_path / "calls").read_text().split() == ["0", "1", "2", "1"]


def test_no_text_shows_what_a_task_is_given():
    assert "secret" not in repr(Task(doubled, (b"secret",)))


def test_goes_on_when_a_worker_is_killed(tmp_path: Path):
    passes = Passes(Scratch(tmp_path, 3), workers=2)
    tasks = [Task(killed_once, (number,)) for number in range(4)]
    assert passes.over("survivors", tasks) == [0, 1, 2, 3]
    assert (tmp_path / "killed").exists()


def worker(scratch: Scratch, number: int, gate: str, company: int) -> int:
    """Return the process, once so many of them are at the gate: so nobody does all of it."""
    folder = scratch.folder / gate
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
    until = time.monotonic() + 60
    while len(list(folder.iterdir())) < company and time.monotonic() < until:
        time.sleep(0.01)
    return os.getpid()


def test_a_column_at_a_time_where_there_is_memory_for_one_and_all_workers_on_blocks(tmp_path: Path):
    passes = Passes(Scratch(tmp_path, 3), workers=2, columns_at_a_time=1)

    def processes(name: str, company: int, **held: int) -> set[int]:
        tasks = [Task(worker, (number, name, company)) for number in range(4)]
        return set(passes.over(name, tasks, **held))

    assert processes("columns", 1) == {os.getpid()}
    elsewhere = processes("blocks", 2, held=OF_A_BLOCK)
    assert len(elsewhere) == 2
    assert os.getpid() not in elsewhere
    assert len(processes("half a column each", 2, held=3)) == 2
    assert processes("columns again", 1) == {os.getpid()}
    for process in elsewhere:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_how_many_columns_fit(tmp_path: Path):
    resources = Resources(memory=3_000, scratch=tmp_path, workers=4)
    found = [resources.at_a_time(n) for n in (0, 100, 1_000, 1_001, 3_000, 3_001)]
    assert found == [4, 4, 3, 2, 1, 0]
    on_a_cluster = replace(resources, dask="local")
    assert [on_a_cluster.at_a_time(n) for n in (750, 751)] == [4, 0]
    assert ground_for(_table(LONG + 1), replace(resources, memory=20_000_000)).memory == 10_000_000


@pytest.mark.parametrize("engine", ["processes", "a column at a time", "dask"])
def test_workers_give_the_same_cells(tmp_path: Path, engine: str):
    frame = measured(3).select("kg", "dose", "score")
    table, wanted = stored(frame, tmp_path / "parts", [70_000]), anonymize(frame, random_state=1)
    if engine != "dask":
        fitting = 1 if engine == "a column at a time" else 2
        found = released_in_blocks(
            table, tmp_path / "scratch", leaves=3, workers=2, columns_at_a_time=fitting
        )
    else:
        with connected("local", 2) as client:
            found = released_in_blocks(
                table, tmp_path / "scratch", leaves=3, workers=2, dask=client
            )
    require_the_same(found, wanted)


def test_scratch_is_private_and_removed_at_the_end_and_on_errors(tmp_path: Path):
    run = Run({"input": "a table"}, as_key(1), resumable=True)
    with opened_scratch(tmp_path, run, resume=False) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), opened_scratch(tmp_path, run, resume=False):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("resumable", [True, False])
def test_scratch_stays_after_an_interruption_only_where_it_can_be_gone_on_with(
    tmp_path: Path, resumable: bool
):
    run = Run({"input": "a table"}, as_key(1), resumable=resumable)
    with pytest.raises(KeyboardInterrupt) as stop, opened_scratch(tmp_path, run, resume=False):
        raise KeyboardInterrupt
    assert bool(list(tmp_path.iterdir())) == resumable
    if resumable:
        assert "--resume" in stop.value.__notes__[0]
        with (
            pytest.raises(InputError, match=r"interrupted run .*--resume.*rm -r"),
            opened_scratch(tmp_path, run, resume=False),
        ):
            pass
        other = Run({"input": "another"}, as_key(1), resumable=True)
        left = leftovers(tmp_path, other)[0]
        assert "left by a run on a table that was killed (icsa anonymize; " in left
        assert "Go on with it by that command and --resume, or remove it: rm -r" in left
        with opened_scratch(tmp_path, run, resume=True):
            assert leftovers(tmp_path, other) == []  # somebody works in it


@pytest.mark.parametrize(
    ("note", "about", "command"),
    [
        (Run({"input": "x"}, as_key(1), resumable=False).note(), "x", "icsa anonymize"),
        (Run({}, as_key(1), resumable=False, command="icsa assess").note(), "", "icsa assess"),
        ("[]", "a table", "icsa"),
        ("half a note", "a table", "icsa"),
    ],
)
def test_what_nothing_can_go_on_with_is_told_with_how_to_remove_it(
    tmp_path: Path, note: str, about: str, command: str
):
    folder = tmp_path / "it's here" / ".icsa-scratch-0"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(note, encoding="utf-8")
    (left,) = leftovers(folder.parent, Run({}, as_key(1), resumable=True))
    assert left.startswith(f"{folder} was left by a run on {about} that was killed ({command}; ")
    assert "--resume" not in left
    removed = left.partition("Nothing can go on with it: remove it: ")[2]
    subprocess.run(removed, shell=True, check=True)
    assert not folder.exists()


def test_the_key_of_a_run_tells_it_from_others():
    one, other = (Run({"input": "x"}, as_key(seed), resumable=True).name for seed in (1, 2))
    assert one != other
    assert one == Run({"input": "x"}, as_key(1), resumable=True).name


def test_a_full_disk_is_named(tmp_path: Path):
    scratch = Scratch(tmp_path, 100_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with pytest.raises(OSError, match=r"No space left for scratch files.*--scratch"):
            scratch.write("numbers", 0, np.zeros(100_000))
        with pytest.raises(OSError, match=r"No space left for scratch files.*--scratch"):
            write_cells(scratch, 0, pl.Series("x", np.random.default_rng(1).random(100_000)), None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "numbers").iterdir())


def test_columns_are_written_where_others_were(tmp_path: Path):
    scratch, numbers = Scratch(tmp_path, 1000), np.arange(1000.0)
    for place in range(2):
        scratch.write("before", place, numbers + place)
    scratch.link("before", 1, "also", 0)
    inodes = {scratch.path("before", place).stat().st_ino for place in range(2)}
    scratch.drop("before")
    scratch.write("after", 0, numbers[:10])  # shorter: nothing of what was there is left
    scratch.allocate("after, too", 1)
    assert scratch.path("after", 0).stat().st_ino in inodes
    assert np.array_equal(scratch.loaded("after", 0), numbers[:10])
    assert scratch.path("after, too", 0).stat().st_size == 8000
    assert np.array_equal(scratch.loaded("also", 0), numbers + 1)
    scratch.drop("after")
    scratch.drop_spare()
    assert {path.name for path in tmp_path.iterdir()} == {"also", "after, too"}


def test_blocks_are_whole_leaves():
    assert [rows.stop for rows in row_ranges(40_000, 20_000)] == [16_384, 32_768, 40_000]


def _table(n_rows: int) -> StoredTable:
    return StoredTable(parts=(), rows=(n_rows,), dtypes={"x": pl.Float64()})


def test_memory_that_does_not_hold_a_column_is_refused_with_what_would(tmp_path: Path):
    resources = Resources(memory=10**9, scratch=tmp_path, workers=2)
    with pytest.raises(InputError, match=r"takes 2.4 GB .* and 1 GB may .* --memory 2.4GB\.$"):
        ground_for(_table(50_000_000), resources)
    on_a_cluster = replace(resources, dask="local")
    with pytest.raises(InputError, match=r"0.5 GB .* by each .* --memory 4.8GB, or fewer --work"):
        ground_for(_table(50_000_000), on_a_cluster)
    assert isinstance(ground_for(_table(5_000_000), resources), Ground)
    with pytest.raises(InputError, match="released in memory only"):
        ground_for(_table(LONG), resources)


def test_a_part_with_another_type_or_that_cannot_be_read_is_named(tmp_path: Path):
    for number in range(1, 8):
        cells = [1.5, 2.5] if number < 7 else [1, 2]
        pl.DataFrame({"age": cells, "kg": [1.0, 2.0]}).write_parquet(tmp_path / f"{number}.parquet")
    with pytest.raises(InputError, match=r"7\.parquet \(part 7\): column 'age' is of type Int64"):
        stored_parquet(parquet_parts(tmp_path))
    pl.DataFrame({"age": [1.5]}).write_parquet(tmp_path / "7.parquet")
    with pytest.raises(InputError, match=r"part 7\) has no column 'kg'"):
        stored_parquet(parquet_parts(tmp_path))
    (tmp_path / "7.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"7\.parquet is not a whole Parquet file"):
        stored_parquet(parquet_parts(tmp_path))


def test_cells_that_cannot_be_read_are_found_when_their_column_is(tmp_path: Path):
    path = tmp_path / "one.parquet"
    pl.DataFrame({"age": np.random.default_rng(1).normal(size=50_000)}).write_parquet(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:1000] + bytes(200_000) + whole[201_000:])
    with pytest.raises(InputError, match=r"one\.parquet is not a whole Parquet file"):
        stored_parquet([path]).column("age")


def test_text_that_does_not_fit_is_refused(tmp_path: Path):
    frame = measured().select("kg", "score")
    letters = pl.Series("letter", ["dear all, " * 30] * frame.height)
    table = stored(frame.with_columns(letters), tmp_path / "parts", [100_000])
    assert table.text_bytes("letter") == frame.height * (16 + 300)
    assert table.text_bytes("kg") == 0
    with pytest.raises(InputError, match=r"'letter' takes 0.095\d* GB as text .* 0.09 GB may be"):
        released_in_blocks(table, tmp_path / "scratch", memory=9e7)


def test_blocks_of_many_scores_have_fewer_rows():
    ground = Ground(_table(1_000_000), 4 * LEAF_ROWS)
    wanted = [4 * LEAF_ROWS, 2 * LEAF_ROWS, LEAF_ROWS]
    assert [ground.for_scores(n_scores).block_rows for n_scores in (1, 2, 50)] == wanted


def test_few_rows_of_wide_releases_are_held_at_a_time(tmp_path: Path):
    def rows(n_columns: int) -> tuple[int, int | None]:
        columns: dict[str, Any] = {f"x{j}": None for j in range(n_columns)}
        cells = StoredCells(Scratch(tmp_path, 10**6), columns, frozenset(), {}, "released")
        return cells.rows_at_a_time // LEAF_ROWS, cells.rows_of_a_group

    assert rows(3) == rows(20) == (16, None)
    assert rows(100) == (3, 3 * LEAF_ROWS)
    assert rows(10_000) == (1, LEAF_ROWS)
