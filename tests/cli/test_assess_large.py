"""``icsa assess`` of tables that are assessed from their files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa import cli
from icsa.assessment.blocks import Wanted
from icsa.comparison.features import PART
from icsa.jobs import Work
from icsa.jobs.dask_cluster import on_dask
from icsa.jobs.workers import Outcome
from tests.cli.gates import waiting_after
from tests.release.blocks.unit_tables import visits_of_many

SMALL = "25MB"  # both tables take more in memory, and columns of two workers take less


def people(seed: int) -> pl.DataFrame:
    """Return five measurements that go together."""
    draws = np.random.default_rng(seed).normal(size=(201_000, 5)) @ (np.eye(5) + 0.3)
    return pl.DataFrame(draws, schema=["kg", "dose", "score", "crp", "pulse"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an original, its exact copy in part files, and fresh people."""
    found = tmp_path_factory.mktemp("large")
    original, fresh = (people(seed) for seed in (0, 5))
    original.write_parquet(found / "original.parquet")
    fresh.write_parquet(found / "fresh.parquet")
    (found / "copy").mkdir()
    shuffled = original.sample(fraction=1.0, shuffle=True, seed=1)
    shuffled[:100_000].write_parquet(found / "copy" / "a.parquet")
    shuffled[100_000:].write_parquet(found / "copy" / "b.parquet")
    return found


def run(folder: Path, released: str, *options: str, original: str = "original.parquet") -> int:
    scratch = ["--scratch", str(folder)] if "--memory" in options else []
    files = [str(folder / original), str(folder / released)]
    return cli.run(["assess", *files, *options, *scratch])


