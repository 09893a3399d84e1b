"""An assessment's dictionary as the page shows it: words, rounded numbers and drawings.

Nothing is computed here but counts of what is listed, and nothing that the public edition may not
show is passed on to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icsa.report.drawings import MOST_POINTS, mark_of, mark_symbol, standing_out_picture
from icsa.report.glossary import GLOSSARY, Term, anchor, term_from, term_of
from icsa.report.strips import scale_bar
from icsa.report.utility_view import utility_view
from icsa.report.wording import chance, count, estimate, number, plural, shares, shortened

__all__ = ["Limits", "assessment_view", "measure_lines"]

Record = Mapping[str, Any]

_NAME = 60
_LABEL = 100
_CELL = 60

_MEANINGS = {
    "release": "Nothing was found that speaks against handing this table out. That is not a proof "
    "of anonymity: see what this assessment cannot see.",
    "look again": "Something comes nearer to people who stand out than chance explains. Look at "
    "them before anything is handed out.",
    "do not release": "People who stand out can be recognised in this table, or would be under a "
    "likely key. It must not be handed out as it is.",
}
_PASSPORT = (
    ("row", "row"),
    ("status", "status"),
    ("why", "why chosen"),
    ("robust_distance", "robust distance"),
    ("d_org", "how alone (d_org)"),
    ("d_rel", "how near (d_rel)"),
    ("rho", "rho"),
    ("lens", "worst lens"),
    ("smallest_chance", "P"),
    ("expected_replicas", "Lambda (limit)"),
    ("attack", "attack (control)"),
    ("h", "h (control)"),
    ("stands_out_by", "stands out by"),
    ("match_by", "matched by"),
    ("redraws", "rho under fresh keys"),
)


@dataclass(frozen=True)
class Limits:
    """How much of a long list is shown; the rest is counted.

    Attributes
    ----------
    people : int
        Lines of the passport.
    cells : int
        Lines of all before-and-after tables together.
    columns : int
        Lines of tables with a line for each column.
    """

    people: int = 1_000
    cells: int = 3_000
    columns: int = 200


def assessment_view(assessment: Record, limits: Limits) -> dict[str, Any]:
    """Return what the template shows, by name.

    Parameters
    ----------
    assessment : mapping
        As `Assessment.as_dict` gives it.
    limits : Limits

    Examples
    --------
    >>> view = assessment_view({"edition": "public", "verdict": "release"}, Limits())
    >>> view["verdict"]["word"], view["people"]["count"]
    ('release', 0)
    """
    internal = assessment["edition"] == "internal"
    own_terms: dict[str, Term] = {}
    return {
        "edition": assessment["edition"],
        "internal": internal,
        "verdict": _verdict(assessment),
        "tables": _tables(
            assessment.get("tables") or {}, (assessment.get("utility") or {}).get("columns") or ()
        ),
        "making": _making(assessment.get("making"), limits),
        "people": _people(assessment, internal, limits),
        "privacy": measure_lines(assessment.get("privacy") or {}, own_terms),
        "redraws": _redraws(assessment.get("redraws"), own_terms),
        "utility": utility_view(
            assessment.get("utility") or {},
            internal=internal,
            most=limits.columns,
            lines=lambda measures: measure_lines(measures, own_terms),
        ),
        "policy": assessment.get("policy") or [],
        "versions": assessment.get("versions") or {},
        "glossary": _glossary(own_terms),
    }


def measure_lines(measures: Mapping[str, Record], own_terms: dict[str, Term]) -> list[Record]:
    """Return a line for each measure; those without an entry in the glossary get one.

    Examples
    --------
    >>> own: dict[str, Term] = {}
    >>> line = measure_lines({"mine": {"label": "my risk", "value": 0.25}}, own)[0]
    >>> line["anchor"], line["estimate"], list(own)
    ('glossary-mine', '0.250', ['mine'])
    """
    lines: list[Record] = []
    for key, measure in measures.items():
        known = term_of(str(measure.get("definition") or "")) or term_of(key)
        if known is None:
            own_terms[key] = term_from({"label": key, **measure})
        ends = measure.get("ends") or {}
        lines.append(
            {
                "anchor": anchor(known or key),
                "label": shortened(measure.get("label") or key, _LABEL),
                "estimate": chance(measure["value"])
                if known == "smallest_chance" and measure.get("value") is not None
                else estimate(measure),
                "missing": measure.get("value") is None,
                "n": count(measure["n"]) if measure.get("n") else "",
                "reading": _reading(measure),
                "also": ", ".join(measure.get("also") or ()),
                "copied_end": _end(ends.get("copy"), known),
                "shuffled_end": _end(ends.get("shuffled"), known),
                "bar": scale_bar(measure),
            }
        )
    return lines


def _reading(measure: Record) -> str:
    """Return which way is good, and what; of a yardstick only that it is one."""
    direction, good = measure.get("direction"), measure.get("good")
    if direction == "neither":
        return str(good or "")
    return "; ".join(str(part) for part in (direction, good and f"good: {good}") if part)


def _end(value: object, known: str | None) -> str:
    if value is None:
        return "–"
    return chance(value) if known == "smallest_chance" else estimate({"value": value})


def _verdict(assessment: Record) -> Record:
    word = assessment["verdict"]
    test = assessment.get("self_test") or {}
    ends = [
        ("an exact copy in shuffled order", "copy", "must be “do not release”"),
        ("every column shuffled on its own", "shuffled", "must not be “do not release”"),
    ]
    return {
        "word": word,
        "key": word.replace(" ", "-"),
        "meaning": _MEANINGS[word],
        "reasons": assessment.get("reasons") or [],
        "trusted": bool(test.get("trusted", True)),
        "why_not": test.get("why") or "the self-test gave no reason",
        "ends": [
            {"what": what, "word": (test.get(key) or {}).get("verdict", "not judged"), "must": must}
            for what, key, must in ends
            if test
        ],
    }


def _tables(tables: Record, compared: Sequence[Record]) -> Record:
    sides = [tables.get(side) or {} for side in ("original", "released")]
    sizes = [
        f"{plural(side.get('rows', 0), 'row')} and {plural(side.get('columns', 0), 'column')}"
        for side in sides
    ]
    return {
        "original": sizes[0] if sides[0] else "",
        "released": sizes[1] if sides[1] else "",
        "matched": count(len(tables.get("matched") or ())),
        "compared": count(len(compared)),
        "only": [
            (place, _listed(tables.get(key) or ()))
            for place, key in (("original", "only_original"), ("release", "only_released"))
            if tables.get(key)
        ],
        # Columns that only one table has are said above.
        "notes": [
            note
            for note in tables.get("notes") or []
            if not str(note).startswith(("Only in the original", "Only in the release"))
        ],
    }


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = [shortened(name, _NAME) for name in names[:most]]
    rest = len(names) - most
    return ", ".join([*shown, f"and {rest} more"] if rest > 0 else shown)


def _making(making: Record | None, limits: Limits) -> Record | None:
    if making is None:
        return None
    columns = making.get("columns") or []
    kept = [column["name"] for column in columns if column.get("action") == "kept"]
    return {
        "method": making.get("method") or "not said",
        "scatters": " and ".join(making.get("scatters") or ()) or "not said",
        "mask": making.get("mask") or "not said",
        "recipe": making.get("recipe") or "not said",
        "coordinates": count(making.get("coordinates")),
        "reproducible": bool(making.get("reproducible")),
        "kept": _listed(kept),
        "columns": [
            {**column, "name": shortened(column["name"], _NAME), "kept": column["action"] == "kept"}
            for column in columns[: limits.columns]
        ],
        "more_columns": max(0, len(columns) - limits.columns),
        "warnings": making.get("warnings") or [],
        "relations": (making.get("relations") or [])[: limits.columns],
        "more_relations": max(0, len(making.get("relations") or []) - limits.columns),
    }


def _people(assessment: Record, internal: bool, limits: Limits) -> Record:
    summary = assessment.get("people_summary") or {}
    points = summary.get("picture") or []
    if not internal:
        points = [{key: value for key, value in point.items() if key != "row"} for point in points]
    statuses = summary.get("status") or {}
    ordered = sorted((s for s in statuses if statuses[s]), key=lambda status: mark_of(status).rank)
    people = _worst_first(assessment.get("people") or []) if internal else []
    shown = people[: limits.people]
    detailed, hidden_columns = _side_by_side(shown, limits.cells)
    redrawn = any(person.get("redraws") for person in shown)
    headings = [(anchor(key), text) for key, text in _PASSPORT if redrawn or key != "redraws"]
    return {
        "count": summary.get("count", 0),
        "beyond": count(summary.get("beyond", 0)),
        "left_out": summary.get("left_out", 0),
        "statuses": [
            {
                "name": s,
                "n": count(statuses[s]),
                "words": mark_of(s).words,
                "symbol": mark_symbol(s),
            }
            for s in ordered
        ],
        "picture": standing_out_picture(points) if points else "",
        "undrawn": max(0, len(points) - MOST_POINTS),
        "headings": headings,
        "lines": [
            _passport_line(person, redrawn, len(detailed) > k) for k, person in enumerate(shown)
        ],
        "more": len(people) - len(shown),
        "detailed": detailed,
        "not_detailed": len(people) - len(detailed),
        "hidden_columns": hidden_columns,
    }


def _worst_first(people: Sequence[Record]) -> list[Record]:
    def key(person: Record) -> tuple[float, ...]:
        numbers = [person.get("p"), person.get("rho")]
        return (
            mark_of(person.get("status", "")).rank,
            *(float("inf") if value is None else value for value in numbers),
        )

    return sorted(people, key=key)


def _passport_line(person: Record, redrawn: bool, detailed: bool) -> Record:
    attack, replicas = person.get("attack") or {}, person.get("expected_replicas")
    again, status = person.get("redraws") or {}, person.get("status", "")
    cells = [
        _cell(person.get("robust_distance")),
        _cell(person.get("d_org")),
        _cell(person.get("d_rel")),
        _cell(person.get("rho")),
        (None, person.get("worst_lens") or "–"),
        (_sorting(person.get("p")), chance(person.get("p"))),
        _pair(replicas.get("value"), replicas.get("high")) if replicas else (None, "–"),
        _pair(attack.get("success"), attack.get("control")),
        _pair(person.get("h"), person.get("h_control")),
        (None, shares(person.get("stands_out_by") or [])),
        (None, shares(person.get("match_by") or [])),
    ]
    if redrawn:
        ends = [number(again.get(f"rho_{end}")) for end in ("median", "low", "high")]
        text = f"{ends[0]} ({ends[1]} to {ends[2]})" if again else "–"
        cells.append((again.get("rho_median"), text))
    return {
        "row": person["row"],
        "link": detailed,
        "status": status,
        "rank": mark_of(status).rank,
        "twin": bool(person.get("near_twin")) and status != "near twin",
        "key": mark_of(status).key,
        "why": person.get("why") or "",
        "cells": cells,
    }


def _cell(value: object) -> tuple[object, str]:
    return _sorting(value), number(value)


def _sorting(value: object) -> object:
    """Return what a column is sorted by: enough digits for the order, no more."""
    return f"{value:.6g}" if isinstance(value, float) else value


def _pair(value: object, control: object) -> tuple[object, str]:
    if value is None:
        return None, "–"
    return _sorting(value), number(
        value
    ) if control is None else f"{number(value)} ({number(control)})"


def _side_by_side(people: Sequence[Record], most_lines: int) -> tuple[list[Record], int]:
    """Return before and after of as many people as there is room for, worst first."""
    detailed: list[Record] = []
    hidden, room = 0, most_lines
    for person in people:
        before, after = person.get("before") or {}, person.get("after") or {}
        columns = _ordered_columns(
            person, [*before, *(name for name in after if name not in before)]
        )
        if not columns or room < min(len(columns), 100):
            break
        shown = columns[:100]
        room -= len(shown)
        hidden = max(hidden, len(columns) - len(shown))
        lines = [
            (
                shortened(name, _NAME),
                shortened(before.get(name, "–"), _CELL),
                shortened(after.get(name, "–"), _CELL),
                before.get(name) == after.get(name),
            )
            for name in shown
        ]
        status = person.get("status", "")
        found = mark_of(status).key != "nothing"
        detailed.append({"row": person["row"], "status": status, "found": found, "lines": lines})
    return detailed, hidden


def _ordered_columns(person: Record, names: Sequence[str]) -> list[str]:
    share = {part["column"]: part["share"] for part in person.get("stands_out_by") or []}
    return sorted(names, key=lambda name: -share.get(name, 0.0))


def _redraws(redraws: Record | None, own_terms: dict[str, Term]) -> Record | None:
    if redraws is None:
        return None
    worst = redraws.get("worst")
    return {
        "n": count(redraws.get("n")),
        "words": redraws.get("words") or "",
        "worst": measure_lines({"rho": worst}, own_terms) if worst else [],
    }


def _glossary(own_terms: Mapping[str, Term]) -> list[Record]:
    entries = [*GLOSSARY.items(), *((key, own_terms[key]) for key in sorted(own_terms))]
    by_anchor: dict[str, Term] = {}
    for key, term in entries:
        by_anchor.setdefault(anchor(key), term)
    return [{"anchor": place, "term": term} for place, term in by_anchor.items()]
