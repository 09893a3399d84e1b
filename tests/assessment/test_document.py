"""The document: its published form, its editions, and what it never shows by mistake."""

from __future__ import annotations

import io
import json
from importlib import resources
from typing import Any, get_args

import jsonschema
import pytest
from rich.console import Console
from rich.pretty import pprint

from icsa.assessment import assess, assessing, filling
from icsa.assessment.document import document_schema
from icsa.assessment.privacy_words import MEASURES, PRIVACY_TERMS, SHOWN, Term, Wording
from icsa.assessment.utility_words import UTILITY_GOOD, UTILITY_TERMS
from icsa.errors import InputError
from icsa.measures import Direction, Measure
from icsa.privacy import passport, self_test
from icsa.privacy.measuring import privacy_measures
from icsa.privacy.people_findings import Findings
from icsa.privacy.reasons import STATUSES, WORDS, Status, Word
from icsa.report import assessment_html, assessment_page
from icsa.report.glossary import GLOSSARY

from .tables import normal_table
from .test_assessing import mixed

SCHEMA = json.loads(
    resources.files("icsa.assessment").joinpath("schema.json").read_text(encoding="utf-8")
)


def test_the_published_form_is_that_of_the_types() -> None:
    renew = "python -c 'from icsa.assessment.document import write_schema; write_schema()'"
    assert document_schema() == SCHEMA, f"schema.json is not current. Renew it: {renew}"


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_real_output_has_the_form_that_the_schema_says(edition: Any) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    plain = assess(normal_table(), normal_table(seed=1))
    for found in (mixed(), plain):
        document = json.loads(json.dumps(found.as_dict(edition), allow_nan=False))
        validator.validate(document)
        assert document["edition"] == edition


def test_the_schema_refuses_people_in_the_public_edition() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    internal, public = mixed().as_dict("internal"), mixed().as_dict("public")
    assert not validator.is_valid({**public, "people": internal["people"]})
    assert not validator.is_valid({**public, "utility": internal["utility"]})
    assert not validator.is_valid({**public, "people_summary": internal["people_summary"]})
    assert not validator.is_valid({**internal, "edition": "neither"})


def test_the_schema_refuses_what_is_missing_or_not_known() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    document = mixed().as_dict()
    for key in document:
        assert not validator.is_valid({k: v for k, v in document.items() if k != key})
    assert not validator.is_valid(document | {"something": 1})
    fewer = {k: v for k, v in document["privacy"].items() if k != "ore"}
    assert not validator.is_valid(document | {"privacy": fewer})


def test_a_part_shows_no_cell_by_mistake() -> None:
    document = mixed().document()
    assert document.people
    shown = io.StringIO()
    pprint(document, console=Console(file=shown, width=200))
    for text in (repr(document), repr(document.people[0]), shown.getvalue()):
        assert not any(cell in text for cell in document.people[0].before.values() if len(cell) > 2)


def test_words_stand_once_and_for_everything() -> None:
    assert set(STATUSES) == set(get_args(Status))
    assert set(WORDS) == set(get_args(Word))
    assert {words.term or key for key, words in MEASURES.items()} <= set(PRIVACY_TERMS)
    assert set(SHOWN) <= set(MEASURES)
    assert set(UTILITY_GOOD) <= set(UTILITY_TERMS)
    terms = {**PRIVACY_TERMS, **UTILITY_TERMS}
    found = {term.direction for term in terms.values()}
    assert found <= {"", "nearer to 0 is better", *get_args(Direction)}


def test_the_direction_of_a_measure_is_that_of_its_term() -> None:
    for key, measure in mixed().document().privacy.items():
        term = PRIVACY_TERMS[measure.definition]
        if measure.direction != "neither":
            assert measure.direction == term.direction, key


def test_how_a_release_was_made_has_a_known_form() -> None:
    with pytest.raises(InputError, match=r"How the release was made: .* `scatters`.*Make it anew"):
        assess(normal_table(), normal_table(seed=1), making={"method": "icsa"})


def test_a_measure_of_privacy_needs_a_line_in_the_list_and_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_mine(found: Findings) -> dict[str, Measure]:
        rows = float(found.features.released.n_rows)
        mine = Measure.of(rows, name="mine", direction="lower is safer", n=3)
        return {**privacy_measures(found), "mine": mine}

    for module in (passport, self_test):
        monkeypatch.setattr(module, "privacy_measures", with_mine)
    words = {**MEASURES, "mine": Wording(label="my own risk", good="none")}
    for module in (assessing, filling):
        monkeypatch.setattr(module, "MEASURES", words)
    terms = {**GLOSSARY, "mine": Term("my own risk", "As many as there are rows.")}
    monkeypatch.setattr(assessment_page, "GLOSSARY", terms)
    document = assess(normal_table(), normal_table(100, seed=1)).document("public")
    mine = document.as_dict()["privacy"]["mine"]
    assert (mine["value"], mine["ends"]) == (100.0, {"copy": 150.0, "shuffled": 150.0})
    jsonschema.Draft202012Validator(SCHEMA).validate(document.as_dict())
    page = assessment_html(document)
    assert '<a class="def" href="#glossary-mine">my own risk</a>' in page
    assert '<dt id="glossary-mine"' in page
