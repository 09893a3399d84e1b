"""A whole comparison: the same wherever it is computed, resumable, and honest about its winner."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import icsa
from icsa import cli
from icsa.choice import Advice, Candidate, Compared
from icsa.choice.budget import Size, draw_plan
from icsa.choice.compared_rows import some_rows
from icsa.choice.comparing import _announced
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.schema import with_design
from icsa.tables import from_frame
from tests.choice.tables import patients
from tests.people_tables import visits

OPTIONS: dict[str, Any] = {"methods": ["sa", "noise"], "models": ["pressure ~ weight"]}


def compared(**more: Any) -> Compared:
    return icsa.compare(patients(60), **{"budget": 0.01, **OPTIONS, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("race")


@pytest.fixture(scope="module")
def found(folder: Path) -> Compared:
    return compared(folder=folder)


def test_every_candidate_and_rival_has_a_risk_a_loss_and_a_word(found: Compared) -> None:
    names = [one.name for one in found.candidates]
    assert names == ["sa mixed", "sa topcode", "sa paper", "noise"]
    for one in found.candidates:
        assert one.loss.value is not None
        assert one.risk.value is not None
        assert set(one.parts) >= {"models", "pairs", "columns", "beyond"}
    noise = found.candidates[-1]
    assert noise.word != "release"
    assert noise.planted.value == 1.0


def test_the_advised_one_was_assessed_and_its_figure_is_of_fresh_keys(found: Compared) -> None:
    best = found.advised
    assert not best.candidate.rival
    assert best.assessed
    assert best.fresh
    assert best.raced.value != best.loss.value
    if found.advice.may_be_released:
        assert best.word == "release"
        raced = [
            one.raced.value for one in found.candidates if one.assessed and one.word == best.word
        ]
        assert best.raced.value == min(raced)


def test_two_processes_give_the_same(found: Compared) -> None:
    assert compared(workers=2).as_dict() == found.as_dict()


def test_a_finished_race_is_read_and_another_one_refused(found: Compared, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    assert compared(folder=folder).as_dict() == found.as_dict()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")} == before
    with pytest.raises(InputError, match="seed is 0 there and 1 now"):
        compared(folder=folder, seed=1)


def test_the_folder_holds_no_cell(found: Compared, folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    columns = pl.read_parquet(next(folder.rglob("*.parquet"))).columns
    assert columns == ["candidate", "what", "number", "measure", "value", "note"]


def test_files_have_all_of_it(found: Compared, tmp_path: Path) -> None:
    found.to_json(tmp_path / "c.json")
    told = json.loads((tmp_path / "c.json").read_text())
    assert told == found.as_dict()
    assert [one["name"] for one in told["candidates"]][-1] == "noise"
    found.to_html(tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    assert "<svg" in page
    assert found.advice.command.replace("'", "&#39;") in page
    ET.fromstring(found.picture_svg)
    assert found.advice.candidate.name in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["pressure ~ wheight"]}, "wheight"),
        ({"classify": ["dose"]}, "dose"),
        ({"budget": -1.0}, "more than 0 minutes"),
        ({"workers": 0}, "At least 1 worker"),
    ],
)
def test_what_cannot_be_is_refused_before_the_race(options: dict[str, Any], message: str) -> None:
    def never(stage: str, share: float) -> None:
        raise AssertionError(stage)

    with pytest.raises(InputError, match=message):
        icsa.compare(
            patients(), **{"methods": ["sa"], "budget": 0.01, "progress": never, **options}
        )


# People with several rows, weights and strata.


@pytest.fixture(scope="module")
def of_visits() -> Compared:
    frame = visits(90).drop("part", "more", "total", "high")
    return icsa.compare(
        frame,
        unit="id",
        time="day",
        bound="followed",
        methods=["sa"],
        models=["crp ~ age"],
        budget=0.01,
    )


def test_people_with_several_rows_are_compared_with_all_of_them(of_visits: Compared) -> None:
    assert [one.name for one in of_visits.candidates] == ["sa mixed", "sa topcode"]
    for one in of_visits.candidates:
        assert not one.why_not
        assert set(one.parts) >= {"models", "pairs", "columns", "beyond", "design"}
        assert one.planted.value is not None
        assert one.members.value is not None  # halves of people can be released
    assert any("with all their rows" in note for note in of_visits.notes)
    called = "icsa.anonymize(table, unit='id', time='day', bound='followed', method='sa'"
    assert of_visits.advice.command.startswith(called)


def test_a_short_race_takes_people_with_all_their_rows() -> None:
    table = from_frame(visits(90))
    some = some_rows(table, 200, with_design(guess_schema(table), unit="id").design)
    assert 200 <= some.frame.height < 215  # the last one may go beyond, by less than 12 rows
    whole = table.frame.filter(pl.col("id").is_in(some.frame["id"].unique().to_list()))
    assert whole.height == some.frame.height


def test_rivals_know_nothing_of_people_with_several_rows() -> None:
    with pytest.raises(InputError, match=r"'mdav' knows of rows only"):
        icsa.compare(visits(), unit="id", methods=["sa", "mdav"], budget=0.01)


def test_weights_and_strata_are_compared_and_named_in_the_command() -> None:
    generator = np.random.default_rng(3)
    frame = patients(160).with_columns(
        weight=pl.Series(generator.lognormal(3.0, 0.4, 160).round(1)),
        ward=pl.Series(["north", "south"] * 80),
    )
    found = icsa.compare(
        frame, weight="weight", strata="ward", methods=["sa", "noise"], budget=0.01
    )
    for one in found.candidates:
        assert not one.why_not
        assert "design" in one.parts
    assert found.candidates[-1].name == "noise"
    assert "weight='weight', strata=('ward',), method='sa'" in found.advice.command


# The commands.


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    patients().write_csv(path)
    return path


def test_advice_about_several_rows_can_be_followed() -> None:
    with pytest.raises(InputError, match=r"Say so with --unit id.*--unit none"):
        icsa.compare(visits(), methods=["sa"], budget=0.01)


def test_the_command_takes_people_with_several_rows(
    tmp_path: Path, found: Compared, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def compare(_table: object, **options: Any) -> Compared:
        given.append(options)
        return advising(found, allowed=False)()

    monkeypatch.setattr("icsa.choice.compare", compare)
    path = tmp_path / "visits.csv"
    visits().write_csv(path)
    said = ["--unit", "id", "--time", "day", "--strata", "sex"]
    assert cli.run(["compare", str(path), *said]) == 0
    assert cli.run(["anonymize", str(path), "--choose", *said]) == 3
    for options in given:
        assert (options["unit"], options["time"], options["strata"]) == ("id", "day", ("sex",))


def test_a_budget_that_is_not_kept_is_said() -> None:
    plan = draw_plan(Size(100, 4, 4, 1), 0.01)
    assert "more than the budget of 0.01 minutes" in _announced(plan, 0.01, 1)
    assert "budget" not in _announced(plan, 60.0, 1)
    assert "shared by 2 workers" in _announced(plan, 60.0, 2)


def advising(found: Compared, *, allowed: bool) -> Callable[..., Compared]:
    """Return a comparison that is not run: it gives one that was, with this advice."""
    candidate = Candidate(name="sa topcode", method="sa", recipe="topcode")
    advice = Advice(
        candidate=candidate, may_be_released=allowed, text="Made up.", command="icsa anonymize x"
    )
    made = Compared(
        candidates=found.candidates,
        advice=advice,
        plan=found.plan,
        n_rows=found.n_rows,
        n_columns=found.n_columns,
    )
    return lambda *_given, **_options: made


def test_compare_prints_and_writes(
    found: Compared,
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("icsa.choice.compare", advising(found, allowed=False))
    outputs = ["--report", str(tmp_path / "r.html"), "--json", str(tmp_path / "c.json")]
    assert cli.run(["compare", str(file), *outputs]) == 0
    told = capsys.readouterr().out
    assert "noise" in told
    assert "Made up." in told
    assert "icsa anonymize x" in told
    assert (tmp_path / "r.html").exists()
    assert cli.run(["compare", str(file), *outputs]) == 2
    assert "is there already" in capsys.readouterr().err


def test_choose_writes_nothing_where_nothing_may_be_released(
    found: Compared, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icsa.choice.compare", advising(found, allowed=False))
    before = set(file.parent.iterdir())
    assert cli.run(["anonymize", str(file), "--choose"]) == 3
    assert set(file.parent.iterdir()) == before


def test_choose_knows_that_rows_are_people(
    found: Compared, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def compare(_table: object, **options: Any) -> Compared:
        given.append(options["unit"])
        return advising(found, allowed=False)()

    monkeypatch.setattr("icsa.choice.compare", compare)
    assert cli.run(["anonymize", str(file), "--choose", "--unit", "none"]) == 3
    assert given == [False]


def test_choose_releases_what_is_advised_if_its_own_word_is_release(
    found: Compared,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("icsa.choice.compare", advising(found, allowed=True))
    arguments = ["anonymize", str(file), "--choose", "--seed", "4"]

    class Said:
        verdict = "look again"
        reasons = ()

    with monkeypatch.context() as patch:
        patch.setattr("icsa.assessment.assess", lambda *_given, **_options: Said)
        assert cli.run(arguments) == 3
    assert "Nothing was written" in capsys.readouterr().err
    released = file.with_name("patients.release.csv")
    assert not released.exists()
    Said.verdict = "release"
    monkeypatch.setattr("icsa.assessment.assess", lambda *_given, **_options: Said)
    assert cli.run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["method"], told["recipe"]["name"]) == ("sa", "topcode")
    assert released.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--choose", "--method", "sa"], "--choose finds out what --method is to be"),
        (["--choose", "--recipe", "topcode"], "--choose finds out what --recipe is to be"),
        (["--budget", "3"], "--budget is for a choice"),
    ],
)
def test_options_that_contradict_a_choice(
    file: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["anonymize", str(file), *options]) == 2
    assert message in capsys.readouterr().err
