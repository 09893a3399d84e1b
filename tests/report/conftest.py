"""Documents that the program really wrote, for tests of the page."""

from __future__ import annotations

import json
import warnings
from importlib import resources
from typing import Any

import jsonschema
import polars as pl
import pytest

from icsa.assessment import assess
from icsa.assessment.document import Document
from icsa.privacy import Policy, Threshold
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.tables import Table
from tests.assessment.tables import normal_table, people, with_outlier

# Names that a page must show as they are, and that must do nothing in it.
NAMES = {
    "age": "Körpergröße & <age>",
    "pulse": "体重",
    "visits": "прописка",
    "kg": "<script>alert(1)</script>",
}


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.rename(NAMES).with_columns(
        pl.col("ward").replace("north", "</td><script>alert(2)</script>")
    )


def _everything() -> Document:
    """Return a release with its plan, kept columns, a seed, and all that can be asked for."""
    table = Table(_named(people()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        planned = plan(prepare(table, keep=["sex"]))
        made = release(planned, as_key(3))
    other = _named(people(seed=2)).with_columns(pl.col("pressure").shuffle(seed=1))
    return assess(
        table,
        made.table,
        schema=planned.schema,
        plan=planned,
        making=made,
        redraws=5,
        against=other,
        classify=["sex"],
        clusters=2,
        select=["pressure", "sex"],
        models=["pressure ~ pain + sex"],
        utility={"mean": lambda f: {"m": (f["pressure"].mean(), 1.0)}},
        policy=Policy(person_chance=Threshold(0.1, "few & <ill>", owner="Zoë Müller & Søn")),
    ).document()


def _at_risk() -> Document:
    """Return a release under a key that was lucky: others would have copied."""
    table = Table(with_outlier(normal_table(120, 3, seed=4), 50.0))
    planned = plan(prepare(table, recipe="paper"), method="sa")
    fresh = Table(normal_table(120, 3, seed=5))
    return assess(table, fresh, schema=planned.schema, plan=planned, redraws=30).document()


def _in_parts() -> Document:
    """Return a release that has four columns of every row as they were."""
    original, fresh = people(), people(seed=7)
    same = original.select("age", "kg", "pressure")
    others = fresh.select("patient_id", "pulse", "visits", "ward", "sex", "pain")
    return assess(original, pl.concat([same, others], how="horizontal")).document()


def _less() -> Document:
    """Return a release with fewer columns than were asked about, for people who were named."""
    released = people(seed=1).drop("kg").with_columns(extra=pl.lit(1))
    return assess(
        people(), released, outliers=[1, 2], models=["kg ~ age"], classify=["sex"], select=["kg"]
    ).document()


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    """Return documents by what is in them, all of the published form; for both editions."""
    original, fresh = normal_table(), normal_table(seed=1)
    made = {
        "everything": _everything(),
        "at risk": _at_risk(),
        "in parts": _in_parts(),
        "less": _less(),
        "nobody": assess(original, fresh, outliers=[]).document(),
        "copy": assess(people(), people().sample(fraction=1.0, shuffle=True, seed=1)).document(),
        "public": assess(people(), people(seed=1), clusters=2).document("public"),
        "many": assess(
            normal_table(300, 10), normal_table(300, 10, seed=1), outliers=list(range(1, 121))
        ).document(),
    }
    schema = resources.files("icsa.assessment").joinpath("schema.json").read_text("utf-8")
    form: Any = jsonschema.Draft202012Validator(json.loads(schema))
    for document in made.values():
        form.validate(document.as_dict())
    return made
