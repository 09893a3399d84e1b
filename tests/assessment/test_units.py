"""People with several rows, assessed: copies of people and of parts, both levels, the page."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import polars as pl
import pytest

import icsa
from icsa.assessment import Assessment
from icsa.errors import InputError, UnknownNameError
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.report import assessment_html
from icsa.tables import from_frame
from tests.people_tables import balanced, clusters, households, visits

SAID = {"unit": "id", "time": "day", "bound": "followed"}
OWN = ["followed", "age", "sex"]
SCHEMA = json.loads(
    resources.files("icsa.assessment").joinpath("schema.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def released() -> pl.DataFrame:
    return icsa.anonymize(visits(), random_state=3, **SAID).table


@pytest.fixture(scope="module")
def assessed(released: pl.DataFrame) -> Assessment:
    models = ["log(crp) ~ day + age + (1 + day | id)", "crp ~ age"]
    return icsa.assess(visits(), released, models=models, **SAID)


def rules(found: Assessment, word: str = "do not release") -> set[str]:
    return {reason.rule for reason in found.reasons if reason.word == word}


def test_everything_is_by_unit(assessed: Assessment) -> None:
    frame = visits()
    shown = assessed.document()
    assert assessed.privacy.n_rows == assessed.privacy.n_released == 90
    assert shown.units.original.units == shown.units.released.units == 90
    assert shown.units.original.rows == shown.tables.original.rows == frame.height
    assert [kept.released for kept in shown.units.kept] == [1.0, 1.0, 1.0]
    assert {"crp (mean)", "crp (slope)", "number of rows"} <= {
        column.name for column in shown.utility.columns
    }
    firsts = frame.with_row_index().group_by("id").agg(pl.col("index").min())["index"].to_list()
    assert {person.row - 1 for person in shown.people} <= set(firsts)
    assert shown.units.released.largest <= sorted(frame.group_by("id").len()["len"])[-10]


def test_analyses_of_units_come_besides_those_asked_for(assessed: Assessment) -> None:
    found = {model.name: model for model in assessed.utility.models}
    assert list(found)[:3] == [
        "rows a unit",
        "share of variance between units",
        "correlation of successive rows",
    ]
    mixed = found["log(crp) ~ day + age + (1 + day | id)"]
    assert mixed.method == "mixed model"
    assert found["crp ~ age"].method == "least squares, errors by unit"


def test_somebody_copied_whole_is_found(released: pl.DataFrame) -> None:
    somebody = visits().filter(pl.col("id") == visits()["id"][300]).with_columns(id=999_999)
    found = icsa.assess(visits(), _with(released, somebody), **SAID)
    assert found.verdict == "do not release"
    assert {"equal cells", "parts of trajectories"} <= rules(found)
    who = visits().with_row_index().filter(pl.col("id") == visits()["id"][300])["index"][0]
    parts = next(reason for reason in found.reasons if reason.rule == "parts of trajectories")
    assert who in parts.rows


def test_two_visits_in_somebody_else_are_found(released: pl.DataFrame) -> None:
    frame = visits()
    person = next(p for p in frame.partition_by("id", maintain_order=True)[30:] if p.height > 4)
    home = next(p for p in released.partition_by("id", maintain_order=True) if p.height > 4)
    taken = person[1:3].with_columns(pl.lit(home[name][0]).alias(name) for name in ["id", *OWN])
    others = released.filter(pl.col("id") != home["id"][0])
    found = icsa.assess(frame, _with(others, home[3:], taken), **SAID)
    assert "parts of trajectories" in rules(found)


def test_rows_released_as_people_are_seen_to_have_come_apart() -> None:
    frame = visits()
    apart = icsa.anonymize(frame, unit=False, random_state=1).table
    apart = apart.with_columns(frame["id"] + 1)
    found = icsa.assess(frame, apart, **SAID)
    kept = {rule.rule: rule.released for rule in found.units.kept}
    assert kept["columns of units are the same in all their rows"] < 0.5
    lag = next(m for m in found.utility.models if m.name == "correlation of successive rows")
    assert lag.overlap.value < 0.3


def test_units_that_nobody_spoke_of_are_an_error(released: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="Compared row by row, people would come apart"):
        icsa.assess(visits(), released)
    assert icsa.assess(visits(), released, unit=False).units is None
    with pytest.raises(UnknownNameError, match="No column 'idd'"):
        icsa.assess(visits(), released, unit="idd")


def test_a_plan_is_rehearsed_on_halves_of_the_people() -> None:
    table = from_frame(visits())
    made_by = plan(prepare(table, design=SAID))
    made = release(made_by, as_key(5))
    found = icsa.assess(
        table, made.table, schema=made_by.schema, plan=made_by, making=made, rehearse=2, redraws=2
    )
    assert found.control.kind == "rehearsal"
    assert found.control.n_people == 90
    two = [result for result in found.attackers if result.attack == "two visits"]
    assert [result.control_is for result in two] == ["people who were not in the table"] * 2
    assert found.privacy.redrawn is not None


def test_others_are_a_control_by_unit(released: pl.DataFrame) -> None:
    others = visits(40, seed=9).with_columns(id=pl.col("id") + 50_000)
    found = icsa.assess(visits(), released, holdout=others, **SAID)
    assert found.control.n_people == 40
    assert any(r.attack == "two visits" and r.control.value is not None for r in found.attackers)
    with pytest.raises(InputError, match="The holdout lacks 'id'"):
        icsa.assess(visits(), released, holdout=others.drop("id"), **SAID)


def test_named_rows_are_their_people(released: pl.DataFrame) -> None:
    rows = visits().with_row_index().filter(pl.col("id") == visits()["id"][50])["index"] + 1
    found = icsa.assess(visits(), released, outliers=rows.to_list(), **SAID)
    assert len(found.people) == 1
    assert found.document().people[0].row == rows.min()


def test_two_releases_are_compared_by_the_same_people(released: pl.DataFrame) -> None:
    names = released.select("id", "day")
    with pytest.raises(InputError, match="The other release has no column in common with"):
        icsa.assess(visits(), released, against=names, **SAID)
    with pytest.raises(InputError, match="The release has no column in common with"):
        icsa.assess(visits(), names, against=released, **SAID)
    with pytest.raises(InputError, match="The other release has no column 'day'"):
        icsa.assess(visits(), released, against=released.drop("day"), **SAID)


def test_the_public_edition_has_no_trajectory_of_the_original(assessed: Assessment) -> None:
    public, internal = (assessed.document(edition) for edition in ("public", "internal"))
    jsonschema.validate(public.as_dict(), SCHEMA)
    jsonschema.validate(internal.as_dict(), SCHEMA)
    assert all(panel.original for panel in internal.units.trajectories)
    assert not any(panel.original for panel in public.units.trajectories)
    assert all(panel.released for panel in public.units.trajectories)
    assert public.units.original.largest is None
    assert [model.formula for model in public.utility.models][:3] == [
        "rows a unit",
        "share of variance between units",
        "correlation of successive rows",
    ]
    mixed = public.utility.models[3]
    assert mixed.formula == "log(crp) ~ day + age + (1 + day | id)"
    assert "sd(day | id)" in [row.term for row in mixed.rows]
    assert {"crp (mean)", "number of rows"} <= {c.name for c in public.utility.columns}
    page, open_page = assessment_html(internal), assessment_html(public)
    assert page.count("thread original") > 20
    assert "thread original" not in open_page
    assert "thread released" in open_page


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (clusters(), {"unit": "school"}),
        (households(), {"unit": "household", "role": "role"}),
    ],
    ids=["schools", "households"],
)
def test_pupils_and_members_are_people_too(frame: pl.DataFrame, said: dict[str, str]) -> None:
    made = icsa.anonymize(frame, random_state=1, **said).table
    found = icsa.assess(frame, made, **said)
    assert found.units.rows is not None
    assert found.document().units.single_rows.verdict == "release"
    assert all(kept.released == 1.0 for kept in found.units.kept)
    copied = _with(made, frame.sample(40, seed=1).with_columns(made[str(said["unit"])][:40]))
    again = icsa.assess(frame, copied, **said)
    assert any(reason.text.startswith("Of single rows") for reason in again.reasons)


def test_a_balanced_design_is_assessed() -> None:
    frame = balanced()
    made = icsa.anonymize(frame, unit="subject", time="age", random_state=1).table
    found = icsa.assess(frame, made, unit="subject", time="age")
    assert found.verdict in ("release", "look again")
    names = {column.name for column in found.tables.columns}
    assert "mm (slope)" in names
    assert not {"age (mean)", "number of rows"} & names  # the same for everybody


def test_weighted_samples_get_weighted_analyses() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "town": rng.choice(["a", "b"], 300),
            "income": rng.lognormal(3, 0.4, 300).round(1),
            "age": rng.integers(18, 90, 300),
            "pweight": rng.uniform(5, 50, 300).round(2),
        }
    )
    made = icsa.anonymize(frame, weight="pweight", random_state=1).table
    found = icsa.assess(frame, made, weight="pweight", models=["income ~ age + town"])
    means, model = found.utility.models
    assert means.name == "weighted means"
    assert means.error.value < 0.05  # raked
    assert model.method == "weighted least squares"
    public = found.document("public").utility.models[0]
    assert [row.term for row in public.rows] == ["income", "age", "town (level 1)"]


def test_a_few_weights_are_numbers_all_the_same() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(rng.normal(size=(200, 3)).round(2), schema=["a", "b", "c"])
    frame = frame.with_columns(pweight=pl.Series(rng.choice([15.25, 20.5, 44.5], 200)))
    made = icsa.anonymize(frame, weight="pweight", method="sa", random_state=1).table
    found = icsa.assess(frame, made, weight="pweight")
    assert "pweight" in [column.name for column in found.tables.columns]
    assert not any(reason.rule == "not compared" for reason in found.reasons)


def _with(*parts: pl.DataFrame) -> pl.DataFrame:
    names = parts[0].columns
    return pl.concat([part.select(names) for part in parts], how="vertical_relaxed")


def test_attacks_alone_are_on_people_too(released: pl.DataFrame) -> None:
    others = visits(40, seed=9).with_columns(id=pl.col("id") + 50_000)
    copy = visits().with_columns(id=pl.col("id") + 90_000)
    found = icsa.attack(visits(), copy, holdout=others, unit="id", time="day")
    two = [result for result in found.results if result.attack == "two visits"]
    assert [result.right.value for result in two] == pytest.approx([1.0, 1.0], abs=0.05)
    assert any(reason.rule == "two visits" for reason in found.reasons)
    with pytest.raises(InputError, match="Compared row by row, people would come apart"):
        icsa.attack(visits(), released)
