"""An assessment's document, filled: the word and why, people, measures, how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from msgspec import UNSET

from icsa.assessment import document as doc
from icsa.assessment.attackers import attackers_part
from icsa.assessment.controls import Control
from icsa.assessment.document_parts import DIGITS, Ends, HandedFile, as_part, measured, tidied
from icsa.assessment.document_parts import HandedIn as DocumentHandedIn
from icsa.assessment.document_parts import Measure as DocumentMeasure
from icsa.assessment.filling_units import filled_units
from icsa.assessment.filling_utility import filled_utility
from icsa.assessment.privacy_words import MEASURES, rule_says
from icsa.assessment.provenance import HandedIn
from icsa.assessment.public_edition import public_edition
from icsa.assessment.unit_assessing import people_in_file
from icsa.comparison.matching import Comparison
from icsa.errors import UnknownNameError
from icsa.measures import Measure
from icsa.privacy import Person, Reason
from icsa.privacy.reasons import STATUSES, WORDS

if TYPE_CHECKING:
    from icsa.assessment.assessing import Assessment

__all__ = ["filled_document"]

_MOST_ROWS_SHOWN = 20


def filled_document(assessment: Assessment, edition: doc.Edition) -> doc.Document:
    """Return an assessment as its document; nothing in it is NaN or infinite."""
    if edition not in get_args(doc.Edition):
        raise UnknownNameError("edition", str(edition), get_args(doc.Edition))
    public, made, privacy = edition == "public", assessment.making, assessment.privacy
    copied, apart = (doc.EndWord(verdict=end.word) for end in privacy.ends)
    document = doc.Document(
        edition=edition,
        verdict=assessment.verdict,
        reasons=[_reason(reason) for reason in assessment.reasons],
        self_test=doc.SelfTest(
            trusted=privacy.trusted, why=privacy.why_not_trusted, copy=copied, shuffled=apart
        ),
        handed_in=_handed_in(assessment.handed_in),
        tables=_tables(assessment.tables),
        making=None if made is None else as_part(made, doc.Making, "How it was made"),
        privacy={
            key: _privacy_measure(key, measure, assessment)
            for key, measure in assessment.measures.items()
        },
        people_summary=_people_summary(assessment),
        noticed=doc.Noticed(
            ordinary=privacy.noticing.ordinary,
            standing_out=privacy.noticing.standing_out,
            enough=privacy.noticing.is_enough,
            advice=privacy.noticing.advice,
        ),
        redraws=_redraws(assessment),
        control=_control(assessment.control),
        attackers=attackers_part(assessment.attackers),
        utility=filled_utility(assessment, public),
        policy=[
            doc.Threshold(name=item.name, **vars(getattr(assessment.policy, item.name)))
            for item in fields(assessment.policy)
        ],
        versions=dict(assessment.versions),
        people=UNSET if public else _people(assessment),
        units=UNSET if assessment.units is None else filled_units(assessment.units),
    )
    return public_edition(tidied(document, DIGITS)) if public else tidied(document)


def _reason(reason: Reason) -> doc.Why:
    return doc.Why(
        word=reason.word,
        rule=reason.rule,
        says=rule_says(reason.rule, reason.word),
        text=_with_rows(reason),
        remedies=list(reason.remedies),
    )


def _with_rows(reason: Reason) -> str:
    text = reason.text[:1].upper() + reason.text[1:]
    if not reason.rows:
        return f"{text}."
    shown = ", ".join(str(row + 1) for row in reason.rows[:_MOST_ROWS_SHOWN])
    more = len(reason.rows) - _MOST_ROWS_SHOWN
    word = "row" if len(reason.rows) == 1 else "rows"
    return f"{text} ({word} {shown}{f' and {more} more' if more > 0 else ''})."


def _handed_in(handed: HandedIn) -> DocumentHandedIn:
    return DocumentHandedIn(
        files=[HandedFile(role=f.role, name=f.name, sha256=f.sha256) for f in handed.files],
        date=handed.date,
        prepared_by=handed.prepared_by,
        decided_by=handed.decided_by,
    )


def _tables(compared: Comparison) -> doc.Tables:
    tables = compared.files
    original, released = (doc.Size(rows=rows, columns=columns) for rows, columns in compared.shapes)
    return doc.Tables(
        original=original,
        released=released,
        matched=list(tables.matched),
        only_original=list(tables.only_original),
        only_released=list(tables.only_released),
        notes=list(compared.notes),
    )


def _privacy_measure(key: str, measure: Measure, assessment: Assessment) -> DocumentMeasure:
    words = MEASURES[key]
    copy, shuffled = assessment.ends[key]
    chance = assessment.privacy.by_chance.get(words.source or key)
    good = words.good if chance is None else f"about {chance:.2g} by chance"
    return measured(
        measure,
        label=words.label,
        definition=words.term or key,
        good=good,
        also=words.also,
        ends=Ends(copy=copy, shuffled=shuffled),
    )


def _people_summary(assessment: Assessment) -> doc.PeopleSummary:
    people, chosen = (
        people_in_file(assessment.people, assessment.tables),
        assessment.privacy.standing_out,
    )
    words = [person.status for person in people]
    return doc.PeopleSummary(
        count=len(people),
        beyond=chosen.n_beyond,
        left_out=chosen.n_left_out,
        status={status: words.count(status) for status in STATUSES},
        picture=[_point(person) for person in people],
    )


def _point(person: Person) -> doc.Point:
    worst = person.worst
    return doc.Point(alone=worst.d_org, near=worst.d_rel, row=person.row + 1, status=person.status)


def _people(assessment: Assessment) -> list[doc.Person]:
    tables, redrawn = assessment.tables, assessment.privacy.redrawn
    numbers = [person.row + 1 for person in people_in_file(assessment.people, tables)]
    return [
        _person(
            person,
            number,
            None if redrawn is None else redrawn.rho[:, k],
            *tables.cells_of(person.row, person.released_row),
        )
        for k, (person, number) in enumerate(zip(assessment.people, numbers, strict=True))
    ]


def _person(
    person: Person,
    number: int,
    redrawn: np.ndarray | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> doc.Person:
    worst = person.worst
    expected = None
    if person.expected_replicas is not None:
        expected = doc.Replicas(value=person.expected_replicas, high=person.expected_replicas_high)
    return doc.Person(
        row=number,
        why=person.why,
        robust_distance=person.robust_distance,
        d_org=worst.d_org,
        d_rel=worst.d_rel,
        rho=worst.rho,
        worst_lens=person.worst_lens,
        p=person.corrected_chance,
        attack=doc.Attack(success=person.attack, control=person.attack_control),
        h=person.equal_cells,
        h_control=person.equal_cells_control,
        expected_replicas=expected,
        stands_out_by=_shares(person.stands_out_by),
        match_by=_shares(person.matched_by),
        near_twin=person.has_near_twin,
        redraws=None if redrawn is None else _spread(redrawn),
        before=_shown(before),
        after=_shown(after),
        status=person.status,
    )


def _shares(shares: tuple[tuple[str, float], ...]) -> list[doc.ColumnShare]:
    return [doc.ColumnShare(column=name, share=share) for name, share in shares]


def _spread(rho: np.ndarray) -> doc.Spread:
    low, middle, high = np.quantile(rho, [0.05, 0.5, 0.95]).tolist()
    return doc.Spread(rho_low=low, rho_median=middle, rho_high=high)


def _shown(cells: Mapping[str, Any]) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in cells.items()}


def _redraws(assessment: Assessment) -> doc.Redraws | None:
    redrawn, people = assessment.privacy.redrawn, assessment.people
    if redrawn is None or not people:
        return None
    ratios = [next(r.rho for r in person.ratios if r.lens == "E") for person in people]
    worst = redrawn.rho.min(axis=1)
    low, middle, high = np.quantile(worst, [0.05, 0.5, 0.95]).tolist()
    measure = Measure.of(
        middle,
        name="smallest rho of a release, over fresh keys",
        direction="higher is safer",
        n=worst.size,
        interval=(low, high),
    )
    return doc.Redraws(
        n=worst.size,
        words=f"this key was {redrawn.luck(np.array(ratios))}",
        worst=measured(measure, definition="redraws", good="about 1"),
        verdicts={word: redrawn.words.count(word) for word in WORDS},
    )


def _control(control: Control) -> doc.Control:
    told, nearest = (
        None if measure is None else measured(measure, definition="control", good="about one half")
        for measure in (control.told_apart, control.nearest)
    )
    return doc.Control(
        kind=control.kind,
        words=control.words,
        people=control.n_people,
        halves=control.n_halves,
        told_apart=told,
        nearest=nearest,
    )
