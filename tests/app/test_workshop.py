"""Work: one piece at a time, in processes of its own that end when they are told to."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from icsa.app.desk_line import DeskLine
from icsa.app.leash import OUT_OF_MEMORY, ran_short
from icsa.app.workshop import Work, Workshop, _sentence, run_command
from icsa.errors import InputError

from .talking import CLINIC


def a_work(parts: int = 1) -> Work:
    return Work(title="t", back="release", then="look", parts=parts)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(process: int) -> bool:
    deadline = time.monotonic() + 20
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(process)


def test_a_second_piece_of_work_is_refused_while_one_is_done() -> None:
    async def both() -> None:
        shop, gate = Workshop(), asyncio.Event()

        async def first(_work: Work) -> None:
            await gate.wait()

        await shop.begin(a_work(), first)
        with pytest.raises(InputError, match="Something else is being done"):
            await shop.begin(a_work(), first)
        gate.set()
        await shop.end()
        await shop.begin(a_work(), first, 5.0)
        assert shop.work is not None
        assert shop.work.state == "done"

    asyncio.run(both())


def test_a_command_says_why_it_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"")

    async def refused() -> Work:
        shop, work = Workshop(), a_work()
        await shop.begin(work, lambda w: run_command(w, ["inspect", "bad.csv"], tmp_path), 60.0)
        return work

    work = asyncio.run(refused())
    assert work.state == "refused"
    assert work.sentence.startswith("bad.csv")
    assert "icsa:" not in work.sentence
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_a_bug_does_not_tell_its_words() -> None:
    async def broken(_work: Work) -> None:
        raise ValueError("cell 91.73 of Kilkenny")

    async def run() -> Work:
        shop, work = Workshop(), a_work()
        await shop.begin(work, broken, 5.0)
        return work

    work = asyncio.run(run())
    assert work.state == "refused"
    assert "ValueError" in work.sentence
    assert "Kilkenny" not in work.sentence


# A module in place of icsa: what the leash runs, with a child of its own.
LONG = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
with open(os.environ["ICSA_PROGRESS_FILE"], "a") as file:
    file.write("0.0000 first\\n0.5000 half\\n")
time.sleep(600)
"""


@pytest.fixture
def long_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command that takes ten minutes, in place of icsa's own."""
    leash = tmp_path / "leash.py"
    leash.write_text(
        "import sys\nfrom icsa.app.leash import on_a_leash\non_a_leash()\n" + LONG, encoding="utf-8"
    )
    real = asyncio.create_subprocess_exec

    async def instead(*words: str, **how: object) -> asyncio.subprocess.Process:
        return await real(sys.executable, str(leash), **how)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", instead)
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


async def pids_in(folder: Path) -> list[int]:
    while not (folder / "pids").exists() or len((folder / "pids").read_text().split()) < 2:
        await asyncio.sleep(0.05)
    return [int(one) for one in (folder / "pids").read_text().split()]


def test_cancelled_work_ends_with_all_its_processes(long_command: Path) -> None:
    async def cancelled() -> tuple[Work, list[int]]:
        shop, work = Workshop(), a_work()
        await shop.begin(work, lambda w: run_command(w, [], long_command))
        pids = await pids_in(long_command)
        while work.share != 0.5:
            await asyncio.sleep(0.05)
        assert work.stage == "half"
        assert work.left is not None
        shop.cancel()
        await shop.end()
        return work, pids

    work, pids = asyncio.run(cancelled())
    assert work.state == "cancelled"
    assert all(ends(pid) for pid in pids)
    assert not (long_command / ".progress").exists()


def test_work_ends_with_a_server_that_was_killed(long_command: Path) -> None:
    """Its end of the leash is gone, whatever the signal was."""

    async def cut() -> list[int]:
        work = a_work()
        task = asyncio.create_task(run_command(work, [], long_command))
        pids = await pids_in(long_command)
        known = task.get_coro().cr_frame.f_locals  # type: ignore[union-attr]
        while "process" not in known:  # which may write its numbers before it is known here
            await asyncio.sleep(0.05)
            known = task.get_coro().cr_frame.f_locals  # type: ignore[union-attr]
        known["process"].stdin.close()
        with pytest.raises(InputError, match="ended before it was done"):
            await task
        return pids

    assert all(ends(pid) for pid in asyncio.run(cut()))


def test_time_left_and_parts() -> None:
    work = a_work(parts=2)
    assert work.left is None
    work.at("reading", 0.0)
    work.started -= 10
    work._part_started -= 10
    work.at("halfway", 0.5)
    assert work.left is not None
    assert 8 < work.left < 12
    assert work.as_dict()["percent"] == 50
    work.at("again", 0.0)
    assert (work.part, work.left) == (2, None)
    work.at("and again", 0.0)
    work.at("done", 1.0)
    assert (work.part, work.left) == (2, 0.0)


