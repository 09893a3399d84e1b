"""What is planted everywhere comes out of the public edition nowhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import pytest
from msgspec import structs

from icsa import cli
from icsa.assessment import Assessment, assess
from icsa.assessment.document import Document
from icsa.assessment.document_parts import INTERNAL, Few, Name, Part, Words
from icsa.assessment.public_edition import FEW, _Reader, public_edition
from icsa.privacy import Policy, Reason, Threshold
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.report import assessment_html
from icsa.tables import Table, Variable, write_table

from .conftest import NAMES
from .test_assessment_page import Page

EXTREME = 987654.25
CODE = -98765


def _planted_table(n: int = 160, seed: int = 0) -> Table:
    """Return a table with something to be recognised in every place that a table has."""
    rng = np.random.default_rng(seed)
    income = rng.gamma(3.0, 900.0, n).round(2)
    income[37] = EXTREME
    score = rng.integers(10, 60, n)
    score[:4] = CODE
    frame = pl.DataFrame(
        {
            "patient_id": [f"plantedid-{k}" for k in rng.choice(90_000, n, replace=False)],
            "income": income,
            "score": score,
            "age": rng.normal(50, 12, n).round(1),
            "ward": rng.choice(["plantedlevel-a", "plantedlevel-b"], n),
            "sex": rng.choice(["f", "m"], n),
            "plantedheader": rng.normal(size=n).round(2),
            "remark": [f"plantedtext about somebody, number {k}" for k in range(n)],
        }
    ).with_columns(ward=pl.when(pl.int_range(n) == 5).then(pl.lit("plantedrare")).otherwise("ward"))
    variables = {
        "age": Variable(label="plantedlabel"),
        "sex": Variable(value_labels={"f": "plantedvalue"}),
        "score": Variable(missing_codes=(CODE,)),
    }
    return Table(frame, variables)


def _with_plants(found: Assessment) -> Assessment:
    """Return an assessment whose every message holds a row number and a plant."""
    message = "plantedmessage (row 38)"
    reason = Reason("do not release", "person", f"1 of 5: {message}", (37,), (f"drop {message}",))
    unknown = Reason("look again", "identifiers", message, (37,))
    attacks = tuple(
        replace(each, knows="plantedheader", guesses=message, means=message)
        for each in found.attackers
    )
    return replace(
        found,
        verdict="do not release",
        reasons=(reason, unknown),
        tables=replace(found.tables, notes=(*found.tables.notes, message)),
        control=replace(found.control, words=message),
        attackers=attacks,
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    folder = tmp_path_factory.mktemp("plantedfolder")
    paths = {
        role: folder / f"plantedfile-{role.replace(' ', '-')}.csv"
        for role in ("original", "schema", "policy", "people to look at", "other release")
    }
    for role, path in paths.items():
        path.write_text(role, encoding="utf-8")
    table = _planted_table()
    planned = plan(prepare(table), method="sa")
    made = release(planned, as_key(3))
    message = "plantedwarning: extremely far (row 38)"
    made = replace(made, warnings=(message,), relations=("plantedrelation = 1",))
    out = made.table.frame.drop("plantedheader")
    one = table.frame.select(out.columns)[37:38]  # somebody is copied
    write_table(Table(out), folder / "release.csv")
    other = _planted_table(seed=4).frame
    found = assess(
        table,
        pl.concat([out, one], how="vertical_relaxed"),
        schema=planned.schema,
        making=made,
        against=other.drop("plantedheader"),
        models=["age ~ income + ward", "age ~ plantedheader"],
        utility={"plantedanalysis": lambda f: {"plantedterm": (f["age"].mean(), 1.0)}},
        classify=["sex", "ward"],
        select=["age", "plantedheader"],
        policy=Policy(person_chance=Threshold(0.1, "plantedreason", owner="plantedowner")),
        files={**paths, "release": folder / "release.csv"},
    )
    return _with_plants(found)


def test_what_is_planted_is_in_the_internal_edition(planted: Assessment) -> None:
    document = planted.document("internal")
    text = assessment_html(document) + document.as_json()
    for plant in (
        *("level-a", "header", "file-original", "file-schema", "file-policy", "message"),
        *("warning", "relation", "reason", "owner", "analysis", "term"),
    ):
        assert f"planted{plant}" in text, plant
    assert "987654.25" in text
    assert "(row 38)" in text


def test_nothing_that_is_planted_is_in_the_public_edition(planted: Assessment) -> None:
    document = planted.document("public")
    page, text = assessment_html(document), document.as_json()
    for public in (page, text, planted._repr_html_()):
        assert "planted" not in public.lower()
        assert not re.search(r"987,?654|98[78],?000|\(rows? \d", public)
        assert "extremely far" not in public
    (income,) = (column for column in document.utility.columns if column.name == "income")
    assert income.original.sd is None  # times the root of n it is nearly the extreme
    assert income.released.mean is not None
    assert "release.csv" in page
    for name in ("income", "ward", "sex"):
        assert name in page  # what was released may be named


def test_a_page_of_an_internal_document_that_is_called_public_holds_nothing_either(
    planted: Assessment,
) -> None:
    called = structs.replace(planted.document("internal"), edition="public")
    assert "planted" not in assessment_html(called).lower()
    assert public_edition(public_edition(called)) == public_edition(called)


def test_no_count_below_three_is_told(planted: Assessment) -> None:
    internal, public = planted.document("internal"), planted.document("public")
    assert internal.privacy["verbatim_rows"].value in (1, 2)
    copied = internal.people_summary.status
    assert (copied["copied"] or 0) + (copied["replicated"] or 0) == 1
    assert public.privacy["verbatim_rows"].value is None
    assert public.privacy["verbatim_rows"].reason == FEW
    assert public.privacy["replicated_uniques"].value is None  # the same count as a share
    assert public.privacy["identical_match_share"].value is None
    told = public.people_summary.status
    assert not {1, 2} & set(told.values())
    assert sum(n is None for n in told.values()) >= 2  # or it would follow from the sum
    page = Page(assessment_html(public)).visible()
    assert "somebody has a copy or near copy" in page
    assert FEW in page
    assert f"not estimable: {FEW}" not in page
    assert not re.search(r"\b[12] (?:of \d+ )?(?:people|person|released row)", page)
    assert public.making is not None
    for column in public.making.columns:
        assert column.missing_before not in (1, 2)


class _New(Part, frozen=True):
    """A part that somebody adds and forgets to think about."""

    said: str
    listed: list[str]
    own: Words
    column: Name
    few: Few
    secret: Annotated[list[int], INTERNAL]


def test_a_text_that_says_nothing_about_its_readers_is_hidden() -> None:
    new = _New("cell", ["cell"], "fixed", "age", 2, [7])
    seen = _Reader(frozenset({"age"})).part(new)
    assert (seen.said, seen.listed, seen.own, seen.column) == ("", [], "fixed", "age")
    assert (seen.few, seen.secret) == (None, [])
    assert _Reader(frozenset()).part(new).column == "not released"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age ~ ward + sex", True),
        ("age ~ I(ward**2)", True),
        ("ward (level 2):sex (level 1)", True),
        ("age ~ C(ward, 'north')", False),
        ("income ~ age", False),
        ("aged ~ ward", False),
        ("ward[T.north]", False),
    ],
)
def test_formulas_are_shown_if_all_they_name_is_released(text: str, shown: bool) -> None:
    reader = _Reader(frozenset({"age", "ward", "sex"}))
    assert (reader.text(text, "formula") == text) == shown


def test_an_outlier_that_was_warned_of_is_in_no_public_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic = Path(__file__).parents[2] / "examples" / "clinic.csv"
    paths: dict[str, Path] = {
        name: tmp_path / f"{name}.html" for name in ("report", "public-report")
    }
    options = [part for name, path in paths.items() for part in (f"--{name}", str(path))]
    few = ["--redraws", "2", "--rehearse", "0"]
    target = ["--output", str(tmp_path / "r.csv")]
    assert cli.run(["anonymize", str(clinic), *target, *options, *few]) == 0
    told = "cost_eur: 1 number lies extremely far from all others (row 38)"
    assert told in capsys.readouterr().out
    assert told in paths["report"].read_text(encoding="utf-8")
    public = paths["public-report"].read_text(encoding="utf-8")
    assert "extremely far" not in public
    assert not re.search(r"\brow \d", public)
    assert str(tmp_path) not in public + paths["report"].read_text(encoding="utf-8")
    assert "clinic.csv" not in public
    assert "remark" not in public  # a column that was not released


def test_the_public_page_of_every_kind_of_document_is_whole(documents: dict[str, Document]) -> None:
    for document in documents.values():
        page = Page(assessment_html(public_edition(document)))
        assert not page.unbalanced
        assert "CONFIDENTIAL" not in page.visible()
        assert not re.search(r"\bNone\b|\bnan\b|: \.|\(\)", page.visible())
        told: Any = json.loads(public_edition(document).as_json())
        assert "people" not in told
    named = Page(assessment_html(public_edition(documents["everything"]))).visible()
    assert NAMES["age"] in named


def test_units_roles_weights_and_files_with_odd_names_are_in_no_public_file(tmp_path: Path) -> None:
    draw, homes = np.random.default_rng(4), np.repeat(np.arange(60), 3)
    weight = draw.gamma(3.0, 50.0, 180).round(1)
    weight[7] = EXTREME
    table = pl.DataFrame(
        {
            "home": [f"plantedhome-{home * home}" for home in homes],
            "role": np.tile(["plantedhead", "plantedpartner", "plantedchild"], 60),
            "weight": weight,
            "x": draw.normal(50, 10, 180).round(2),
            "lev": draw.choice(["plantedlevel-a", "plantedlevel-b", "plantedlevel-c"], 180),
            "plantedheader": draw.normal(size=180),
        }
    )
    original, other = tmp_path / "planted ü <b>'x'&.csv", tmp_path / "planted other.csv"
    table.write_csv(original)
    table.with_columns(home=pl.Series(homes + 1_000)).write_csv(other)
    released = table.drop("plantedheader").with_columns(
        home=pl.Series(homes), x=pl.Series(draw.normal(50, 10, 180).round(2))
    )
    released.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "release.csv")
    files = [str(original), str(tmp_path / "release.csv"), "--holdout", str(other)]
    files += ["--also-released", str(other), "--against", str(other)]
    for number, about in enumerate((["none"], ["home", "--role", "role", "--weight", "weight"])):
        page, document = tmp_path / f"{number}.html", tmp_path / f"{number}.json"
        written = ["--public-report", str(page), "--public-json", str(document)]
        assert cli.run(["assess", *files, *written, "--quiet", "--unit", *about]) == 0
        for public in (page.read_text("utf-8"), document.read_text("utf-8")):
            assert "planted" not in public.lower()
            assert not re.search(r"987,?654|98[78],?000|\(rows? \d", public)