def test_fresh_people_are_released_and_a_copy_in_part_files_is_not(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "fresh.parquet", "--memory", SMALL, "--gate") == 0
    told = capsys.readouterr()
    assert "verdict: release" in told.out
    assert "From 200,000 original and 200,000 released rows, drawn at random" in " ".join(
        told.out.split()
    )
    assert "201,000 and 201,000 rows from their files" in told.err
    outputs = {name: tmp_path / name for name in ("a.json", "p.json", "r.html")}
    options = ("--json", "--public-json", "--report")
    named = [
        text for pair in zip(options, map(str, outputs.values()), strict=True) for text in pair
    ]
    assert run(folder, "copy", "--memory", SMALL, "--workers", "2", "--gate", "-q", *named) == 4
    found = json.loads(outputs["a.json"].read_text(encoding="utf-8"))
    assert found["tables"]["released"] == {"rows": 201_000, "columns": 5}
    assert found["privacy"]["verbatim_rows"]["value"] == 201_000
    assert {person["status"] for person in found["people"]} == {"copied"}
    assert all(person["before"] == person["after"] for person in found["people"])
    names = [(file["role"], file["name"]) for file in found["handed_in"]["files"]]
    assert names[0] == ("original", "original.parquet")
    assert names[1:3] == [("release", "a.parquet"), ("release", "b.parquet")]
    assert "do not release" in outputs["r.html"].read_text(encoding="utf-8")
    assert "people" not in json.loads(outputs["p.json"].read_text(encoding="utf-8"))
    assert not list(folder.glob(".icsa-*"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--also-released", "few.csv"), "samples of two releases have none in common"),
        (("--against", "few.xlsx"), "another release is CSV or Parquet"),
        (("--against", "gone.csv"), "There is no file gone.csv"),
        (("--weight", "wt"), "No column 'wt'"),
        (("--memory", "1MB"), "A column of 201,000 rows takes"),
        (("--memory", "much"), "is no size"),
    ],
)
def test_what_needs_memory_is_refused(
    folder: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = () if "--memory" in options else ("--memory", SMALL)
    monkeypatch.chdir(tmp_path)
    for name in ("few.csv", "few.xlsx"):
        Path(name).write_text("kg\n1\n", encoding="utf-8")
    assert run(folder, "fresh.parquet", *memory, *options) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert not list(folder.glob(".icsa-*"))


def test_tables_without_a_column_in_common_are_to_be_looked_at_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.parquet"
    pl.read_parquet(folder / "fresh.parquet").select(stone="kg").write_parquet(other)
    command = ["assess", str(folder / "original.parquet"), str(other), "--memory", SMALL]
    assert cli.run([*command, "--scratch", str(tmp_path), "--gate"]) == 3
    assert "do not look like a table and its release" in " ".join(capsys.readouterr().out.split())


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with text files that are long, as long tables go here."""
    monkeypatch.setattr("icsa.cli.assess_large.LONG", 10_000)
    monkeypatch.setattr("icsa.tables.text_reading.SMALL", 10_000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    original, fresh = (people(seed)[:15_000].with_columns(pl.all().round(2)) for seed in (0, 5))
    original.write_csv(tmp_path / "original.csv")
    fresh.write_csv(tmp_path / "fresh.tsv", separator="\t")
    kinds = (f'[columns.{name}]\nkind = "continuous"\n' for name in original.columns)
    said = "version = 1\n" + "".join(kinds)
    (tmp_path / "schema.toml").write_text(said, encoding="utf-8")
    return tmp_path


def test_text_that_does_not_fit_gives_the_document_that_it_gives_in_memory(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = []
    schema = ("--schema", str(texts / "schema.toml"))
    for options in ((), ("--memory", "1MB")):
        out = texts / "a.json"
        command = (*schema, *options, "--json", str(out), "--force")
        assert run(texts, "fresh.tsv", *command, original="original.csv") == 0
        documents.append(json.loads(out.read_text(encoding="utf-8")))
        told = capsys.readouterr().err
        assert ("15,000 and 15,000 rows from their files" in told) == bool(options)
    for each in documents:
        each["attackers"] = [one for one in each["attackers"] if one["attack"] != "all but one"]
    assert documents[0] == documents[1]
    names = [file["name"] for file in documents[1]["handed_in"]["files"]]
    assert names == ["original.csv", "fresh.tsv", "schema.toml"]
    assert not list(texts.glob(".icsa-*"))


def test_what_is_wrong_in_text_far_below_names_its_file(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (texts / "fresh.tsv").read_text(encoding="utf-8").splitlines()
    lines[4_999] = "1.5\t2.5"
    bad = texts / "bad.tsv"
    bad.write_text("\n".join(lines), encoding="utf-8")
    assert run(texts, "bad.tsv", "--memory", "1MB", original="original.csv") == 2
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith(f"icsa: error: {bad}")
    assert "row 5000 (the header is row 1): 2 cells where the header has 5" in told[-1]
    assert not list(texts.glob(".icsa-*"))


def test_a_recipe_is_rehearsed_and_another_release_compared(
    texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icsa.assessment.fresh_releases._MOST_CELLS", 0)
    people(7)[:15_000].write_parquet(texts / "other.parquet")
    made = ("--recipe", "mixed", "--rehearse", "2", "--against", str(texts / "other.parquet"))
    documents = []
    for options in ((), ("--memory", "1MB")):
        out = texts / "a.json"
        command = (*made, *options, "--json", str(out), "--force", "-q")
        assert run(texts, "fresh.tsv", *command, original="original.csv") == 0
        documents.append(json.loads(out.read_text(encoding="utf-8")))
    for each in documents:
        each["attackers"] = [one for one in each["attackers"] if one["attack"] != "all but one"]
    in_memory, from_files = documents
    note = in_memory["tables"]["notes"].pop()
    assert from_files["tables"]["notes"].pop() == note.replace(
        "on this original", "on a sample of this original"
    )
    assert from_files == in_memory
    assert from_files["control"]["kind"] == "rehearsal"
    assert from_files["utility"]["efficiency"] is not None
    roles = [file["role"] for file in from_files["handed_in"]["files"]]
    assert roles == ["original", "release", "other release"]
    assert not list(texts.glob(".icsa-*"))


def test_people_with_several_rows_are_rehearsed_and_compared_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icsa.cli.assess_large.LONG", 1_000)
    monkeypatch.setattr("icsa.assessment.fresh_releases._MOST_CELLS", 0)
    monkeypatch.setattr("icsa.privacy.everybody._EQUAL_WORK", 0)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    names = ("visits.parquet", "fresh.parquet", "other.parquet")
    for seed, name in enumerate(names):
        columns = ("patient", "day", "followed", "age", "crp", "flare")
        visits_of_many(400, seed).select(columns).write_parquet(tmp_path / name)
    design = ("--unit", "patient", "--time", "day", "--bound", "followed")
    made = ("--recipe", "mixed", "--rehearse", "2", "--against", str(tmp_path / names[2]))
    documents = []
    for options in ((), ("--memory", "400KB")):
        out = tmp_path / "a.json"
        command = (*design, *made, *options, "--json", str(out), "--force", "-q")
        assert run(tmp_path, names[1], *command, original=names[0]) == 0
        documents.append(json.loads(out.read_text(encoding="utf-8")))
    for each in documents:
        each["attackers"] = [one for one in each["attackers"] if one["attack"] != "all but one"]
    in_memory, from_files = documents
    note = in_memory["tables"]["notes"].pop()
    assert from_files["tables"]["notes"].pop() == note.replace(
        "on this original", "on a sample of this original"
    )
    assert from_files == in_memory
    assert from_files["control"]["kind"] == "rehearsal"
    assert from_files["utility"]["efficiency"] is not None
    assert not list(tmp_path.glob(".icsa-*"))


def test_workers_and_a_cluster_of_two_give_the_document_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icsa.cli.assess_large.LONG", 10_000)
    monkeypatch.setattr("icsa.tables.text_reading.SMALL", 10_000)
    monkeypatch.setitem(Wanted.__init__.__kwdefaults__, "sampled_rows", 2_000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    on_cluster: list[str] = []

    def heard(work: Work, *rest: Any) -> Iterator[Outcome]:
        on_cluster.append(work.name)
        return on_dask(work, *rest)

    monkeypatch.setattr("icsa.jobs.dask_cluster.on_dask", heard)
    n_rows = 3 * PART + 2_000  # of which two tasks look through those below the first block
    for name, seed in (("original.csv", 0), ("fresh.csv", 5)):
        people(seed)[:n_rows].select("kg", "dose", "score").write_csv(tmp_path / name)
    documents = []
    for options in (("1",), ("2",), ("2", "--dask", "local")):
        out = tmp_path / "a.json"
        command = ("--memory", "10MB", "--json", str(out), "--force", "-q", "--workers", *options)
        assert run(tmp_path, "fresh.csv", *command, original="original.csv") == 0
        documents.append(json.loads(out.read_text(encoding="utf-8")))
        assert bool(on_cluster) == ("--dask" in options)
    assert {"typing", "reading_columns", "who_stands_out_1"} <= set(on_cluster)
    assert documents[1] == documents[0]
    assert documents[2] == documents[0]
    assert not list(tmp_path.glob(".icsa-*"))


def begun(
    folder: Path, scratch: Path, *options: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    """Return an assessment in a process of its own that has begun its passes."""
    files = [str(folder / name) for name in ("original.parquet", "fresh.parquet")]
    command = ["assess", *files, "--memory", SMALL, "--scratch", str(scratch), *options]
    return waiting_after("reading_columns-1", *command)


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_an_interruption_leaves_nothing_and_is_one_sentence(
    folder: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    with begun(folder, tmp_path, "--quiet", *options) as process:
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert told == "icsa: interrupted. Nothing was written.\n"
    assert not list(tmp_path.iterdir())


def test_what_a_killed_assessment_leaves_is_told_by_the_next_command(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with begun(folder, tmp_path) as process:
        process.kill()
    (left,) = tmp_path.iterdir()
    original = folder / "original.parquet"
    means = ("--memory", SMALL, "--scratch", str(tmp_path))
    for command in (
        ("anonymize", str(original), "--output", str(tmp_path / "r.parquet"), "--drop", "nothing"),
        ("assess", str(original), str(folder / "fresh.parquet"), "--outliers", "nobody"),
    ):
        assert cli.run([*command, *means]) == 2  # nobody is called so
        told = capsys.readouterr().err
        assert f"{left} was left by a run on {original} that was killed (icsa assess; " in told
        assert f"Nothing can go on with it: remove it: rm -r {left}" in told
        assert "--resume" not in told
    assert list(tmp_path.iterdir()) == [left]
