"""What who signs asks first, answered in a sentence."""

from __future__ import annotations

import re
from typing import get_args

import polars as pl
import pytest
from msgspec.structs import replace

from icsa.assessment import assess
from icsa.assessment.answers import (
    _CONTROLS,
    attack_lines,
    control_answer,
    copied_answer,
    loss_answer,
)
from icsa.assessment.controls import ControlKind
from icsa.assessment.privacy_words import ATTACKERS, RULES, rule_says
from icsa.attacks import ATTACKS
from icsa.attacks.two_visits import NAME as TWO_VISITS
from icsa.release import anonymize

from .tables import normal_table, people, with_outlier


def test_nobody_was_copied_into_fresh_people() -> None:
    document = assess(normal_table(), normal_table(seed=1)).document()
    answer, sentence = copied_answer(document)
    assert answer == "no"
    assert "No released row is an original row in every cell." in sentence
    assert "none has a copy or near copy" in sentence


def test_one_person_was_copied() -> None:
    original = with_outlier(normal_table(), 8.0)
    released = pl.concat([normal_table(149, seed=1), original.tail(1)])
    found = assess(original, released)
    answer, sentence = copied_answer(found.document())
    assert answer == "yes"
    assert "1 released row is an original row in every cell." in sentence
    assert "1 has a copy or near copy" in sentence
    answer, sentence = copied_answer(found.document("public"))
    assert answer == "yes"
    assert "somebody has a copy or near copy" in sentence
    assert "A few released rows" in sentence
    assert "1 " not in sentence


def test_everybody_was_copied() -> None:
    found = assess(people(), people().sample(fraction=1.0, shuffle=True, seed=1))
    for edition in ("internal", "public"):
        answer, sentence = copied_answer(found.document(edition))
        assert answer == "yes"
        assert "150 released rows are an original row in every cell." in sentence


@pytest.mark.parametrize("control", [None, "holdout"])
def test_attackers_stand_beside_people_who_were_not_in_the_table(control: str | None) -> None:
    others = normal_table(150, seed=9) if control else None
    document = assess(normal_table(), normal_table(seed=1), holdout=others).document()
    lines = attack_lines(document)
    assert lines[0].knows == "nothing but the release"
    assert lines[-1].knows == "everything but one cell of somebody who stands out"
    assert any(line.knows == "some columns of somebody" for line in lines)
    assert len({(line.knows, line.guesses) for line in lines}) == len(lines)
    assert (lines[0].control != "–") == (control is not None)
    assert ("Nobody was there" in control_answer(document)) == (control is None)
    # What is compared with the original only is marked, and is no finding.
    assert lines[-1].control.endswith("*")
    if control is None:
        assert not any(line.more for line in lines[:-1])


def test_a_copy_tells_more_about_people_in_the_table() -> None:
    copy, others = normal_table().reverse(), normal_table(150, seed=9)
    lines = attack_lines(assess(normal_table(), copy, holdout=others).document())
    assert any(line.more and "tells more" in line.means for line in lines)


def test_what_is_lost_is_counted() -> None:
    document = assess(people(), people(seed=1)).document()
    assert loss_answer(document).startswith("7 of 8 columns and 28 of 28 relations")
    nothing = replace(document, utility=replace(document.utility, columns=[]))
    assert loss_answer(nothing) == "What analyses lose could not be measured."


def test_every_rule_and_attack_has_words_for_everybody() -> None:
    assert set(ATTACKERS) == {*ATTACKS, TWO_VISITS}
    assert all("" in words for words in ATTACKERS.values())
    for rule in (*RULES, *ATTACKS):
        assert rule_says(rule, "look again").endswith(".")
    assert set(_CONTROLS) == set(get_args(ControlKind))


def test_notebooks_show_no_cell() -> None:
    table = people()
    release = anonymize(table, random_state=1)
    found = assess(
        table,
        pl.concat([release.table.drop("kg"), table.drop("kg").head(1)], how="vertical_relaxed"),
    )
    for shown in (release._repr_html_(), found._repr_html_()):
        assert shown.startswith('<div class="icsa">')
        for cell in table.select("patient_id", "age", "kg", "pressure", "pulse").row(0):
            assert str(cell) not in shown
        assert not re.search(r"\brows? \d", shown)
    assert "kg" in release._repr_html_()
    assert "<td style" in found._repr_html_()
