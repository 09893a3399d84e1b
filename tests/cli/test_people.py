"""Several rows a person on the command line: told, stopped, released."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.people_tables import clusters, visits

from .test_cli import icsa_command

SAID = ("--unit", "id", "--time", "day", "--bound", "followed")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    visits().write_csv(path)
    return path


def test_a_table_that_nobody_spoke_of_is_not_released(file: Path) -> None:
    finished = icsa_command("anonymize", str(file))
    assert finished.returncode == 2
    line = " ".join(finished.stderr.split())
    assert "Several rows are about one person: 'id' stands for 90 people" in line
    assert "Add --unit id --time day --bound followed" in line
    assert "or --unit none" in line
    assert not file.with_name("visits.release.csv").exists()


def test_inspect_says_it_and_its_schema_releases_it(file: Path) -> None:
    schema = file.with_name("visits.toml")
    finished = icsa_command("inspect", str(file), "--schema-out", str(schema))
    assert finished.returncode == 0
    assert "unit: id (" in finished.stdout
    assert "time: day (it grows within every unit)" in finished.stdout
    found = json.loads(icsa_command("inspect", str(file), "--json").stdout)
    assert found["units"]["bound"] == "followed"
    assert found["units"]["number"] == 90
    made = icsa_command("anonymize", str(file), "--schema", str(schema), "--seed", "1", "--json")
    account = json.loads(made.stdout)
    assert account["units"]["n_units"] == 90
    released = pl.read_csv(file.with_name("visits.release.csv"))
    assert released.height == account["rows"] == account["units"]["rows_after"]


def test_what_is_released_is_said(file: Path) -> None:
    finished = icsa_command("anonymize", str(file), *SAID, "--seed", "1")
    assert finished.returncode == 0, finished.stderr
    words = " ".join(finished.stdout.split())
    assert "90 units of 'id' as before, by two levels" in words
    assert "holds in the release: day never exceeds followed" in words
    assert "visits.release.csv --unit id --time day --bound followed" in words


def test_rows_can_be_people_if_somebody_says_so(file: Path) -> None:
    finished = icsa_command("anonymize", str(file), "--unit", "none", "--seed", "1", "--quiet")
    assert finished.returncode == 0
    assert pl.read_csv(file.with_name("visits.release.csv")).height == visits().height


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unit", "idd"), "No column 'idd'. Did you mean 'id'?"),
        (("--unit", "id", "--bound", "followed"), "bound goes with time"),
        (("--unit", "none", "--time", "day"), "time goes with unit"),
        ((*SAID, "--role", "sex"), "time and role"),
        ((*SAID, "--strata", "pain"), "is a stratum, but varies within"),
    ],
)
def test_what_does_not_go_together(file: Path, options: tuple[str, ...], message: str) -> None:
    chosen = [str(file.with_name(o)) if o.endswith(".html") else o for o in options]
    finished = icsa_command("anonymize", str(file), *chosen)
    assert finished.returncode == 2
    assert message in " ".join(finished.stderr.split())
    assert not file.with_name("visits.release.csv").exists()


def test_a_schema_of_schools_releases_them(tmp_path: Path) -> None:
    source, schema = tmp_path / "pupils.csv", tmp_path / "pupils.toml"
    clusters().write_csv(source)
    icsa_command("inspect", str(source), "--schema-out", str(schema))
    text = schema.read_text(encoding="utf-8")
    assert 'unit = "school"' in text
    assert 'derive = "school"' not in text  # what a school has follows from it anyway
    made = icsa_command("anonymize", str(source), "--schema", str(schema), "--seed", "1")
    assert made.returncode == 0, made.stderr
    assert "mean_ses is the mean of ses in each unit" in made.stdout


def test_people_are_assessed_and_reported(file: Path) -> None:
    released, page = file.with_name("visits.release.csv"), file.with_name("visits.html")
    told = ("--report", str(page), "--redraws", "1", "--rehearse", "0")
    made = icsa_command("anonymize", str(file), *SAID, *told)
    assert made.returncode == 0, made.stderr
    assert "People with several rows" in page.read_text(encoding="utf-8")
    json_file = file.with_name("visits.json")
    asked = ("--model", "crp ~ day + (1 | id)", "--json", str(json_file))
    found = icsa_command("assess", str(file), str(released), *SAID, *asked)
    assert found.returncode == 0, found.stderr
    words = " ".join(found.stdout.split())
    assert "By id: 90 units with" in words
    assert "analysis: crp ~ day + (1 | id):" in words
    assert json.loads(json_file.read_text(encoding="utf-8"))["units"]["unit"] == "id"
    silent = icsa_command("assess", str(file), str(released))
    assert silent.returncode == 2
    assert "Compared row by row, people would come apart" in " ".join(silent.stderr.split())
