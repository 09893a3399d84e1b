"""The page of an assessment: one HTML file that fetches nothing and computes nothing.

What it shows besides the document are words, rounded numbers, drawings and counts of what is
listed. Nothing that the public edition may not show is passed on to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from icsa.assessment.answers import (
    attack_lines,
    control_answer,
    copied_answer,
    is_another_table,
    loss_answer,
    noticed_answer,
    tried_attackers,
)
from icsa.assessment.document import Document, Person
from icsa.assessment.document_parts import Measure, Number
from icsa.assessment.public_edition import FEW, public_edition
from icsa.errors import InputError
from icsa.files import write_text_atomically
from icsa.privacy import Policy
from icsa.privacy.reasons import STATUSES, WORDS
from icsa.report import wording
from icsa.report.drawings import MOST_POINTS, RANKS, mark_key, mark_symbol, standing_out_picture
from icsa.report.fingerprints import FINGERPRINTS, embedded_fingerprints
from icsa.report.glossary import GLOSSARY, anchor
from icsa.report.page_templates import page_template
from icsa.report.strips import scale_bar
from icsa.report.units_view import units_view
from icsa.report.utility_view import utility_view
from icsa.report.wording import (
    chance,
    count,
    dashed,
    measured,
    number,
    plural,
    shares,
    shortened,
)

__all__ = ["MOST_BYTES", "Limits", "assessment_html", "write_assessment_report"]

MOST_BYTES = 2_000_000
_MOST_CELLS = 100
# Who answers for thresholds that nobody changed.
_USUAL_OWNER = Policy().person_chance.owner
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
    """How much of a long list is shown; the rest is counted."""

    people: int = 1_000  # lines of the passport
    cells: int = 3_000  # lines of all before-and-after tables together
    columns: int = 200  # lines of tables with a line for each column


# Ever shorter lists, until the page is small enough.
_LIMITS = (Limits(), Limits(400, 1_000, 100), Limits(100, 200, 40), Limits(20, 0, 10))


def assessment_html(document: Document) -> str:
    """Return an assessment as one self-contained HTML page of less than two megabytes.

    Parameters
    ----------
    document : Document
        What `Assessment.document` gives. Its edition decides: "internal" may show row numbers and
        cells and says CONFIDENTIAL; "public" shows aggregates only, whatever else is given.

    Returns
    -------
    str
        Long lists are cut, and say how many more there are.
    """
    if document.edition == "public":
        document = public_edition(document)  # whatever was given
    for limits in _LIMITS:
        view = _view(document, limits)
        page: str = _template().render(doc=document, limits=limits, glossary=[], **view)
        entries = _entries(page)
        page = _template().render(doc=document, limits=limits, glossary=entries, **view)
        if len(page.encode()) < MOST_BYTES:
            return page
    raise InputError(
        f"The report is larger than {MOST_BYTES:,} bytes even with the shortest lists: its "
        "reasons, warnings, notes or models are too long. Assess fewer models, or read the JSON."
    )


def write_assessment_report(document: Document, path: Path, *, force: bool = False) -> None:
    """Write an assessment's page to a file, as a whole or not at all.

    Parameters
    ----------
    document : Document
        See `assessment_html`.
    path : Path
        Its folder must be there.
    force : bool
        Replace a file that is there already.
    """
    if path.exists() and not force:
        raise InputError(f"{path} is there already. Give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}. Make it first, or give another name.")
    write_text_atomically(path, assessment_html(document))


def _template() -> Any:
    words = ("count", "dashed", "listed", "measured", "number", "plural", "shortened")
    filters = {name: getattr(wording, name) for name in words}
    return page_template("assessment.html", anchor=anchor, measure_lines=_measure_lines, **filters)


def _view(document: Document, limits: Limits) -> dict[str, Any]:
    """Return what the template shows besides the document itself, by name."""
    internal = document.edition == "internal"
    return {
        "internal": internal,
        "meaning": WORDS[document.verdict],
        # Columns that only one table has are said beside the notes.
        "notes": [note for note in document.tables.notes if not note.startswith("Only in the ")],
        "decided": not is_another_table(document),
        "copied": copied_answer(document),
        "noticed": noticed_answer(document),
        "loss": loss_answer(document),
        "attacks": attack_lines(document),
        "control": control_answer(document),
        "tried": tried_attackers(document) if internal else [],
        "handed": _handed_in(document, internal),
        "fingerprints": {"name": FINGERPRINTS, "content": embedded_fingerprints(document)},
        "few": FEW,
        "usual_owner": _USUAL_OWNER,
        "people": _people(document, internal, limits),
        "privacy": _measure_lines(document.privacy.values()),
        "utility": utility_view(document.utility, internal=internal, most=limits.columns),
        "units": units_view(document.units, internal=internal) if document.units else None,
    }


def _entries(page: str) -> list[dict[str, Any]]:
    """Return the entries of the glossary that a page links to."""
    linked = set(re.findall(r'href="#(glossary-[\w-]+)"', page))
    return [
        {"anchor": anchor(key), "term": term}
        for key, term in GLOSSARY.items()
        if anchor(key) in linked
    ]


def _handed_in(document: Document, internal: bool) -> dict[str, Any]:
    """Return the files with the sizes of their tables, and in words what is no table."""
    sizes = {"original": document.tables.original, "release": document.tables.released}
    roles = [file.role for file in document.handed_in.files]
    own = any(threshold.owner != _USUAL_OWNER for threshold in document.policy)
    return {
        "files": [
            {
                "role": file.role,
                "name": file.name,
                "sha256": file.sha256,
                "rows": count(sizes[file.role].rows) if file.role in sizes else "",
                "columns": count(sizes[file.role].columns) if file.role in sizes else "",
            }
            for file in document.handed_in.files
        ],
        "schema": "the file above"
        if "schema" in roles
        else "the columns’ kinds were found from the table, or given by the program that called"
        if internal
        else "in the internal edition only: it may name columns and levels that were not released",
        "policy": "the file above; its thresholds are below"
        if "policy" in roles
        else "thresholds of its own, below"
        if own
        else "the usual thresholds of icsa, below",
    }


def _measure_lines(measures: Iterable[Measure]) -> list[dict[str, Any]]:
    """Return a line of a table for each measure."""
    return [
        {
            "anchor": anchor(measure.definition),
            "label": measure.label,
            "estimate": measured(measure),
            "missing": measure.value is None,
            "n": count(measure.n) if measure.n else "",
            "reading": _reading(measure),
            "also": ", ".join(measure.also),
            "copied_end": _end(measure, measure.ends.copy),
            "shuffled_end": _end(measure, measure.ends.shuffled),
            "bar": scale_bar(measure),
        }
        for measure in measures
    ]


def _reading(measure: Measure) -> str:
    """Return which way is good, and what; of a yardstick only that it is one."""
    if measure.direction == "neither":
        return measure.good
    return f"{measure.direction}; good: {measure.good}" if measure.good else measure.direction


def _end(measure: Measure, value: Number) -> str:
    return "–" if value is None else measured(replace(measure, value=value, low=None, high=None))


def _people(document: Document, internal: bool, limits: Limits) -> dict[str, Any]:
    summary = document.people_summary
    points = summary.picture if internal else []
    people = sorted(document.people, key=_place) if internal and document.people else []
    shown = people[: limits.people]
    detailed = _side_by_side(shown, limits.cells)
    redrawn = any(person.redraws for person in shown)
    return {
        "summary": summary,
        "count": f"{FEW} people were"
        if summary.count is None
        else f"{plural(summary.count, 'person was', 'people were')}",
        "statuses": [
            {"name": s, "n": _told(summary.status[s]), "words": words, "symbol": mark_symbol(s)}
            for s, words in STATUSES.items()
            if summary.status.get(s, 0) != 0
        ],
        "picture": standing_out_picture(points) if points else "",
        "undrawn": len(points) - MOST_POINTS,
        "headings": [(anchor(key), text) for key, text in _PASSPORT if redrawn or key != "redraws"],
        "lines": [
            _passport_line(person, redrawn, len(detailed) > k) for k, person in enumerate(shown)
        ],
        "more": len(people) - len(shown),
        "detailed": detailed,
        "not_detailed": len(people) - len(detailed),
        "hidden_columns": max(0, len(shown[0].before) - _MOST_CELLS) if detailed else 0,
    }


def _told(n: int | None) -> str:
    return "some" if n is None else count(n)


def _place(person: Person) -> tuple[float, ...]:
    """Return what people are ordered by, the worst first."""
    numbers = (person.p, person.rho)
    return RANKS[person.status], *(float("inf") if n is None else n for n in numbers)


def _passport_line(person: Person, redrawn: bool, detailed: bool) -> dict[str, Any]:
    replicas, again = person.expected_replicas, person.redraws
    cells = [
        _cell(person.robust_distance),
        _cell(person.d_org),
        _cell(person.d_rel),
        _cell(person.rho),
        (None, person.worst_lens),
        (_sorting(person.p), chance(person.p)),
        _pair(replicas.value, replicas.high) if replicas else (None, "–"),
        _pair(person.attack.success, person.attack.control),
        _pair(person.h, person.h_control),
        (None, shares(person.stands_out_by)),
        (None, shares(person.match_by)),
    ]
    if redrawn:
        ends = again and [number(end) for end in (again.rho_median, again.rho_low, again.rho_high)]
        text = f"{ends[0]} ({ends[1]} to {ends[2]})" if ends else "–"
        cells.append((again.rho_median if again else None, text))
    return {
        "row": person.row,
        "link": detailed,
        "status": person.status,
        "rank": RANKS[person.status],
        "twin": person.near_twin and person.status != "near twin",
        "key": mark_key(person.status),
        "why": person.why,
        "cells": cells,
    }


def _cell(value: Number) -> tuple[object, str]:
    return _sorting(value), number(value)


def _sorting(value: Number) -> object:
    """Return what a column is sorted by: enough digits for the order, no more."""
    return f"{value:.6g}" if isinstance(value, float) else value


def _pair(value: Number, control: Number) -> tuple[object, str]:
    if value is None or control is None:
        return _sorting(value), dashed(value)
    return _sorting(value), f"{number(value)} ({number(control)})"


def _side_by_side(people: Sequence[Person], most_lines: int) -> list[dict[str, Any]]:
    """Return before and after of as many people as there is room for, worst first."""
    detailed: list[dict[str, Any]] = []
    room = most_lines
    for person in people:
        share = {part.column: part.share for part in person.stands_out_by}
        names = sorted(person.before, key=lambda name: -share.get(name, 0.0))[:_MOST_CELLS]
        if not names or room < len(names):
            break
        room -= len(names)
        cells = [(name, person.before[name], person.after[name]) for name in names]
        detailed.append(
            {
                "row": person.row,
                "status": person.status,
                "found": person.status != "hidden",
                "lines": [(*map(shortened, cell), cell[1] == cell[2]) for cell in cells],
            }
        )
    return detailed
