"""How the server starts and ends: one line, one machine, nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from icsa import cli
from icsa.app.places import open_project_folder, remove_left_behind, start_folder
from icsa.app.project import Project
from icsa.errors import InputError

from .talking import CLINIC, started


def processes_of(folder: Path) -> list[str]:
    """Return the processes whose temporary files would be in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (place / "environ").read_bytes():
                found.append(place.name)
        except OSError:
            continue
    return found


def test_one_line_with_the_address_and_nothing_else(tmp_path: Path) -> None:
    with started(tmp_path, COLUMNS="20") as found:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[A-Za-z0-9_-]{43}", found.address)
        assert found.client().get("/file").status == 200
        found.process.send_signal(signal.SIGTERM)
        rest, _ = found.process.communicate(timeout=60)
        assert rest == ""


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP", "close"])
def test_it_ends_and_leaves_nothing_behind(tmp_path: Path, how: str) -> None:
    with started(tmp_path) as found:
        client = found.client()
        client.upload("/file/upload", "clinic.csv", CLINIC.read_bytes())
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(folder.rglob("clinic.csv"))
        if how == "close":
            body = f"csrf={client.csrf}".encode()
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            assert "Closed" in client.ask("POST", "/close", body, kind).text
            _, said = found.process.communicate(timeout=60)
            code = found.process.returncode
        else:
            code, said = found.end(getattr(signal, how))
    assert code == 0
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())
    if Path("/proc").exists():
        assert not processes_of(tmp_path)


def test_it_ends_in_the_middle_of_work(tmp_path: Path) -> None:
    with started(tmp_path) as found:
        client = found.client()
        client.post("/file/path", {"path": str(CLINIC)})
        body = f"csrf={client.csrf}&do=make".encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.ask("POST", "/release/start", body, kind).headers["location"] == "/working"
        assert '"state":"running"' in client.get("/working/progress").text
        code, _ = found.end(signal.SIGINT)
    assert code == 0
    assert not list(tmp_path.iterdir())
    if Path("/proc").exists():
        assert not processes_of(tmp_path)


def test_what_a_killed_server_left_goes_with_the_next_start(tmp_path: Path) -> None:
    with started(tmp_path) as found:
        found.client().upload("/file/upload", "clinic.csv", CLINIC.read_bytes())
        found.end(signal.SIGKILL)
    (left,) = tmp_path.iterdir()
    deadline = time.monotonic() + 30
    while processes_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)  # the desk goes with the server
    assert not processes_of(tmp_path)
    with started(tmp_path) as found:
        found.client()
        assert not left.exists()


def test_folders_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = start_folder()
    other = tmp_path / "icsa-app-notes"
    other.mkdir()
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").touch()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f"icsa-app-{gone.pid}-link").symlink_to(target)
    (tmp_path / f"icsa-app-{gone.pid}-real").mkdir()
    remove_left_behind()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {mine.name, other.name, "precious", f"icsa-app-{gone.pid}-link"}
    assert (target / "file").exists()


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert cli.run(["app", "--no-browser", "--port", str(port)]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err == (
        f"icsa: error: Port {port} is taken, or may not be used by you. Give another --port, or "
        "none.\n"
    )


def test_the_port_is_the_one_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with started(tmp_path, "--port", str(port)) as found:
        assert found.port == port


def test_folders_that_are_no_projects_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.doc").touch()
    (tmp_path / "file").touch()
    for name, sentence in (
        ("other", "holds other files"),
        ("file", "is a file"),
        ("no/where", "There is no folder"),
    ):
        assert cli.run(["app", "--no-browser", "--folder", str(tmp_path / name)]) == 2
        assert sentence in capsys.readouterr().err
    (tmp_path / "hostile").mkdir()
    project = {"version": 1, "name": "a.csv", "path": None, "sha256": "", "reading": {}}
    release = {"number": 1, "choices": {}, "schema": "", "file": "../../../../etc/passwd"}
    more = {"choices": {}, "advice": {}, "releases": [release], "handed_out": None}
    names = {"prepared_by": "", "decided_by": ""}
    (tmp_path / "hostile" / "project.json").write_text(json.dumps({**project, **more, **names}))
    (tmp_path / "hostile" / "schema.toml").touch()
    assert cli.run(["app", "--no-browser", "--folder", str(tmp_path / "hostile")]) == 2
    assert "cannot be read as a project" in capsys.readouterr().err
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "project.json").write_text("{", encoding="utf-8")
    assert cli.run(["app", "--no-browser", "--folder", str(tmp_path / "broken")]) == 2
    assert "cannot be read as a project" in capsys.readouterr().err
    made = open_project_folder(tmp_path / "new")
    assert made.stat().st_mode & 0o777 == 0o700


