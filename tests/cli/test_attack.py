"""``icsa attack`` and ``icsa assess --also-released``: what is printed, written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa import cli
from tests.attacks.tables import people, released

NAMES = ["age", "mass", "pulse"]


def frame(x: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(x, schema=NAMES).with_columns(
        ward=pl.Series(["north", "south", "east", "north"] * (len(x) // 4))
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    both = people(240, 3, 1).round(6)
    table, others = frame(both[:120]), frame(both[120:])
    table.write_csv(place / "table.csv")
    others.write_csv(place / "others.csv")
    table.sample(fraction=1.0, shuffle=True, seed=1).write_csv(place / "copy.csv")
    frame(people(120, 3, 9)).write_csv(place / "fresh.csv")
    for seed in (1, 2):
        frame(released(both[:120], "permute", seed)[0]).write_csv(place / f"release{seed}.csv")
    return place


def run(folder: Path, *arguments: str) -> int:
    files = (".csv", ".json", ".toml")
    return cli.run([str(folder / a) if a.endswith(files) else a for a in arguments])


def test_a_copy_and_fresh_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "attack", "table.csv", "copy.csv", "--holdout", "others.csv") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("attacker")
    assert "100.0%" in shown
    assert "do not release: linkability: an attacker who knows half of the columns" in shown
    assert run(folder, "attack", "table.csv", "fresh.csv", "--holdout", "others.csv") == 0
    shown = capsys.readouterr().out
    assert "No more is learnt than about people" in shown
    assert "do not release" not in shown
    assert "two releases: not made, as another release" in shown
    assert "weaker" not in shown
    assert run(folder, "attack", "table.csv", "fresh.csv", "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_what_is_known_and_what_is_secret(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--knows", "age, ward", "--secret", "pulse", "--attacks", "inference")
    assert run(folder, "attack", "table.csv", "copy.csv", *options) == 0
    shown = capsys.readouterr().out
    assert "age, ward  pulse    100.0%" in shown
    assert "* Compared with the same guesses from the original without the person" in shown
    assert "keys: age, ward" in shown
    assert "only one of their kind: 120 of 120 originals, 120 of 120 released rows" in shown
    assert "combination is in the release: 120; among as many fresh people about 0" in shown


def test_keys_of_a_schema_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = {"age": "continuous", "mass": "continuous", "pulse": "continuous", "ward": "category"}
    lines = ["version = 1"]
    for name, kind in kinds.items():
        lines += [f"[columns.{name}]", f'kind = "{kind}"']
    (folder / "keys.toml").write_text("\n".join([*lines, "key = true\n"]))
    options = ("--schema", "keys.toml", "--attacks", "inference")
    assert run(folder, "attack", "table.csv", "fresh.csv", *options) == 0
    assert "keys: ward" in capsys.readouterr().out
    (folder / "wrong.toml").write_text("\n".join([*lines, 'key = "yes"\n']))
    assert run(folder, "attack", "table.csv", "fresh.csv", "--schema", "wrong.toml") == 2
    assert "key is neither true nor false. Write key = true." in capsys.readouterr().err


def test_json_has_everything_and_no_cell(folder: Path) -> None:
    options = ("--holdout", "others.csv", "--json", "found.json", "--people", "50", "--quiet")
    assert run(folder, "attack", "table.csv", "copy.csv", *options) == 0
    found = json.loads((folder / "found.json").read_text())
    assert found["people"] == 50
    linked = next(item for item in found["attackers"] if item["attack"] == "linkability")
    assert (linked["right"]["value"], linked["right"]["n"]) == (1.0, 50)
    assert linked["control_is"] == "people who were not in the table"
    assert {item["word"] for item in found["against"]} == {"do not release"}
    assert run(folder, "attack", "table.csv", "copy.csv", *options) == 2  # it is there already


def test_another_release(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--also-released", "release2.csv")
    attack = ("attack", "table.csv", "release1.csv", "--attacks", "two releases", *options)
    assert run(folder, *attack) == 0
    assert "do not release: 3 of 3 coordinates of the map" in capsys.readouterr().out
    assert run(folder, "assess", "table.csv", "release1.csv", *options, "--gate") == 4
    assert "coordinates of the map" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--attacks", "linkabilty"], "No attack 'linkabilty'. Did you mean 'linkability'?"),
        (["--knows", "agee"], "No column 'agee'. Did you mean 'age'?"),
        (["--knows", "age", "--secret", "age"], "either known or secret: 'age' is both"),
        (["--people", "0"], "--people"),
        (["--holdout", "nobody.csv"], "nobody.csv"),
        (["--sheet", "2"], "--sheet is for"),
        (["--json", "table.csv"], "is an input, which is never touched"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert run(folder, "attack", "table.csv", "fresh.csv", *options) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""
    assert "Traceback" not in shown.err
