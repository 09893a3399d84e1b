"""An assessment as plain values, in two editions: for those in charge, and for everybody.

The public edition has aggregates only: rounded to three digits, no cell, no row number, no largest
or smallest value, no name of a level. `schema.json` in this folder describes both.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import numpy as np
import polars as pl

from icsa.assessment.json_utility import utility_dict
from icsa.assessment.json_values import DIGITS, measure_dict, rounded, tidy
from icsa.assessment.measure_words import MEASURES
from icsa.assessment.records import Assessment, Edition
from icsa.errors import UnknownNameError
from icsa.measures import Measure
from icsa.privacy import Person, Reason
from icsa.privacy.before_release import RedrawnRisk

__all__ = ["SCHEMA_VERSION", "assessment_dict"]

SCHEMA_VERSION = 1
_MOST_ROWS_SHOWN = 20
_STATUSES = ("replicated", "look", "hidden", "near twin")


def assessment_dict(assessment: Assessment, edition: Edition) -> dict[str, Any]:
    """Return an assessment as values that JSON knows; nothing in it is NaN or infinite."""
    if edition not in get_args(Edition):
        raise UnknownNameError("edition", str(edition), get_args(Edition))
    public = edition == "public"
    privacy = assessment.privacy
    result: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "edition": edition,
        "verdict": assessment.verdict,
        "reasons": [_reason(reason, public) for reason in assessment.reasons],
        "self_test": {
            "trusted": privacy.trusted,
            "why": privacy.why_not_trusted,
            "copy": {"verdict": privacy.ends[0].word},
            "shuffled": {"verdict": privacy.ends[1].word},
        },
        "tables": _tables(assessment),
        "making": assessment.making,
        "privacy": {
            key: _named_measure(key, measure, assessment)
            for key, measure in assessment.measures.items()
        },
        "people_summary": _people_summary(assessment, public),
        "redraws": _redraws(assessment),
        "utility": utility_dict(assessment, public),
        "policy": [
            {"name": item.name, **vars(getattr(assessment.policy, item.name))}
            for item in fields(assessment.policy)
        ],
        "versions": dict(assessment.versions),
    }
    if not public:
        result["people"] = _people(assessment)
    document: dict[str, Any] = tidy(result, DIGITS if public else None)
    return document


def _reason(reason: Reason, public: bool) -> str:
    text = reason.text[:1].upper() + reason.text[1:]
    if public or not reason.rows:
        return f"{text}."
    shown = ", ".join(str(row + 1) for row in reason.rows[:_MOST_ROWS_SHOWN])
    more = len(reason.rows) - _MOST_ROWS_SHOWN
    word = "row" if len(reason.rows) == 1 else "rows"
    return f"{text} ({word} {shown}{f' and {more} more' if more > 0 else ''})."


def _tables(assessment: Assessment) -> dict[str, Any]:
    found = assessment.tables
    return {
        "original": dict(zip(("rows", "columns"), found.original.frame.shape, strict=True)),
        "released": dict(zip(("rows", "columns"), found.released.frame.shape, strict=True)),
        "matched": list(found.matched),
        "only_original": list(found.only_original),
        "only_released": list(found.only_released),
        "notes": list(found.notes),
    }


def _named_measure(key: str, measure: Measure, assessment: Assessment) -> dict[str, Any]:
    words = MEASURES[key]
    copy, shuffled = assessment.ends.get(key, (None, None))
    return {
        **measure_dict(measure, label=words.label, definition=words.definition, good=words.good),
        "also": list(words.also),
        "ends": {"copy": copy, "shuffled": shuffled},
    }


def _statuses(assessment: Assessment) -> list[str]:
    """Return each person's word, of the four of the report, in the order of people."""
    in_parts = any(reason.rule == "parts" for reason in assessment.reasons)
    return [_status(person, in_parts) for person in assessment.people]


def _status(person: Person, in_parts: bool) -> str:
    """Return the person's word.

    One in twenty has cells in common with a released row by chance: that counts where it is a
    finding about the group.
    """
    if person.status == "replicated":
        return "replicated"
    if person.status == "nothing found" or (person.status == "repeated in part" and not in_parts):
        return "hidden"
    return "near twin" if person.has_near_twin else "look"


