"""The tutorial's commands print what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
import textwrap
from pathlib import Path

import polars as pl
import pytest
import tomlkit

from icsa import cli

ROOT = Path(__file__).parents[1]


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.rst").read_text(encoding="utf-8")


def blocks(language: str, name: str = "tutorial") -> list[str]:
    found = re.findall(
        rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", page(name), flags=re.MULTILINE
    )
    return [textwrap.dedent(block) for block in found]


def sessions(name: str = "tutorial") -> list[tuple[str, list[str]]]:
    """Return each command with the lines that the page shows below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "\n".join(blocks("console", name)).splitlines():
        if line.startswith("$ icsa "):
            found.append((line.removeprefix("$ icsa "), []))
        elif line.strip() and line != "...":
            found[-1][1].append(" ".join(line.split()))
    return found


def merge_schema(path: Path) -> None:
    """Put what the page changes into the schema that ``icsa inspect`` wrote."""
    schema = tomlkit.parse(path.read_text(encoding="utf-8"))
    (shown,) = blocks("toml")
    changed = tomlkit.parse(shown)
    for name, column in changed.pop("columns").items():
        schema["columns"][name] = column
    schema.update(changed)
    path.write_text(tomlkit.dumps(schema), encoding="utf-8")


def largest(name: str) -> list[float]:
    frame = pl.read_csv(name)
    return [frame[column].max() for column in ("creatinine", "crp", "cost_eur", "systolic")]


def run(command: str, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command, and look for the lines that a page shows."""
    code = cli.run(shlex.split(command))
    shown = capsys.readouterr()
    lines = [" ".join(line.split()) for line in (shown.out + shown.err).splitlines()]
    for line in expected:
        assert any(line in found for found in lines), line
    assert code == (2 if expected and expected[0].startswith("icsa: error") else 0)


@pytest.mark.parametrize(
    ("name", "file", "made"),
    [
        ("tutorial_visits", "visits.csv", {"visits.release.csv"}),
        ("tutorial_survey", "survey.csv", {"survey.release.csv", "strata.csv"}),
    ],
)
def test_people_with_several_rows_and_weighted_people(
    name: str,
    file: str,
    made: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(ROOT / "examples" / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "180")
    for command, expected in sessions(name):
        run(command, expected, capsys)
    assert {path.name for path in tmp_path.glob("*.csv")} == {file, *made}


def test_the_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "examples" / "clinic.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert len(sessions()) == 7
    for command, expected in sessions():
        run(command, expected, capsys)
        if command.startswith("inspect"):
            merge_schema(tmp_path / "clinic.toml")
    made = {path.name for path in tmp_path.glob("*.csv")}
    assert made == {
        "clinic.csv",
        "clinic.release.csv",
        "final.csv",
        "sa.csv",
        "second.csv",
        "topcode.csv",
    }
    # The original's numbers in the page's tables, and that extremes are gone.
    assert largest("clinic.csv") == [11.84, 412.6, 48250.0, 236]
    for name in made - {"clinic.csv", "final.csv"}:  # the final one has no seed
        assert all(a < b for a, b in zip(largest(name), largest("clinic.csv"), strict=True))
    second = pl.read_csv("second.csv")
    assert second["age"].is_between(18, 110).all()
    assert second["mobility_score"].is_between(0, 20).all()
