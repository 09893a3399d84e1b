"""The engine: the same bytes everywhere, goes on after a crash, refuses foreign folders."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from icsa import compilation
from icsa.errors import ConvergenceError, InputError
from icsa.jobs import Job, Pace, Work, config_text, read_parts
from icsa.jobs import run as run_work
from icsa.jobs.folder import opened_folder
from icsa.jobs.workers import in_processes
from tests.jobs import toy

ROOT = Path(__file__).parents[2]
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed"
)
STUDY = toy.toy_study()


def run(study: Work, out: Path, workers: int = 1, dask: str | None = None) -> None:
    run_work(study, out, workers=workers, dask=dask, progress=False)


def part_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "parts").iterdir())}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the toy study, computed in this process."""
    out = tmp_path_factory.mktemp("reference")
    run(STUDY, out)
    return out


def test_results_are_those_of_the_function_in_the_order_of_jobs(reference: Path) -> None:
    found = read_parts(STUDY, reference)
    direct = [toy.draw(STUDY.config, **job.arguments) for job in STUDY.jobs]
    np.testing.assert_array_equal(found["size"], np.concatenate([t["size"] for t in direct]))
    np.testing.assert_allclose(found["value"], np.concatenate([t["value"] for t in direct]))
    assert list(found["reason"]) == [reason for t in direct for reason in t["reason"]]
    expected = [np.nan if root is None else root for t in direct for root in t["root"]]
    np.testing.assert_allclose(found["root"].astype(float), expected)


def test_two_processes_give_the_same_bytes(reference: Path, tmp_path: Path) -> None:
    run(STUDY, tmp_path, workers=2)
    assert part_bytes(tmp_path) == part_bytes(reference)


@needs_dask
def test_a_local_dask_cluster_gives_the_same_bytes(reference: Path, tmp_path: Path) -> None:
    run(STUDY, tmp_path, workers=2, dask="local")
    assert part_bytes(tmp_path) == part_bytes(reference)


@pytest.mark.parametrize(("workers", "silent"), [(1, False), (2, True)])
def test_worker_processes_say_nothing_about_kernels(
    tmp_path: Path, workers: int, silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(compilation.SILENT)
    study = toy.toy_study(function=toy.say_whether_silent)
    run(study, tmp_path, workers=workers)
    assert (read_parts(study, tmp_path)["silent"] == silent).all()


def test_a_finished_study_is_not_computed_again(reference: Path) -> None:
    before = part_bytes(reference), (reference / "manifest.json").read_bytes()
    run(toy.toy_study(function=toy.refuse), reference)
    assert (part_bytes(reference), (reference / "manifest.json").read_bytes()) == before


def test_only_missing_jobs_are_computed(reference: Path, tmp_path: Path) -> None:
    run(STUDY, tmp_path)
    (tmp_path / "parts" / "n40-r2.parquet").unlink()
    with pytest.raises(InputError, match="1 of 12 jobs are missing"):
        read_parts(STUDY, tmp_path)
    with pytest.raises(AssertionError, match="computed again") as caught:
        run(toy.toy_study(function=toy.refuse), tmp_path)
    assert "'n40-r2'" in caught.value.__notes__[0]
    run(STUDY, tmp_path)
    assert part_bytes(tmp_path) == part_bytes(reference)


@pytest.fixture
def running(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[str]]:
    """Return a process, leader of its own group, that is in the middle of the toy study."""
    gate = tmp_path_factory.mktemp("gate")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.toy", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, toy.GATE: str(gate)},
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (
        len(list(tmp_path.glob("parts/n*.parquet"))) < 4 or len(list(gate.iterdir())) < 2
    ):
        time.sleep(0.02)
    yield process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_killed_in_the_middle_it_goes_on_to_the_same_bytes(
    running: subprocess.Popen[str], reference: Path, tmp_path: Path
) -> None:
    running.kill()  # this process only; its workers see that it is gone
    running.wait()
    kept = part_bytes(tmp_path)
    assert len([name for name in kept if not name.startswith(".tmp-")]) == 4
    assert running.stderr is not None
    running.stderr.read()  # ends when the last worker does
    (tmp_path / "parts" / ".tmp-1234-n3-r0.parquet").write_bytes(b"half")
    run(STUDY, tmp_path, workers=2)
    assert part_bytes(tmp_path) == part_bytes(reference)


def test_ctrl_c_keeps_what_is_finished(running: subprocess.Popen[str], tmp_path: Path) -> None:
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == -signal.SIGINT
    # One traceback, of this process, though maybe in links: the workers are quiet.
    links = errors.count("During handling of the above exception")
    assert errors.count("Traceback") - links == 1, errors
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["jobs_done"] == len(list(tmp_path.glob("parts/n*.parquet"))) < 12


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        opened_folder(STUDY, tmp_path),
        pytest.raises(InputError, match="Another process is computing in"),
    ):
        run(STUDY, tmp_path)


