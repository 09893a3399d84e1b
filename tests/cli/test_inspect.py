"""``icsa inspect``: a table, blocks on narrow terminals, JSON, schemas out and in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from icsa import cli

from .test_cli import ESCAPE, icsa_command, in_terminal

ROWS = [
    f"P-{row:03};{20 + row * 7 % 60};{'ABC'[row % 3]};{row * 1.37 % 9:.2f};came by bus {row}"
    for row in range(40)
]
HEAD = "patient;age;ward;crp;remark"
SECRETS = ("P-001", "came by bus", "1.37")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text("\n".join([HEAD, *ROWS]) + "\n", encoding="utf-8")
    return path


def test_the_table_when_piped(clinic: Path) -> None:
    finished = icsa_command("inspect", str(clinic))
    assert (finished.returncode, finished.stderr) == (0, "")
    assert ESCAPE not in finished.stdout
    lines = finished.stdout.splitlines()
    assert "CSV, separator ';', decimal '.', UTF-8, 40 rows, 5 columns" in finished.stdout
    kinds = {line.split()[0]: line.split()[1] for line in lines if len(line.split()) > 2}
    assert {name: kinds[name] for name in HEAD.split(";")} == {
        "patient": "identifier",
        "age": "integer",
        "ward": "category",
        "crp": "continuous",
        "remark": "text",
    }
    assert not any(secret in finished.stdout for secret in SECRETS)


def test_a_wide_terminal_has_styles_and_a_narrow_one_blocks(clinic: Path) -> None:
    wide = in_terminal("inspect", str(clinic), COLUMNS="140")
    assert ESCAPE in wide
    assert "what will happen" in wide
    narrow = in_terminal("inspect", str(clinic), COLUMNS="50", NO_COLOR="1")
    assert ESCAPE not in narrow
    assert "what will happen" not in narrow
    lines = [line.rstrip() for line in narrow.splitlines()]
    block = ["remark: text", "  nearly every row has a text of its own", "  left out"]
    assert lines[lines.index("remark: text") :][:3] == block
    assert max(map(len, lines)) <= 50


def test_json(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["inspect", str(clinic), "--json"]) == 0
    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert found["rows"] == 40
    assert found["layout"].startswith("CSV, separator ';'")
    assert [column["name"] for column in found["columns"]] == HEAD.split(";")
    assert not any(secret in shown for secret in SECRETS)


def test_a_schema_goes_out_and_comes_in(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "clinic.toml"
    assert cli.run(["inspect", str(clinic), "--schema-out", str(schema)]) == 0
    assert f"The schema is in {schema}." in capsys.readouterr().out
    text = schema.read_text(encoding="utf-8")
    assert not any(secret in text for secret in SECRETS)
    changed = text.replace(
        'kind = "category"\naction = "mask"', 'kind = "category"\naction = "keep"'
    )
    schema.write_text(changed, encoding="utf-8")
    assert cli.run(["inspect", str(clinic), "--schema", str(schema)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("RELEASED AS IT IS") == 2
    assert "the schema says so" in shown


def test_a_schema_is_not_overwritten_unless_forced(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "clinic.toml"
    schema.write_text("mine", encoding="utf-8")
    assert cli.run(["inspect", str(clinic), "--schema-out", str(schema)]) == 2
    assert "is there already. Give another name, or --force" in capsys.readouterr().err
    assert schema.read_text(encoding="utf-8") == "mine"
    assert cli.run(["inspect", str(clinic), "--schema-out", str(schema), "--force"]) == 0
    assert "version = 1" in schema.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["nothing.csv", "nothing.xyz"])
def test_a_file_that_is_not_there(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["inspect", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith("icsa: error:")


def test_the_input_is_never_overwritten_by_a_schema(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = clinic.read_bytes()
    assert cli.run(["inspect", str(clinic), "--schema-out", str(clinic), "--force"]) == 2
    assert "is an input, which is never touched" in capsys.readouterr().err
    assert clinic.read_bytes() == before


def test_reading_options_reach_the_reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes("größe|x\n1,5|a\n2,5|b\n4,5|b\n".encode("latin-1"))
    options = ["--separator", "|", "--decimal", ",", "--encoding", "latin-1", "--json"]
    assert cli.run(["inspect", str(path), *options]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [(column["name"], column["type"]) for column in columns] == [
        ("größe", "number"),
        ("x", "text"),
    ]


def test_names_cannot_move_the_cursor_or_style(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.parquet"
    whole = pl.Series(range(100)) ** 2
    frame = pl.DataFrame({"[red]a[/red]": whole, f"{ESCAPE}[31mb\n": whole.reverse()})
    frame.with_columns(total=pl.sum_horizontal(pl.all())).write_parquet(path)
    schema = tmp_path / "odd.toml"
    assert cli.run(["inspect", str(path), "--schema-out", str(schema)]) == 0
    shown = capsys.readouterr().out
    assert "[red]a[/red]" in shown
    assert "total = [red]a[/red] + \\x1b[31mb\\n" in shown
    assert ESCAPE not in shown
    assert ESCAPE not in schema.read_text(encoding="utf-8")
    assert cli.run(["inspect", str(path), "--schema", str(schema)]) == 0


def test_inspecting_loads_nothing_heavy(clinic: Path) -> None:
    code = (
        f"import sys; from icsa.cli import run; assert run(['inspect', {str(clinic)!r}]) == 0;"
        "heavy = {'numba', 'scipy.stats', 'sklearn', 'joblib', 'pandas', 'matplotlib',"
        "'pyreadstat', 'openpyxl', 'tomlkit'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)


def test_help_has_an_example_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from icsa.cli import run; assert run(['inspect', '--help']) == 0;"
        "heavy = {'numpy', 'polars', 'rich', 'tomlkit'} & set(sys.modules); assert not heavy, heavy"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    ).stdout
    assert "icsa inspect patients.csv --schema-out patients.toml" in shown