def empty_project(folder: Path) -> Path:
    folder.mkdir()
    kept = {"version": 1, "name": "", "path": None, "sha256": "", "reading": {}, "choices": {}}
    more = {"advice": {}, "releases": [], "handed_out": None, "prepared_by": "", "decided_by": ""}
    (folder / "project.json").write_text(json.dumps({**kept, **more}))
    (folder / "schema.toml").touch()
    return folder


@pytest.mark.parametrize("name", ["releases", "comparison", "racing", "schema.toml", "releases/1"])
def test_a_project_does_not_lead_out_of_its_folder(tmp_path: Path, name: str) -> None:
    """A link in a folder that came from elsewhere: nothing is written or removed behind it."""
    project, precious = empty_project(tmp_path / "project"), tmp_path / "precious"
    (precious / "1").mkdir(parents=True)
    link = project / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(precious)
    with pytest.raises(InputError, match="is a link, and a project has none"):
        open_project_folder(project)
    assert (precious / "1").is_dir()


def test_what_a_killed_server_was_at_goes_with_the_next_start(tmp_path: Path) -> None:
    folder = empty_project(tmp_path / "project")
    for name in ("releases/1", "racing"):
        (folder / name).mkdir(parents=True)
        (folder / name / "clinic.csv").write_bytes(CLINIC.read_bytes())
    Project.restored(tmp_path, open_project_folder(folder))
    assert {path.name for path in folder.rglob("*")} == {"project.json", "schema.toml", "releases"}


def test_what_is_missing_is_told_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("icsa.app")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert cli.run(["app", "--no-browser"]) == 2
    assert "pip install 'icsa[app]'" in capsys.readouterr().err


def test_the_server_loads_nothing_heavy() -> None:
    """The first page is there within a second: tables are read at the desk."""
    code = "import sys, icsa.app.serving; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"numpy", "polars", "scipy", "numba", "sklearn", "pandas", "matplotlib", "tomlkit"}
    assert not heavy & set(found)


def test_other_commands_load_no_server() -> None:
    code = "import sys\nfrom icsa import cli\ncli.run(['--version'])\nprint(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"starlette", "uvicorn", "jinja2"} & set(found)


def test_a_project_is_kept_and_the_file_and_the_key_are_not(tmp_path: Path) -> None:
    kept, scratch = tmp_path / "kept", tmp_path / "scratch"
    scratch.mkdir()
    with started(scratch, "--folder", str(kept)) as found:
        client = found.client()
        client.upload("/file/upload", "clinic.csv", CLINIC.read_bytes())
        client.post("/columns/change", {"c4-upper": "111"})
        page = client.post(
            "/release/start", {"do": "make", "assessed": "quickly", "recipe": "topcode"}
        )
        assert 'class="verdict' in page.text
        client.post("/hand-out/mark", {"number": "1"})
        client.post("/hand-out/names", {"prepared_by": "A. Preparer", "decided_by": "B. Officer"})
        found.end()
    assert not list(scratch.iterdir())
    names = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
    assert names == {
        "project.json",
        "schema.toml",
        *(
            f"releases/1/{name}"
            for name in ("assessment.json", "clinic.release.csv", "clinic.toml")
        ),
        *(f"releases/1/{name}.html" for name in ("public", "confidential")),
    }
    for path in kept.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert (kept / "schema.toml").read_text().count("upper = 111") == 1
    original = CLINIC.read_text(encoding="utf-8").splitlines()[1:]
    written = (kept / "project.json").read_text() + (kept / "schema.toml").read_text()
    assert not any(line.split(",")[0] in written for line in original)
    with started(scratch, "--folder", str(kept)) as found:
        client = found.client()
        assert "This project is about <strong>clinic.csv</strong>" in client.get("/file").text
        assert "A. Preparer" in client.get("/hand-out").text
        assert 'class="verdict' in client.get("/look/1").text
        again = client.upload("/file/upload", "clinic.csv", CLINIC.read_bytes())
        assert "Go on to the columns" in again.text
        assert 'name="c4-upper" value="111"' in client.get("/columns").text
        other = client.upload("/file/upload", "other.csv", b"a,b\n" + b"1,2\n3,4\n5,7\n" * 20)
        assert "There are releases of another table" in other.text
        assert not list(scratch.rglob("other.csv"))
        assert 'name="c4-upper" value="111"' in client.get("/columns").text


def test_a_projects_file_that_was_typed_is_opened_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (tmp_path / "scratch").mkdir()
    for time_of in ("first", "second"):
        with started(tmp_path / "scratch", "--folder", str(kept)) as found:
            client = found.client()
            if time_of == "first":
                client.post("/file/path", {"path": str(CLINIC)})
            client.wait(time.monotonic() + 60)
            assert client.get("/columns").status == 200
            found.end()


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_a_folder_that_may_not_be_written_to_is_told(tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(InputError, match="may not be written to"):
        open_project_folder(tmp_path / "closed")