def test_the_desk_answers_refuses_and_comes_back_after_it_was_cut() -> None:
    async def talk() -> None:
        desk, stages = DeskLine(), list[str]()
        file = {"path": str(CLINIC)}
        found = await desk.ask("open", told=stages.append, file=file)
        assert (found["rows"], found["columns"]) == (400, 31)
        assert stages[0] == "reading the file"
        with pytest.raises(InputError, match="There is no file"):
            await desk.ask("open", file={"path": "/nowhere.csv"})
        desk.cut()
        with pytest.raises(InputError, match="ended before it was done"):
            await desk.ask("open", file=file)
        assert (await desk.ask("open", file=file))["rows"] == 400
        await desk.close()

    asyncio.run(talk())


HUNGRY = """
import sys, time
from pathlib import Path
from icsa.app import leash
free = leash.most_memory(Path("/proc/meminfo").read_text()) / leash._SHARE
leash._SHARE = 3e8 / free
leash.on_a_leash(reads_input=True)
"""
SLOWLY = "held = []\nwhile True:\n    held.append(b'x' * 1_000_000)\n    time.sleep(0.01)\n"
AT_ONCE = "try:\n    held = bytearray(4_000_000_000)\nexcept MemoryError:\n    sys.exit(5)\n"


@pytest.mark.skipif(
    not Path("/proc/meminfo").exists(), reason="this system does not tell what memory is free"
)
@pytest.mark.parametrize(
    ("grows", "code"), [(SLOWLY, OUT_OF_MEMORY), (AT_ONCE, 5)], ids=["slowly", "at once"]
)
def test_memory_that_runs_short_ends_the_process(grows: str, code: int) -> None:
    """A file that unpacks to more than there is, such as a workbook made for it."""
    finished = subprocess.run([sys.executable, "-c", HUNGRY + grows], check=False, timeout=60)
    assert finished.returncode == code


def sparse_workbook(path: Path) -> None:
    """A workbook of some kB whose two cells are 17 thousand million cells apart."""
    import xlsxwriter

    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet()
    sheet.write(0, 0, 1)
    sheet.write(1_048_575, 16_383, 2)
    book.close()


@pytest.mark.skipif(
    not Path("/proc/meminfo").exists(), reason="this system does not tell what memory is free"
)
def test_a_workbook_that_claims_all_memory_ends_the_process(tmp_path: Path) -> None:
    sparse_workbook(tmp_path / "a.xlsx")
    read = "from icsa.tables import read_table\nread_table(Path(sys.argv[1]))\n"
    finished = subprocess.run(
        [sys.executable, "-c", HUNGRY + read, str(tmp_path / "a.xlsx")],
        check=False,
        timeout=60,
        capture_output=True,
    )
    assert ran_short(finished.returncode), finished.stderr[-500:]
    assert "more memory than is free" in _sentence(finished.returncode, "")


def test_work_waits_for_what_was_cancelled_to_clear_away(tmp_path: Path) -> None:
    async def again() -> None:
        shop, place = Workshop(), tmp_path / "1"

        async def slow_to_end(work: Work) -> None:
            place.mkdir()
            try:
                while work.state == "running":
                    await asyncio.sleep(0)
                await asyncio.sleep(0.05)
            finally:
                place.rmdir()

        async def next_one(_work: Work) -> None:
            place.mkdir()

        await shop.begin(a_work(), slow_to_end)
        await asyncio.sleep(0)
        shop.cancel()
        second = a_work()
        await shop.begin(second, next_one, 5.0)
        assert second.state == "done"
        assert place.is_dir()

    asyncio.run(again())


def test_progress_of_a_command_is_written_for_who_asks(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    finished = subprocess.run(
        [sys.executable, "-m", "icsa", "anonymize", str(CLINIC), "-o", "r.csv", "-q"],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "ICSA_PROGRESS_FILE": str(heard)},
        timeout=120,
    )
    assert finished.returncode == 0
    shares = [float(line.partition(" ")[0]) for line in heard.read_text().splitlines()]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert len(shares) > 3
    assert "patient" not in heard.read_text()


def test_a_comparison_says_in_words_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from icsa import choice
    from icsa.cli.compare import compared

    said: list[tuple[str, float]] = [("round-1", 0.25), ("final-2", 0.75)]

    def race(*_: object, progress: Callable[[str, float], None], **__: object) -> None:
        for stage, share in said:
            progress(stage, share)

    monkeypatch.setattr(choice, "compare", race)
    monkeypatch.setenv("ICSA_PROGRESS_FILE", str(tmp_path / "heard"))
    compared(None, None, quiet=True, budget=None, workers=1)  # type: ignore[arg-type]
    assert (tmp_path / "heard").read_text().splitlines() == [
        "0.0000 round 1 of the race",
        "0.2500 round 1 of the race",
        "0.7500 assessing the best in full",
    ]
