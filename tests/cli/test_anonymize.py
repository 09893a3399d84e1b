"""``icsa anonymize``: what is written and where, what is refused, what is said, what never is."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from icsa import cli
from icsa.errors import InputError
from icsa.release import anonymize
from icsa.tables import read_table

from .test_cli import ESCAPE, in_terminal

HEAD = "patient,age,weight,height,ward,remark"
N_ROWS = 60
# Of cells: in no name of a column, and in nothing that the command may say.
SECRETS = ("P-7031", "fell from", "Kilkenny", "91.73")


def rows() -> list[str]:
    draw = random.Random(5)
    made = [
        f"P-{7000 + row},{draw.randint(20, 90)},{draw.uniform(50, 90):.2f},"
        f"{draw.uniform(150, 195):.1f},{draw.choice(('north', 'south'))},fell from {row} stairs"
        for row in range(N_ROWS)
    ]
    made[31] = "P-7031,41,91.73,170.5,Kilkenny,fell from a horse"
    return made


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text("\n".join([HEAD, *rows()]) + "\n", encoding="utf-8")
    return path


def run(file: Path, *options: str, method: str = "sa") -> int:
    return cli.run(["anonymize", str(file), "--method", method, *options])


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error, which is one line without a cell; nothing else may have been printed."""
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.startswith("icsa: error: ")
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err
    assert not any(secret in shown.err for secret in SECRETS)
    return shown.err


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# What is written.


