"""Which files an assessment is of: fingerprints of tables that were read, none of others."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from icsa.assessment import assess
from icsa.assessment.provenance import handed_in
from icsa.errors import InputError
from icsa.release import anonymize
from icsa.tables import Table, read_table

from .tables import normal_table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "people.csv"
    normal_table().write_csv(target)
    return target


def test_a_table_knows_the_file_that_it_was_read_from(path: Path) -> None:
    (file,) = handed_in({"original": read_table(path)}).files
    assert (file.role, file.name) == ("original", "people.csv")
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_other_cells_are_of_no_file(path: Path) -> None:
    table = read_table(path)
    for other in (
        replace(table, frame=table.frame.head(3)),
        table.with_frame(table.frame),
        Table(table.frame),
        anonymize(table, random_state=1).table,
    ):
        assert other.origin is None
        assert handed_in({"release": other}).files[0].sha256 is None


def test_a_file_that_has_changed_has_no_fingerprint(path: Path) -> None:
    table = read_table(path)
    with path.open("a", encoding="utf-8") as file:
        file.write("1,2,3,4,5\n")
    (found,) = handed_in({"original": table}).files
    assert (found.name, found.sha256) == ("people.csv", None)
    path.unlink()
    assert handed_in({"original": table}).files[0].sha256 is None


def test_frames_can_be_given_their_files(path: Path) -> None:
    found = assess(
        normal_table(),
        normal_table(seed=1),
        files={"release": path, "schema": None},
        prepared_by=" A. Maker ",
        decided_by="B. Chief",
    )
    document = found.as_dict()["handed_in"]
    assert [(file["role"], file["name"]) for file in document["files"]] == [
        ("original", ""),
        ("release", "people.csv"),
    ]
    assert (document["prepared_by"], document["decided_by"]) == ("A. Maker", "B. Chief")
    assert document["date"].endswith("UTC")
    public = found.as_dict("public")["handed_in"]
    assert [file["role"] for file in public["files"]] == ["release"]
    assert public["decided_by"] == "B. Chief"


def test_roles_that_are_not_known_and_files_that_are_not_there_are_errors(path: Path) -> None:
    with pytest.raises(InputError, match="releas"):
        handed_in({}, {"releas": path})
    with pytest.raises(FileNotFoundError):
        handed_in({}, {"schema": path.with_name("none.toml")})


def test_the_date_can_be_set_for_what_is_to_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert handed_in({}).date == "1970-01-02 00:00 UTC"
    assert pl.Series([handed_in({}).date]).n_unique() == 1