def _people_summary(assessment: Assessment, public: bool) -> dict[str, Any]:
    people, chosen = assessment.people, assessment.privacy.standing_out
    words = _statuses(assessment)
    picture = []
    for person, status in zip(people, words, strict=True):
        worst = person.worst
        point: dict[str, Any] = {"alone": worst.d_org, "near": worst.d_rel}
        if public:
            point = {key: rounded(value, 2) for key, value in point.items()}
        else:
            point["row"] = person.row + 1
        picture.append({**point, "status": status})
    if public:  # in an order that has nothing to do with who stands out most
        picture.sort(key=lambda point: (point["alone"] or 0.0, point["near"] or 0.0))
    return {
        "count": len(people),
        "beyond": chosen.n_beyond,
        "left_out": chosen.n_left_out,
        "status": {status: words.count(status) for status in _STATUSES},
        "picture": picture,
    }


def _people(assessment: Assessment) -> list[dict[str, Any]]:
    redrawn = assessment.privacy.redrawn
    tables = assessment.tables
    names = [column.name for column in tables.columns]
    order = [name for name in tables.original.frame.columns if name in names]
    original, released = tables.original.frame[order], tables.released.frame[order]
    return [
        {
            **_person(person, k, redrawn, original, released),
            "status": status,
        }
        for k, (person, status) in enumerate(
            zip(assessment.people, _statuses(assessment), strict=True)
        )
    ]


def _person(
    person: Person,
    place: int,
    redrawn: RedrawnRisk | None,
    original: pl.DataFrame,
    released: pl.DataFrame,
) -> dict[str, Any]:
    worst = person.worst
    expected = None
    if person.expected_replicas is not None:
        expected = {"value": person.expected_replicas, "high": person.expected_replicas_high}
    return {
        "row": person.row + 1,
        "why": person.why,
        "robust_distance": person.robust_distance,
        "d_org": worst.d_org,
        "d_rel": worst.d_rel,
        "rho": worst.rho,
        "worst_lens": person.worst_lens,
        "p": person.corrected_chance,
        "attack": {"success": person.attack, "control": person.attack_control},
        "h": person.equal_cells,
        "h_control": person.equal_cells_control,
        "expected_replicas": expected,
        "stands_out_by": _shares(person.stands_out_by),
        "match_by": _shares(person.matched_by),
        "near_twin": person.has_near_twin,
        "redraws": None if redrawn is None else _spread(redrawn.rho[:, place]),
        "before": _cells(original, person.row),
        "after": _cells(released, person.released_row),
    }


def _shares(shares: tuple[tuple[str, float], ...]) -> list[dict[str, Any]]:
    return [{"column": name, "share": share} for name, share in shares]


def _spread(rho: np.ndarray) -> dict[str, float]:
    low, middle, high = np.quantile(rho, [0.05, 0.5, 0.95])
    return {"rho_low": float(low), "rho_median": float(middle), "rho_high": float(high)}


def _cells(frame: pl.DataFrame, row: int) -> dict[str, str]:
    cells = frame.row(row, named=True)
    return {name: "" if value is None else str(value) for name, value in cells.items()}


def _redraws(assessment: Assessment) -> dict[str, Any] | None:
    redrawn, people = assessment.privacy.redrawn, assessment.people
    if redrawn is None or not people:
        return None
    ratios = [next(r.rho for r in person.ratios if r.lens == "E") for person in people]
    worst = redrawn.rho.min(axis=1)
    low, middle, high = np.quantile(worst, [0.05, 0.5, 0.95])
    measure = Measure.of(
        float(middle),
        name="smallest rho of a release, over fresh keys",
        direction="higher is safer",
        n=worst.size,
        interval=(float(low), float(high)),
    )
    return {
        "n": int(worst.size),
        "words": f"this key was {redrawn.luck(np.array(ratios))}",
        "worst": measure_dict(measure, definition="redraws", good="about 1"),
    }
