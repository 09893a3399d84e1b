"""Reports on tables that are released from their files: those of ``icsa assess``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa import cli
from icsa.assessment.blocks import Wanted
from icsa.errors import InputError
from icsa.release import prepare
from icsa.release.blocks.ground import Resources
from tests.release.blocks.unit_tables import visits_of_many

SMALL = ("--memory", "1.5MB", "--seed", "1")
# What only whoever made a release knows: how, and that a seed made it.
OF_MAKER = ("making", "reasons", "verdict")


@pytest.fixture(autouse=True)
def _long_tables_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tables of a few thousand rows go the way of long ones, and be dated alike."""
    for where in ("cli.large_inputs", "cli.assess_large", "release.blocks.large_runs"):
        monkeypatch.setattr(f"icsa.{where}.LONG", 10_000)
    monkeypatch.setattr("icsa.tables.text_reading.SMALL", 10_000)
    monkeypatch.setattr("icsa.assessment.fresh_releases._MOST_CELLS", 0)
    monkeypatch.setitem(Wanted.__init__.__kwdefaults__, "sampled_rows", 1_000)
    monkeypatch.setattr("icsa.privacy.self_test._MOST_ROWS", 1_000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


def people(n_rows: int = 21_000) -> pl.DataFrame:
    draws = np.random.default_rng(0).normal(size=(n_rows, 4)) @ (np.eye(4) + 0.3)
    return pl.DataFrame(draws.round(3), schema=["kg", "dose", "score", "crp"])


def parquet(folder: Path) -> Path:
    path = folder / "big.parquet"
    people().write_parquet(path)
    return path


def parts(folder: Path) -> Path:
    path = folder / "parts"
    path.mkdir()
    people()[:5_000].write_parquet(path / "a.parquet")
    people()[5_000:].write_parquet(path / "b.parquet")
    return path


def text(folder: Path) -> Path:
    path = folder / "big.csv"
    people().write_csv(path, separator=";")
    return path


def run(file: Path, *options: str, memory: tuple[str, ...] = SMALL) -> int:
    return cli.run(["anonymize", str(file), *memory, *options])


def document(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def of_assess(file: Path, released: Path, out: Path, *options: str) -> Any:
    command = ["assess", str(file), str(released), "--json", str(out), "-q", *options]
    assert cli.run([*command, "--scratch", str(out.parent)]) == 0
    return document(out)


def without(found: Any, *parts: str) -> Any:
    return {name: part for name, part in found.items() if name not in parts}


@pytest.mark.parametrize(
    ("make", "released"),
    [(parquet, "big.release.parquet"), (parts, "parts.release"), (text, "big.release.csv")],
)
def test_the_document_is_that_of_an_assessment_of_both_files(
    tmp_path: Path,
    make: Callable[[Path], Path],
    released: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, out, page = make(tmp_path), tmp_path / "a.json", tmp_path / "r.html"
    public = tmp_path / "p.html"
    asked = ("--rehearse", "2", "--prepared-by", "A", "--decided-by", "B")
    outputs = ("--assessment", str(out), "--report", str(page), "--public-report", str(public))
    assert run(file, *asked, *outputs) == 0
    told = capsys.readouterr()
    assert "assessing 21,000 and 21,000 rows from their files" in told.err
    assert "verdict: " in told.out
    assert f"written: {tmp_path / released}" in told.out
    assert f"written: {page}" in told.out
    found = document(out)
    wanted = of_assess(
        file,
        tmp_path / released,
        tmp_path / "other.json",
        *(*asked, "--recipe", "mixed", "--method", "icsa", *SMALL[:2]),
    )
    note = wanted["tables"]["notes"].pop()
    assert "they speak of this release only if it was made so" in note
    assert without(found, *OF_MAKER) == without(wanted, *OF_MAKER)
    assert found["control"]["kind"] == "rehearsal"
    assert found["making"]["method"] == "icsa"
    assert found["making"]["reproducible"]
    texts = [reason["text"] for reason in wanted["reasons"]]
    assert texts == [r["text"] for r in found["reasons"] if r["rule"] != "reproducible"]
    assert not list(tmp_path.glob(".icsa-*"))


def visits(folder: Path) -> Path:
    path = folder / "visits.parquet"
    frame = visits_of_many(3_300).select("patient", "day", "followed", "age", "arm", "crp", "flare")
    frame.write_parquet(path)
    return path


DESIGN = {"unit": "patient", "time": "day", "bound": "followed"}
ROOM = ("--memory", "3MB", "--seed", "1")


def schema_of(file: Path) -> Path:
    """Return the file of a schema that says of visits what `DESIGN` says."""
    path = file.with_name("schema.toml")
    assert cli.run(["inspect", str(file), "--schema-out", str(path)]) == 0
    said = path.read_text(encoding="utf-8")
    assert all(f'{key} = "{name}"' in said for key, name in DESIGN.items())
    return path


def test_people_with_several_rows_have_the_document_of_an_assessment(tmp_path: Path) -> None:
    file, out = visits(tmp_path), tmp_path / "a.json"
    asked = ("--schema", str(schema_of(file)), *ROOM[:2], "--rehearse", "2", "--redraws", "1")
    assert run(file, *asked, "--assessment", str(out), "-q", memory=ROOM[2:]) == 0
    released, found = tmp_path / "visits.release.parquet", document(out)
    made = ("--recipe", "mixed", "--method", "icsa")
    wanted = of_assess(file, released, tmp_path / "other.json", *asked, *made)
    note = wanted["tables"]["notes"].pop()
    assert "on a sample of this original: they speak of this release only if" in note
    assert without(found, *OF_MAKER) == without(wanted, *OF_MAKER)
    assert found["units"] is not None
    assert found["control"]["kind"] == "rehearsal"
    sample = re.match(r"of a sample of (\d+) people with (\d+) rows, ", found["control"]["words"])
    assert sample is not None
    assert 0 < int(sample[1]) < int(sample[2]) <= 1_000
    told = f"{sample[1]} people with {sample[2]} rows drawn at random were released under 1 fresh"
    assert any(note.startswith(told) for note in found["tables"]["notes"])
    assert not list(tmp_path.glob(".icsa-*"))


def test_columns_that_are_kept_and_dropped_are_so_when_the_sample_is_rehearsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []

    def heard(*arguments: Any, **options: Any) -> Any:
        said.append({name: options.get(name) for name in ("keep", "drop", "recipe")})
        return prepare(*arguments, **options)

    monkeypatch.setattr("icsa.release.prepare", heard)
    file, out = parquet(tmp_path), tmp_path / "a.json"
    fates = ("--keep", "kg", "--drop", "dose", "--recipe", "topcode", "--mask", "permute")
    assert run(file, *fates, "--rehearse", "2", "--assessment", str(out), "-q") == 0
    assert said[0] == {"keep": ["kg"], "drop": ["dose"], "recipe": "topcode"}
    found = document(out)
    assert found["control"]["kind"] == "rehearsal"
    assert (found["making"]["recipe"], found["making"]["mask"]) == ("topcode", "permute")


def test_a_report_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, old = parquet(tmp_path), tmp_path / "r.html"
    old.write_text("old", encoding="utf-8")
    for page, told in (
        (old, "is there already"),
        (tmp_path / "gone" / "r.html", "is no folder"),
        (file, "is an input"),
        (tmp_path / "big.release.parquet", "are the same file"),
    ):
        assert run(file, "--report", str(page)) == 2
        assert told in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"big.parquet", "r.html"}


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_where_the_assessment_fails_the_release_stays_and_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = parquet(tmp_path), tmp_path / "r.html"
    released = tmp_path / "big.release.parquet"
    monkeypatch.setattr(
        "icsa.assessment.blocks.assess_stored", failing(InputError("Something is odd."))
    )
    said = ("--report", str(page), "--unit", "none")
    assert run(file, *said, "-q") == 2
    asked = f"icsa assess {file} {released} --unit none --report {page}"
    assert capsys.readouterr().err == (
        f"icsa: error: {file}: Something is odd. The release is written, and stays: {released}. "
        f"Ask for its report by {asked}\n"
    )
    assert pl.read_parquet(released).height == 21_000
    assert run(file, *said, "--resume") == 2
    told = capsys.readouterr().err
    assert "is there already, as a whole: there is nothing to go on with" in told
    assert asked in told
    monkeypatch.setattr("icsa.assessment.blocks.assess_stored", failing(KeyboardInterrupt()))
    assert run(file, *said, "--force", "-q") == 130
    told = f"icsa: interrupted. Written: {released}. Not written: {page}.\n"
    assert capsys.readouterr().err == told


def test_where_a_sample_cannot_be_released_alike_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = parquet(tmp_path), tmp_path / "a.json"
    monkeypatch.setattr("icsa.release.prepare", failing(InputError("There are few. Add some.")))
    assert run(file, "--assessment", str(out), "-q") == 0
    assert document(out)["tables"]["notes"][-1] == (
        "Neither rehearsed nor tried under fresh keys: of a sample, There are few."
    )
    assert run(file, "--assessment", str(out), "--rehearse", "2", "--force", "-q") == 2
    assert "There are few. Add some. The release is written" in capsys.readouterr().err


def test_an_explanation_says_that_an_assessment_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = parquet(tmp_path)
    page = tmp_path / "r.html"
    assert run(file, "--explain", "--report", str(page)) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "both tables are assessed from their files, with up to 0.003 GB of scratch" in told
    assert run(file, "--explain") == 0
    assert "assessed" not in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["big.parquet"]


def test_a_release_of_another_separator_is_read_by_its_own(tmp_path: Path) -> None:
    file, out = text(tmp_path), tmp_path / "a.json"
    said = ("--separator", ";", "--output", str(tmp_path / "out.tsv"), "--rehearse", "0", "-q")
    assert run(file, *said, "--assessment", str(out)) == 0
    assert document(out)["tables"]["released"] == {"rows": 21_000, "columns": 4}
    assert "\t" in (tmp_path / "out.tsv").read_text(encoding="utf-8").splitlines()[0]


def test_an_assessment_has_the_means_of_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[Resources] = []

    def heard(
        _original: object, _released: object, resources: Resources, *_: Any, **__: Any
    ) -> Any:
        given.append(resources)
        raise InputError("That is enough.")

    monkeypatch.setattr("icsa.assessment.blocks.assess_stored", heard)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    room = ("--memory", "3MB", "--seed", "1")
    for more in ((), ("--workers", "2", "--scratch", str(scratch))):
        asked = ("--report", str(tmp_path / "r.html"), "--force", "-q")
        assert run(parquet(tmp_path), *asked, *more, memory=SMALL if not more else room) == 2
    assert "That is enough." in capsys.readouterr().err
    assert [(one.memory, one.workers, one.scratch) for one in given] == [
        (1_500_000, 1, tmp_path),
        (3_000_000, 2, scratch),
    ]