def test_the_release_is_beside_the_input_in_its_format(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = clinic.read_bytes()
    assert run(clinic, method="icsa") == 0
    release = clinic.with_name("clinic.release.csv")
    assert files(clinic.parent) == ["clinic.csv", "clinic.release.csv"]
    assert clinic.read_bytes() == before
    lines = release.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "patient,age,weight,height,ward"
    assert len(lines) == N_ROWS + 1
    released, original = read_table(release).frame, read_table(clinic).frame
    counts = [frame["ward"].value_counts().sort("ward").rows() for frame in (released, original)]
    assert counts[0] == counts[1]
    assert not set(released["patient"]) & set(original["patient"])
    assert not set(released.select("age", "weight", "height").rows()) & set(
        original.select("age", "weight", "height").rows()
    )
    shown = capsys.readouterr()
    assert not shown.err
    assert "clinic.csv: CSV, separator ',', decimal '.', UTF-8, 60 rows, 6 columns" in shown.out
    assert "ICSA with mcd50 and mcd75, mask redraw, recipe mixed" in shown.out
    assert f"written: {release}" in shown.out
    assert f"next: icsa assess {clinic} {release}" in shown.out
    assert not any(secret in shown.out for secret in SECRETS)


def test_what_was_done_to_every_column_is_a_line(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(clinic) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert "fresh identifiers, unrelated to the old ones" in lines["patient"]
    assert "masked, whole numbers" in lines["age"]
    assert lines["weight"].split()[:5] == ["weight", "continuous", "number", "2", "0"]
    assert "masked, counts kept" in lines["ward"]
    assert "text → gone" in lines["remark"]
    assert "left out" in lines["remark"]


@pytest.mark.parametrize("name", ["out.parquet", "out.sav", "out.xlsx", "out.csv.gz"])
def test_the_suffix_of_the_output_says_the_format(
    name: str, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = clinic.with_name(name)
    assert run(clinic, "--output", str(target)) == 0
    assert files(clinic.parent) == sorted(["clinic.csv", name])
    found = read_table(target).frame
    assert found.columns == HEAD.split(",")[:-1]
    assert found.height == N_ROWS


def test_options_of_reading_reach_the_reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.csv"
    text = "\n".join([HEAD, *rows()]).replace(",", "|").replace(".", ",")
    path.write_bytes(text.replace("age", "größe").encode("latin-1"))
    options = ["--separator", "|", "--decimal", ",", "--encoding", "latin-1", "--json"]
    assert run(path, *options) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [column["name"] for column in columns][1] == "größe"
    assert [column["kind"] for column in columns][2] == "continuous"
    header = (tmp_path / "odd.release.csv").read_bytes().split(b"\n")[0]
    assert header == "patient|größe|weight|height|ward".encode("latin-1")


# What is not written.


def test_an_output_that_is_there_is_not_touched_unless_forced(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = clinic.with_name("clinic.release.csv")
    release.write_text("mine", encoding="utf-8")
    assert run(clinic) == 2
    assert f"{release} is there already. Give another name, or --force" in refused(capsys)
    assert release.read_text(encoding="utf-8") == "mine"
    assert files(clinic.parent) == ["clinic.csv", "clinic.release.csv"]
    assert run(clinic, "--force") == 0
    assert read_table(release).frame.height == N_ROWS


@pytest.mark.parametrize("option", ["--output", "--save-key"])
def test_the_input_is_never_overwritten(
    option: str, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = clinic.read_bytes()
    (clinic.parent / "link.csv").symlink_to(clinic)
    for path in (clinic, clinic.parent / "." / "clinic.csv", clinic.parent / "link.csv"):
        assert run(clinic, option, str(path), "--force") == 2
        assert "is an input, which is never touched" in refused(capsys)
    assert clinic.read_bytes() == before
    assert files(clinic.parent) == ["clinic.csv", "link.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "{folder}/none/out.csv"], "is no folder. Make it first"),
        (["--save-key", "{folder}/none/key"], "is no folder. Make it first"),
        (["--output", "{folder}/out.docx"], "the format is not known from the name"),
        (["--output", "{folder}/out.sas7bdat"], "can be read, not written"),
        (["--method", "magic"], "No method 'magic': there are 'auto', 'icsa', 'sa' and 'forest'."),
        (["--recipe", "mixt"], "Did you mean 'mixed'? Known: mixed, paper, topcode."),
        (["--mask", "permut"], "Did you mean 'permute'?"),
        (["--scatters", "mcd50", "--method", "icsa"], "Scatters are a pair"),
        (["--scatters", "mcd50,mdc75", "--method", "icsa"], "Did you mean 'mcd75'?"),
        (["--scatters", "mcd50,mcd50"], "--scatters names 'mcd50' twice. Give two"),
        (["--sheet", "2"], "--sheet is for .xlsx files, and {folder}/clinic.csv is none"),
        (["--redraws", "5"], "--redraws is for a report. Give --report or --public-report too"),
        (["--decimal", ","], "2 columns are numbers with '.', and none with ','"),
        (["--keep", "wart"], "No column 'wart'. Did you mean 'ward'?"),
        (["--seed", "soon"], "Invalid value for '--seed'"),
        (["--decimal", "x"], "The decimal mark must be '.' or ','"),
        (["--separator", "ab"], "The separator must be one character"),
        (["--encoding", "utf-99"], "No encoding 'utf-99'"),
        (["--outptu", "x.csv"], "No such option: --outptu"),
        (["--schema", "{folder}/none.toml"], "none.toml"),
    ],
)
def test_bad_options_are_one_sentence_and_nothing_is_written(
    options: list[str], message: str, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [option.replace("{folder}", str(clinic.parent)) for option in options]
    assert run(clinic, *given) == 2
    assert message.replace("{folder}", str(clinic.parent)) in refused(capsys)
    assert files(clinic.parent) == ["clinic.csv"]


SCHEMA = """version = 1
keep = []
rules = []

[columns.patient]
kind = "identifier"

[columns.age]
kind = "integer"
upper = 120

[columns.weight]
kind = "continuous"

[columns.height]
kind = "continuous"

[columns.ward]
kind = "category"

[columns.remark]
kind = "text"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[columns.age]", "[columns.agee]", "No column 'agee'. Did you mean 'age'?"),
        ('"category"', '"categorie"', "No kind 'categorie'. Did you mean 'category'?"),
        ("upper = 120", "uper = 120", "No key 'uper'. Did you mean 'upper'?"),
        ("upper = 120", "upper = 50", "[columns.age] Column 'age': "),
        ("upper = 120", 'upper = "old"', "upper must be a number"),
        ("rules = []", 'rules = ["age <= wieght"]', "the nearest is 'weight'"),
        ("rules = []", 'rules = ["age >= 85"]', "the table itself breaks it in"),
        ("keep = []", 'keep = ["wards"]', "No column 'wards'. Did you mean 'ward'?"),
        ('[columns.remark]\nkind = "text"', "", "have no entry: 'remark'"),
        ("version = 1", "version = ", "line 1: this is no TOML"),
        ("rules = []", "rules = []\n[recipe]\nscael = 1", "Did you mean 'scale'?"),
    ],
)
def test_schemas_are_taken_at_their_word(
    old: str, new: str, message: str, clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = clinic.with_name("clinic.toml")
    schema.write_text(SCHEMA.replace(old, new), encoding="utf-8")
    assert run(clinic, "--schema", str(schema)) == 2
    assert message in refused(capsys)
    assert files(clinic.parent) == ["clinic.csv", "clinic.toml"]


def test_a_schema_with_a_rule_a_bound_and_a_kept_column(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = clinic.with_name("clinic.toml")
    text = SCHEMA.replace("rules = []", 'rules = ["age >= 20", "weight <= height"]')
    text = text.replace("keep = []", 'keep = ["ward"]').replace("upper = 120", "upper = 90")
    schema.write_text(text, encoding="utf-8")
    assert run(clinic, "--schema", str(schema)) == 0
    shown = capsys.readouterr().out
    assert "rule kept: age >= 20 (" in shown
    assert "cells moved)" in shown
    released = read_table(clinic.with_name("clinic.release.csv")).frame
    assert released.select(pl.col("age").is_between(20, 90).all()).item()
    assert (released["weight"] <= released["height"]).all()


BAD_FILES = {
    "empty.csv": b"",
    "blank.csv": b" \n\n",
    "header.csv": HEAD.encode() + b"\n",
    "ragged.csv": f"{HEAD}\nP-7031,41\n".encode(),
    "twice.csv": b"age,age\n1,2\n",
    "open.csv": f'{HEAD}\n"P-7031,41\n'.encode(),
    "zeros.csv": b"a,b\n\0\0\0,1\n",
    "zip.csv": b"PK\x03\x04 fell from",
    "few.csv": "\n".join([HEAD, *rows()[20:45]]).encode(),
    "noise.csv": random.Random(3).randbytes(4000),
    "noise.csv.gz": random.Random(3).randbytes(4000),
    "noise.parquet": random.Random(3).randbytes(4000),
    "noise.feather": random.Random(3).randbytes(4000),
    "noise.xlsx": random.Random(3).randbytes(4000),
    "noise.sav": random.Random(3).randbytes(4000),
    "noise.dta": random.Random(3).randbytes(4000),
    "noise.sas7bdat": random.Random(3).randbytes(4000),
    "noise.xpt": random.Random(3).randbytes(4000),
    "letter.docx": b"PK\x03\x04",
    "no_suffix": HEAD.encode(),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_cannot_be_used(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(BAD_FILES[name])
    assert run(tmp_path / name) == 2
    refused(capsys)
    assert files(tmp_path) == [name]


def test_no_file_and_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "none.csv") == 2
    assert "none.csv" in refused(capsys)
    (tmp_path / "folder.csv").mkdir()
    assert run(tmp_path / "folder.csv") == 2
    assert "is a folder" in refused(capsys)


def test_a_failure_in_the_middle_leaves_nothing(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(table: object, path: Path, layout: object) -> None:
        path.write_text("half")
        raise InputError("The disk is full.")

    monkeypatch.setattr("icsa.tables.text_files.write_text", fail)
    key = clinic.with_name("key")
    assert run(clinic, "--save-key", str(key)) == 2
    assert "The disk is full." in refused(capsys)
    assert files(clinic.parent) == ["clinic.csv"]


# What is said.


def test_json_says_everything_but_cells(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(clinic, "--json", "--seed", "3", "--keep", "ward") == 0
    shown = capsys.readouterr()
    assert not shown.err
    found = json.loads(shown.out)
    assert found["schema_version"] == 1
    assert (found["rows"], found["method"], found["mask"]) == (N_ROWS, "sa", "redraw")
    assert found["output"] == str(clinic.with_name("clinic.release.csv"))
    assert found["recipe"]["name"] == "mixed"
    assert found["reproducible"] is True
    actions = {column["name"]: column["action"] for column in found["columns"]}
    assert actions == {
        "patient": "replaced",
        "age": "masked",
        "weight": "masked",
        "height": "masked",
        "ward": "kept",
        "remark": "dropped",
    }
    assert "key" not in found
    once = read_table(clinic).frame["weight"].cast(pl.String).to_list()
    assert not any(cell in shown.out for cell in (*SECRETS, *once, "north", "south"))


def test_quiet_prints_nothing_but_errors(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(clinic, "--quiet") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")
    assert run(clinic, "--quiet") == 2
    assert "is there already" in refused(capsys)


def test_a_seed_reproduces_and_marks_the_release(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = clinic.with_name("clinic.release.csv")
    texts = []
    for options in (["--seed", "3"], ["--seed", "3"], ["--seed", "4"], [], []):
        assert run(clinic, "--force", *options) == 0
        texts.append(release.read_bytes())
        marked = "reproducible: not for release" in capsys.readouterr().out
        assert marked == bool(options)
    assert texts[0] == texts[1]
    assert len(set(texts)) == 4


def test_a_saved_key_is_its_owners_and_gives_the_release_again(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clinic.with_name("clinic.key")
    assert run(clinic, "--save-key", str(path)) == 0
    shown = capsys.readouterr().out
    assert f"key: {path}. Keep it secret: with it every draw can be repeated." in shown
    assert "not for release" not in shown
    text = path.read_text(encoding="ascii")
    assert text.strip() not in shown
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = anonymize(read_table(clinic), method="sa", random_state=bytes.fromhex(text))
    released = read_table(clinic.with_name("clinic.release.csv")).frame
    assert again.table.frame.equals(released)
    assert run(clinic, "--save-key", str(path), "--output", str(clinic.with_name("b.csv"))) == 2
    assert "clinic.key is there already" in refused(capsys)
    assert path.read_text(encoding="ascii") == text


def test_no_key_is_written_unless_asked_for(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(clinic) == 0
    assert "\nkey: " not in capsys.readouterr().out
    assert files(clinic.parent) == ["clinic.csv", "clinic.release.csv"]


def test_what_is_kept_is_said_loudly(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(clinic, "--keep", "ward", "--keep", "weight") == 0
    shown = capsys.readouterr().out
    assert shown.count("RELEASED AS IT IS, because it was asked for") == 2
    assert "Released as they are, because it was asked for: weight, ward" in shown
    assert ESCAPE not in shown  # not a terminal
    released = read_table(clinic.with_name("clinic.release.csv")).frame
    original = read_table(clinic).frame
    assert released.columns == original.columns[:-1]
    assert released["weight"].sort().equals(original["weight"].sort())
    assert not released["weight"].equals(original["weight"])


def test_what_is_kept_is_red_on_a_terminal_unless_no_color_is_set(clinic: Path) -> None:
    arguments = ("anonymize", str(clinic), "--method", "sa", "--force", "--keep", "ward")
    terminal = in_terminal(*arguments, COLUMNS="160")
    (line,) = [line for line in terminal.splitlines() if "RELEASED AS IT IS" in line]
    assert f"{ESCAPE}[1;31m" in line
    assert ESCAPE not in in_terminal(*arguments, NO_COLOR="1", COLUMNS="100")


def test_help_has_an_example_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from icsa.cli import run; assert run(['anonymize', '--help']) == 0;"
        "heavy = {'numpy', 'polars', 'rich', 'tomlkit'} & set(sys.modules); assert not heavy, heavy"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    ).stdout
    assert "icsa anonymize patients.csv --output release.csv" in shown


# A crash while writing.

KILLED_WHILE_WRITING = """
import os, sys, time
from pathlib import Path
import icsa.tables.text_files as text_files
from icsa.cli import run
write_text = text_files.write_text

def slowly(table, path, layout):
    write_text(table, path, layout)
    whole = path.read_bytes()
    if sys.argv[2] == "half":
        path.write_bytes(whole[: len(whole) // 2])
        print("writing", flush=True)
        time.sleep(600)

text_files.write_text = slowly
code = run(["anonymize", sys.argv[1], "--method", "sa", "--quiet", "--force"])
print("written", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    ("moment", "word", "old"),
    [
        ("half", b"writing\n", None),
        ("half", b"writing\n", "an older release"),
        ("after", b"written\n", "an older release"),
    ],
)
def test_killed_there_is_the_old_file_or_the_whole_new_one(
    clinic: Path, moment: str, word: bytes, old: str | None
) -> None:
    release = clinic.with_name("clinic.release.csv")
    if old is not None:
        release.write_text(old, encoding="utf-8")
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(clinic), moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == word
        writer.send_signal(signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL
    if moment == "after":
        assert read_table(release).frame.shape == (N_ROWS, 5)
        assert files(clinic.parent) == ["clinic.csv", "clinic.release.csv"]
    elif old is not None:
        assert release.read_text(encoding="utf-8") == old
    else:
        assert not release.exists()
