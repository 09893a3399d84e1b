"""``icsa verify``: the files of a report, others, and what is no report."""

from __future__ import annotations

from pathlib import Path

import pytest

from icsa import cli
from icsa.assessment import assess
from icsa.report import write_assessment_report
from tests.assessment.tables import normal_table

EDITIONS = {
    "in.html": "--report",
    "out.html": "--public-report",
    "in.json": "--json",
    "out.json": "--public-json",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    normal_table().write_csv(place / "people.csv")
    normal_table(seed=1).write_csv(place / "release.csv")
    (place / "rows.txt").write_text("1\n2\n", encoding="utf-8")
    policy = 'version = 1\n[person_chance]\nvalue = 0.04\nreason = "mine"\nowner = "DPO"\n'
    (place / "policy.toml").write_text(policy, encoding="utf-8")
    files = [part for name, option in EDITIONS.items() for part in (option, str(place / name))]
    given = ["--policy", str(place / "policy.toml"), "--outliers", str(place / "rows.txt")]
    tables = [str(place / "people.csv"), str(place / "release.csv")]
    who = ["--prepared-by", "A. Maker", "--decided-by", "Bé <Chief>"]
    assert cli.run(["assess", *tables, *files, *given, *who, "--quiet"]) == 0
    return place


def verify(folder: Path, *names: str) -> int:
    return cli.run(["verify", *(str(folder / name) for name in names)])


@pytest.mark.parametrize("report", EDITIONS)
def test_the_release_is_known_in_every_edition_and_form(
    folder: Path, capsys: pytest.CaptureFixture[str], report: str
) -> None:
    assert verify(folder, report, "release.csv") == 0
    shown = capsys.readouterr().out
    assert "release.csv: the same, release" in shown
    assert ("not looked at: original, policy" in shown) == report.startswith("in")


@pytest.mark.parametrize("report", EDITIONS)
def test_the_original_is_known_in_the_internal_edition_only(
    folder: Path, capsys: pytest.CaptureFixture[str], report: str
) -> None:
    files = ("people.csv", "release.csv", "policy.toml", "rows.txt")
    assert verify(folder, report, *files) == (0 if report.startswith("in") else 4)
    shown = capsys.readouterr().out
    assert ("people.csv: the same, original" in shown) == report.startswith("in")
    assert ("rows.txt: the same, people to look at" in shown) == report.startswith("in")
    text = (folder / report).read_text(encoding="utf-8")
    assert str(folder) not in text
    assert ("people.csv" in text) == report.startswith("in")


def test_a_changed_file_is_not_the_same(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "release.csv"
    changed.write_bytes((folder / "release.csv").read_bytes() + b"\n")
    assert cli.run(["verify", str(folder / "in.html"), str(changed)]) == 4
    assert "NOT THE SAME; the release had this name, with other bytes" in capsys.readouterr().out
    other = tmp_path / "other.csv"
    other.write_bytes((folder / "release.csv").read_bytes())
    assert cli.run(["verify", str(folder / "in.html"), str(other), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_a_report_of_frames_knows_no_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "frames.html"
    document = assess(normal_table(), normal_table(seed=1)).document()
    write_assessment_report(document, page)
    assert "not from a file" in page.read_text(encoding="utf-8")
    assert cli.run(["verify", str(page), str(folder / "release.csv")]) == 4
    assert "made from data frames" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content", [b"<html></html>", b"{}", b'{"handed_in": 1}', b"\xff\xfe", b""]
)
def test_what_is_no_report_is_exit_code_2(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(content)
    assert cli.run(["verify", str(path), str(folder / "release.csv")]) == 2
    assert "cannot be read as a report" in capsys.readouterr().err
    assert cli.run(["verify", str(folder / "in.html"), str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_who_made_and_who_decides_stand_on_the_first_screen(folder: Path) -> None:
    for name in ("in.html", "out.html"):
        first = (folder / name).read_text(encoding="utf-8").partition('id="people"')[0]
        assert "<strong>A. Maker</strong>" in first
        assert "<strong>Bé &lt;Chief&gt;</strong>" in first


def test_names_are_for_a_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--output", str(folder / "x.csv"), "--decided-by", "somebody"]
    assert cli.run(["anonymize", str(folder / "people.csv"), *target]) == 2
    assert "--decided-by is for a report" in capsys.readouterr().err
