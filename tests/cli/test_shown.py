"""What is shown: nobody has to read it, no name can change a terminal, interruptions are told."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import polars as pl
import pytest

from icsa import cli
from icsa.cli import commands
from icsa.cli.console import plain
from icsa.tables import Table, read_table, write_table
from icsa.tables.table import Variable

from .test_anonymize import HEAD, N_ROWS, files, refused, rows
from .test_cli import ESCAPE, raising

needs_pipes = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes of Unix")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text("\n".join([HEAD, *rows()]) + "\n", encoding="utf-8")
    return path


# Nobody reads.


def unread(*arguments: str, errors_too: bool = False) -> tuple[int, str]:
    """Return the exit code and the errors of a command whose output nobody reads."""
    process = subprocess.Popen(
        [sys.executable, "-m", "icsa", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if errors_too else subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    told = b"" if process.stderr is None else process.stderr.read()
    if process.stderr is not None:
        process.stderr.close()
    return process.wait(60), told.decode()


@needs_pipes
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["scatters"],
        ["policy"],
        ["inspect", "{file}"],
        ["inspect", "{file}", "--json"],
        ["assess", "{file}", "{file}"],
        ["anonymize", "{file}", "--method", "sa", "--json"],
    ],
    ids=" ".join,
)
def test_a_closed_pipe_is_141_and_quiet(arguments: list[str], clinic: Path) -> None:
    given = [argument.replace("{file}", str(clinic)) for argument in arguments]
    assert unread(*given) == (141, "")


@needs_pipes
@pytest.mark.parametrize("errors_too", [False, True], ids=["output", "errors too"])
def test_all_files_are_written_though_nobody_reads(clinic: Path, errors_too: bool) -> None:
    names = ("r.csv", "r.key", "r.html")
    release, key, report = (clinic.with_name(name) for name in names)
    options = ["--method", "sa", "--output", release, "--save-key", key, "--report", report]
    arguments = ["anonymize", str(clinic), *map(str, options)]
    code, said = unread(*arguments, errors_too=errors_too)
    assert code == 141
    # A slow machine is told what takes its time.
    notices = ("icsa: compiling", "icsa: assessing takes")
    assert all(line.startswith(notices) for line in said.splitlines())
    assert files(clinic.parent) == sorted(["clinic.csv", *names])
    assert read_table(release).frame.height == N_ROWS
    assert report.read_text(encoding="utf-8").rstrip().endswith("</html>")


@needs_pipes
def test_an_error_that_nobody_reads_has_its_exit_code(tmp_path: Path) -> None:
    assert unread("inspect", str(tmp_path / "none.csv"), errors_too=True) == (2, "")


# Interrupted.


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["anonymize", "{file}"], "icsa.tables.read_table"),
        (["anonymize", "{file}"], "icsa.release.release"),
        (["anonymize", "{file}", "--report", "{file}.html"], "icsa.release.release"),
        (["inspect", "{file}", "--schema-out", "{file}.toml"], "icsa.inspection.inspect_table"),
        (["assess", "{file}", "{file}", "--json", "{file}.json"], "icsa.assessment.assess"),
        (["scatters"], "icsa.cli.console.console"),
    ],
)
def test_interrupted_before_anything_was_written(
    arguments: list[str],
    where: str,
    clinic: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(where, interrupted)
    assert cli.run([argument.replace("{file}", str(clinic)) for argument in arguments]) == 130
    assert capsys.readouterr().err == "icsa: interrupted. Nothing was written.\n"
    assert files(clinic.parent) == ["clinic.csv"]


@pytest.mark.parametrize("force", [False, True], ids=["new", "replaced"])
def test_interrupted_while_assessing_the_release_is_named(
    force: bool, clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    release, report = clinic.with_name("clinic.release.csv"), clinic.with_name("r.html")
    for path in (release, report) if force else ():
        path.write_text("old", encoding="utf-8")
    monkeypatch.setattr("icsa.assessment.assess", interrupted)
    options = ["--method", "sa", "--report", str(report), *(["--force"] if force else [])]
    assert cli.run(["anonymize", str(clinic), *options]) == 130
    told = f"icsa: interrupted. Written: {release}. Not written: {report}.\n"
    # Before it there may be how long the assessment takes.
    assert capsys.readouterr().err.endswith(told)
    assert read_table(release).frame.height == N_ROWS


def test_interrupted_studies_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("icsa.jobs.run", interrupted)
    assert cli.run(["study", "theorem", "--quick", "--out", str(tmp_path)]) == 130
    told = "icsa: interrupted. What is finished is kept: the same command goes on where it stopped."
    assert capsys.readouterr().err == f"{told}\n"


# Names.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größe", "größe"),
        ("", "''"),
        ("two\nlines", r"two\nlines"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\u202eb", r"a\u202eb"),
        ("wide\u3000blank", "wide\u3000blank"),
        ("no letter \udcff", r"no letter \udcff"),
    ],
)
def test_names_are_shown_without_what_changes_a_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_no_escape_code_of_a_name_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    red, path = f"{ESCAPE}[31mred", tmp_path / "odd.csv"
    text = "\n".join([HEAD, *rows()]).replace("weight", red).replace("ward", f"{red}[bold]")
    path.write_text(text, encoding="utf-8")
    release = str(path.with_name("release.csv"))
    options = ["--method", "sa", "--keep", red, "--output", release]
    for command, *rest in (["inspect"], ["anonymize", *options], ["assess", release]):
        assert cli.run([command, str(path), *rest]) == 0
        shown = capsys.readouterr()
        assert ESCAPE not in shown.out + shown.err
        if command != "assess":  # which speaks of a column where its key made it worth that
            assert r"\x1b[31mred[bold]" in shown.out
    assert cli.run(["inspect", str(path.with_name(f"{red}.csv"))]) == 2
    assert r"\x1b[31mred.csv" in refused(capsys)


def test_commands_to_copy_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "our people.csv"
    path.write_text("\n".join([HEAD, *rows()]), encoding="utf-8")
    assert cli.run(["anonymize", str(path), "--method", "sa"]) == 0
    release = path.with_name("our people.release.csv")
    assert f"next: icsa assess '{path}' '{release}'\n" in capsys.readouterr().out
    schema = tmp_path / "my $chema.toml"
    assert cli.run(["inspect", str(path), "--schema-out", str(schema)]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"\nicsa anonymize '{path}' --schema '{schema}'\n")


# Labels.


def labelled(path: Path) -> Path:
    frame = read_table_of(rows()).drop("remark").with_columns(code=pl.lit(1))
    half = pl.int_range(pl.len()) % 2
    variables = {
        "weight": Variable(label="Weight in kg"),
        "code": Variable(label="A code", value_labels={0: "no", 1: "yes"}),
        "patient": Variable(value_labels={"P-7000": "the first"}),
    }
    write_table(Table(frame.with_columns(code=half), variables), path)
    return path


def read_table_of(lines: list[str]) -> pl.DataFrame:
    return pl.read_csv("\n".join([HEAD, *lines]).encode())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("out.sav", ["values → gone", "", "column", "", "", "column and values"]),
        ("out.dta", ["values → gone", "", "column", "", "", "column and values"]),
        ("out.xpt", ["values → gone", "", "column", "", "", "column and values → column"]),
        ("out.csv", ["values → gone", "", "column → gone", "", "", "column and values → gone"]),
    ],
)
def test_labels_before_and_after(
    name: str, expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labelled(tmp_path / "in.sav")
    out = tmp_path / name
    assert cli.run(["anonymize", str(path), "--method", "sa", "--output", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (top,) = [n for n, line in enumerate(lines) if line.startswith("column ")]
    start, stop = lines[top].index("labels"), lines[top].index("missing")
    shown = [line[start:stop].strip() for line in lines[top + 1 : top + 7]]
    assert [re.sub(r"\s+\d+$", "", cell) for cell in shown] == expected
    written = read_table(out)
    assert bool(written.variable("weight").label) == ("gone" not in expected[2])
    assert bool(written.variable("code").value_labels) == (expected[5] == "column and values")


def test_without_labels_there_is_no_column_for_them(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["anonymize", str(clinic), "--method", "sa"]) == 0
    (heading,) = [line for line in capsys.readouterr().out.splitlines() if line[:7] == "column "]
    assert " ".join(heading.split()) == "column kind type decimals missing what was done"


# Where to report a bug.


class Metadata:
    def __init__(self, *links: str) -> None:
        self.links = list(links)

    def get_all(self, name: str) -> list[str] | None:
        assert name == "Project-URL"
        return self.links or None


@pytest.mark.parametrize(
    ("links", "where"),
    [
        ([], "to whoever gave you icsa"),
        (["Homepage, https://a.example"], "at https://a.example"),
        (
            ["Homepage, https://a.example", "Bug Tracker, https://a.example/bugs"],
            "at https://a.example/bugs",
        ),
        (["Docs, https://d.example", "Issues, https://i.example"], "at https://i.example"),
    ],
)
def test_a_bug_is_reported_where_the_package_says(
    links: list[str],
    where: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("importlib.metadata.metadata", lambda _name: Metadata(*links))
    monkeypatch.setattr(commands, "invoke", raising(TypeError("41, HIV+")))
    assert cli.run(["anything"]) == 1
    shown = capsys.readouterr().err
    assert f"Report it {where}, with what the same command prints with --debug" in shown
    assert "HIV" not in shown


def test_a_package_without_metadata_has_a_message_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.metadata", unknown)
    monkeypatch.setattr(commands, "invoke", raising(TypeError()))
    assert cli.run(["anything"]) == 1


# Errors name the file; help has examples.


def test_errors_about_a_table_name_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.parquet"
    frame = read_table_of(rows())
    infinite = pl.when(pl.col("age") > 80).then(float("inf")).otherwise("weight").alias("weight")
    for table, message in (
        (frame.head(29), "The table has 29 rows"),
        (frame.with_columns(infinite), "Column 'weight': "),
        (frame.select("remark"), "No column is left to mask"),
    ):
        table.write_parquet(path)
        assert cli.run(["anonymize", str(path), "--method", "sa"]) == 2
        told = refused(capsys)
        assert told.startswith(f"icsa: error: {path}: {message}")
        # Other errors count the header as row 1.
        counted = told.endswith(" Rows are counted from the first below the header.\n")
        assert counted == (" in row " in told)
        assert counted == ("weight" in message)
        options = ["--redraws", "2", "--quiet"]
        assert cli.run(["assess", str(path), str(path), *options]) == 2
        assert refused(capsys).startswith(f"icsa: error: {path}: {message}")


def test_errors_about_options_and_outputs_do_not(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in (["--method", "magic"], ["--mask", "permut"], ["--recipe", "mixt"]):
        assert cli.run(["anonymize", str(clinic), *options]) == 2
        assert refused(capsys).startswith("icsa: error: No ")


@pytest.mark.parametrize("command", ["anonymize", "study theorem"])
def test_a_negative_seed_is_refused_by_the_name_of_its_option(
    command: str, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = [str(clinic)] if command == "anonymize" else []
    assert cli.run([*command.split(), *file, "--seed", "-1"]) == 2
    told = refused(capsys)
    assert "--seed" in told
    assert "random_state" not in told


COMMANDS = ("anonymize", "assess", "inspect", "policy", "scatters", "study")
STUDIES = ("study simulation", "study wdbc", "study theorem")


@pytest.mark.parametrize("command", [*COMMANDS, *STUDIES])
def test_every_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*command.split(), "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(rf"Example: icsa {command}\b", shown)