def test_a_changed_config_names_the_field_and_both_values(reference: Path) -> None:
    changed = toy.toy_study(dataclasses.replace(STUDY.config, seed=8))
    with pytest.raises(InputError, match=r"seed is 7 there and 8 now\. .* another folder"):
        run(changed, reference)
    with pytest.raises(InputError, match="seed is 7 there and 8 now"):
        read_parts(changed, reference)


def test_another_division_into_jobs_is_refused(reference: Path) -> None:
    fewer = dataclasses.replace(STUDY, jobs=STUDY.jobs[1:])
    with pytest.raises(InputError, match="divides this work into other jobs"):
        run(fewer, reference)


def test_another_study_is_refused(reference: Path) -> None:
    with pytest.raises(InputError, match="results of 'toy', not 'other'"):
        run(toy.toy_study(name="other"), reference)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "{", "config.json is damaged"),
        ("config.json", "[]", "config.json is damaged"),
        ("config.json", "{}", "results of None"),
        ("config.json", None, "no config.json that says of which"),
        ("parts/n3-r0.parquet", "PAR", "n3-r0.parquet is damaged. Delete it"),
        ("parts/n3-r0.parquet", "PAR1 cut off", "n3-r0.parquet is damaged. Delete it"),
        ("parts/n3-r0.parquet", "", "n3-r0.parquet is damaged. Delete it"),
        ("parts/strange.parquet", "PAR1PAR1", "none of this work's, such as 'strange'"),
    ],
)
def test_a_damaged_or_foreign_folder_is_refused(
    tmp_path: Path, file: str, content: str | None, message: str
) -> None:
    run(STUDY, tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(content)
    with pytest.raises(InputError, match=message):
        run(STUDY, tmp_path)


def test_a_part_damaged_inside_is_found_when_read(tmp_path: Path) -> None:
    run(STUDY, tmp_path)
    (tmp_path / "parts" / "n3-r0.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    with pytest.raises(InputError, match=r"n3-r0.parquet is damaged. Delete it"):
        read_parts(STUDY, tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(InputError, match="is a file"):
        run(STUDY, tmp_path / "out")


def test_a_folder_without_a_study_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no results"):
        read_parts(STUDY, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("workers", "dask"), [(1, None), (2, None), pytest.param(2, "local", marks=needs_dask)]
)
def test_a_failing_job_is_named_and_the_others_are_kept(
    reference: Path, tmp_path: Path, workers: int, dask: str | None
) -> None:
    with pytest.raises(ConvergenceError, match="the toy did not converge") as caught:
        run(toy.toy_study(function=toy.fail_once), tmp_path, workers, dask)
    assert caught.value.__notes__ == ["This was in job 'n40-r1' of 'toy'; finished jobs are kept."]
    assert "in fail_once" in str(caught.value.__cause__)
    kept = part_bytes(tmp_path)
    assert 1 <= len(kept) < 12
    run(STUDY, tmp_path)
    assert part_bytes(tmp_path) == part_bytes(reference)


@pytest.mark.parametrize("dask", [None, pytest.param("local", marks=needs_dask)])
def test_jobs_of_a_lost_worker_are_done_again(
    reference: Path, tmp_path: Path, dask: str | None
) -> None:
    mark = tmp_path / "mark"
    study = toy.toy_study(toy.ToyConfig(mark=str(mark)), function=toy.kill_first_worker)
    run(study, tmp_path / "out", workers=2, dask=dask)
    assert mark.exists()
    assert part_bytes(tmp_path / "out") == part_bytes(reference)


def test_workers_that_die_always_are_an_error(tmp_path: Path) -> None:
    study = toy.toy_study(function=toy.kill_worker)
    with pytest.raises(InputError, match="ended from outside 3 times") as caught:
        run(study, tmp_path, workers=2)
    assert "the same command goes on where it stopped" in caught.value.__notes__[0]
    with pytest.raises(InputError, match="ended from outside 3 times") as caught:
        run_work(study, workers=2, progress=False)
    assert not hasattr(caught.value, "__notes__")


def test_a_missing_dask_gives_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'icsa\[dask\]'"):
        run(STUDY, tmp_path, dask="local")


@needs_dask
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "not an address"])
def test_an_address_where_nobody_answers(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icsa.jobs.dask_cluster._SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(InputError, match="No Dask scheduler answers at"):
        run(STUDY, tmp_path, dask=address)


@needs_dask
def test_a_scheduler_of_others(reference: Path, tmp_path: Path) -> None:
    from distributed import LocalCluster

    options = {"threads_per_worker": 2, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=0, **options) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(InputError, match="has no workers"):
            run(STUDY, tmp_path, dask=address)
        cluster.scale(1)
        cluster.wait_for_workers(1)
        run(STUDY, tmp_path, dask=address)
    assert part_bytes(tmp_path) == part_bytes(reference)


def test_too_few_workers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="At least 1 worker is needed: got 0"):
        run(STUDY, tmp_path, workers=0)


def test_the_manifest_tells_versions_time_and_config_and_nothing_of_the_machine(
    tmp_path: Path,
) -> None:
    study = toy.toy_study(toy.ToyConfig(sizes=(3,), repetitions=2, pause=0.1))
    run(study, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["jobs"], manifest["jobs_done"]) == (2, 2)
    assert 0.2 <= manifest["seconds"] < 20
    assert manifest["versions"]["numpy"] == np.__version__
    text = (tmp_path / "manifest.json").read_text() + (tmp_path / "config.json").read_text()
    assert str(tmp_path) not in text
    assert os.uname().nodename not in text


def test_seconds_are_summed_and_other_versions_kept(tmp_path: Path) -> None:
    study = toy.toy_study(toy.ToyConfig(sizes=(3,), repetitions=2))
    run(study, tmp_path)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    older = {**manifest["versions"], "numpy": "2.0.0"}
    path.write_text(json.dumps({**manifest, "versions": older, "seconds": 100.0}))
    (tmp_path / "parts" / "n3-r1.parquet").unlink()
    run(study, tmp_path)
    manifest = json.loads(path.read_text())
    assert 100.0 <= manifest["seconds"] < 110.0
    assert manifest["earlier_versions"] == [older]
    path.unlink()
    run(study, tmp_path)
    assert json.loads(path.read_text())["jobs_done"] == 2


def test_the_saved_config_is_the_shown_one(reference: Path) -> None:
    text = (reference / "config.json").read_text()
    assert text == config_text(STUDY) + "\n"
    assert json.loads(text)["config"]["sizes"] == [3, 40, 300]


@pytest.mark.parametrize("name", ["", "a/b", ".hidden", "a b"])
def test_a_job_needs_the_name_of_a_file(name: str) -> None:
    with pytest.raises(ValueError, match="must be that of a file"):
        Work("toy", STUDY.config, (Job(name, {}),), toy.draw)


def test_two_jobs_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Two jobs have the name 'a'"):
        Work("toy", STUDY.config, (Job("a", {}), Job("a", {})), toy.draw)


@pytest.mark.parametrize("table", [{}, {"a": [1], "b": [1, 2]}, {"a": np.eye(2)}])
def test_a_job_must_return_columns_of_one_length(tmp_path: Path, table: dict[str, object]) -> None:
    study = Work("toy", STUDY.config, (Job("a", {}),), lambda config: table)
    with pytest.raises(TypeError, match="columns of one length"):
        run(study, tmp_path)


def test_plain_lines_show_progress_without_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_work(STUDY, tmp_path, workers=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "toy: 0 of 12 jobs"
    assert lines[-1].startswith("toy: 12 of 12 jobs, ")
    assert lines[-1].endswith("0 s left")


def test_a_bar_shows_progress_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    run_work(STUDY, tmp_path, workers=1)
    shown = capsys.readouterr().err
    assert "12 of 12 jobs, " in shown
    assert "━" in shown
    assert "\x1b[3" not in shown  # no colours


def test_time_left_goes_by_the_cost_of_jobs() -> None:
    seconds = iter([0.0, 10.0, 10.0])
    pace = Pace(0, 3, cost=13.0, clock=lambda: next(seconds))
    assert str(Pace(0, 3, cost=13.0)) == "0 of 3 jobs"
    pace.advance(10.0)
    assert str(pace) == "1 of 3 jobs, 0.1 jobs/s, 3 s left"


def test_without_a_folder_the_columns_are_the_same(reference: Path) -> None:
    seen: list[str] = []
    found = run_work(STUDY, workers=2, progress=lambda job: seen.append(job.name))
    kept = read_parts(STUDY, reference)
    assert list(found) == list(kept)
    for name, column in kept.items():
        np.testing.assert_array_equal(found[name], column)
    assert sorted(seen) == sorted(job.name for job in STUDY.jobs)


def test_an_error_without_a_folder_promises_nothing() -> None:
    with pytest.raises(ConvergenceError) as caught:
        run_work(toy.toy_study(function=toy.fail_once), progress=False)
    assert caught.value.__notes__ == ["This was in job 'n40-r1' of 'toy'."]


def test_a_worker_whose_parent_ended_before_it_began_ends_too() -> None:
    code = "from icsa.jobs import workers; workers._end_with(1 << 30); print('goes on')"
    worker = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (worker.returncode, worker.stdout) == (1, "")


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be put off here")
def test_workers_are_spared_ctrl_c_from_their_beginning() -> None:
    # From before their first line of Python: Ctrl-C prints no traceback of an import that it stops.
    code = (
        "from tests.jobs import toy; from icsa.jobs import run;"
        "work = toy.toy_study(function=toy.say_what_waits);"
        "print(run(work, workers=2, progress=False)['interrupts wait'].all(),"
        "toy.say_what_waits(None)['interrupts wait'][0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "True False\n"


def test_one_job_that_is_left_is_not_done_in_this_process() -> None:
    work, before = toy.toy_study(function=toy.say_where), signal.getsignal(signal.SIGINT)
    (outcome,) = in_processes(work, work.jobs[:1], 2)
    assert outcome.columns["process"][0] != os.getpid()
    assert signal.getsignal(signal.SIGINT) == before


def test_what_jobs_are_given_is_not_put_into_shared_files() -> None:
    jobs = tuple(Job(f"x{k}", {"cells": np.zeros(300_000)}) for k in range(2))
    work = Work("mapped", toy.ToyConfig(), jobs, toy.say_whether_mapped)
    assert not run_work(work, workers=2, progress=False)["mapped"].any()


@needs_dask
def test_a_lost_scheduler_is_named_and_nothing_else_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from distributed import LocalCluster

    from icsa.jobs.dask_cluster import connected, on_dask

    def lost(_: object) -> None:
        raise CancelledError

    work, logger = toy.toy_study(function=toy.say_where), logging.getLogger("distributed.client")
    before = logger.level
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        monkeypatch.setattr("icsa.jobs.dask_cluster._check_workers", lambda *_: None)
        with connected(address, 1) as client:
            assert not logger.isEnabledFor(logging.ERROR)
            monkeypatch.setattr("distributed.as_completed", lost)
            with pytest.raises(InputError, match=f"at {address} was lost"):
                list(on_dask(work, work.jobs[:1], client, 1))
    assert logger.level == before
