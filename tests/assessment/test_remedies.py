"""What is advised is typed as it stands, and changes the word."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import icsa
from icsa import cli
from icsa.assessment.remedies import Circumstances, with_remedies
from icsa.privacy.reasons import Reason
from icsa.schema import Design
from icsa.tables import read_table

TABLES = Path(__file__).parent.parent / "golden" / "tables"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("pima.csv", "pbc.csv"):
        shutil.copy(TABLES / name, name)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(240, 5)) @ (np.eye(5) + 0.3 * rng.normal(size=(5, 5)))
    x[0] = 50.0 * x.std(axis=0)
    pl.DataFrame(x.round(3), schema=list("abcde")).write_csv("lone.csv")
    return tmp_path


def copied_people(file: str, rows: slice) -> str:
    """Return a release that holds some people as they are, among others of a true release."""
    assert cli.run(["anonymize", file, "--output", "made.csv", "--quiet", "--force"]) == 0
    original, made = read_table(file).frame, read_table("made.csv").frame
    people = original[rows].cast(dict(made.schema))
    pl.concat([made[people.height :], people]).write_csv("spoiled.csv")
    return "spoiled.csv"


def by_icsa(*arguments: str) -> str:
    assert cli.run(["anonymize", *arguments, "--output", "spoiled.csv", "--quiet", "--force"]) == 0
    return "spoiled.csv"


def a_copy(file: str) -> str:
    shutil.copy(file, "spoiled.csv")
    return "spoiled.csv"


CASES = {
    "a copy": ("pima.csv", lambda: a_copy("pima.csv")),
    "seventy people": ("pima.csv", lambda: copied_people("pima.csv", slice(100, 170))),
    "one person": ("pbc.csv", lambda: copied_people("pbc.csv", slice(7, 8))),
    "pieces": ("lone.csv", lambda: by_icsa("lone.csv", "--recipe", "paper")),
    "principal components": (
        "lone.csv",
        lambda: by_icsa("lone.csv", "--recipe", "paper", "--method", "sa"),
    ),
    "a kept identifier": ("pbc.csv", lambda: by_icsa("pbc.csv", "--keep", "id")),
}


@pytest.mark.usefixtures("here")
def test_the_first_advice_changes_the_word() -> None:
    words = {}
    for name, (file, spoil) in CASES.items():
        found = icsa.assess(read_table(file), read_table(spoil()))
        assert found.verdict == "do not release", name
        command = shlex.split(found.reasons[0].remedies[0])
        assert cli.run([*command[1:], "--output", "tried.csv", "--quiet", "--force"]) == 0, name
        words[name] = icsa.assess(read_table(file), read_table("tried.csv")).verdict
    assert sum(word == "release" for word in words.values()) >= 5, words


def test_every_reason_has_advice() -> None:
    from icsa.assessment.privacy_words import RULES

    for rule in RULES:
        (advised,) = with_remedies([Reason("look again", rule, "")], Circumstances())
        assert advised.remedies, rule


@pytest.mark.usefixtures("here")
def test_commands_can_be_typed_as_they_stand() -> None:
    near = Reason("look again", "person", "", columns=("body mass",))
    made = {"method": "icsa", "recipe": "topcode", "mask": "redraw"}
    known = Circumstances(file=Path("pima.csv"), schema=Path("my schema.toml"), making=made)
    command = "icsa anonymize pima.csv --schema 'my schema.toml' --recipe topcode"
    assert with_remedies([near], known)[0].remedies[0] == f"{command} --drop 'body mass'"
    Path("pima.release.csv").touch()
    assert with_remedies([near], known)[0].remedies[0].endswith(" --force")


@pytest.mark.parametrize(
    ("made", "advice"),
    [
        ({"method": "sa", "recipe": "mixed", "mask": "redraw"}, "icsa.anonymize(table)"),
        ({"method": "icsa", "recipe": "paper", "mask": "permute"}, "icsa.anonymize(table)"),
        (
            {"method": "icsa", "recipe": "mixed", "mask": "redraw"},
            "icsa.anonymize(table, recipe='topcode')",
        ),
    ],
)
def test_advice_is_not_what_was_done(made: dict[str, str], advice: str) -> None:
    reason = Reason("look again", "person", "")
    assert with_remedies([reason], Circumstances(making=made))[0].remedies[0] == advice


@pytest.mark.parametrize(
    ("why", "rule", "advice"),
    [
        ("", "person", "icsa.anonymize(table, method='icsa', recipe='topcode')"),
        ("", "reproducible", "icsa.anonymize(table, method='icsa')"),
        ("no column has strong curves", "person", "icsa.anonymize(table, recipe='topcode')"),
        ("no column has strong curves", "reproducible", "icsa.anonymize(table)"),
    ],
)
def test_a_method_that_was_asked_for_is_asked_for_again(why: str, rule: str, advice: str) -> None:
    made = {"method": "icsa", "recipe": "mixed", "mask": "redraw", "why": why}
    reason = Reason("look again", rule, "", columns=("kg",) if rule == "person" else ())
    found = with_remedies([reason], Circumstances(making=made))[0].remedies
    assert found[0] == advice
    if rule == "person":
        assert found[1] == f"{advice[:-1]}, drop=['kg'])"


def test_no_column_is_to_be_dropped_that_a_release_needs() -> None:
    reason = Reason("look again", "person", "", columns=("w",))
    (advised,) = with_remedies([reason], Circumstances(design=Design(weight="w")))
    assert not any("drop" in text for text in advised.remedies)
