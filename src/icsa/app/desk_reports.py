"""At the desk: an assessment's document as the page shows it, and as the reports to hand out."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from icsa.assessment.answers import (
    attack_lines,
    control_answer,
    copied_answer,
    loss_answer,
    noticed_answer,
    within_chance,
)
from icsa.assessment.document import Document
from icsa.privacy.reasons import STATUSES, WORDS
from icsa.report import assessment_html
from icsa.report.drawings import MOST_POINTS, mark_symbol, standing_out_picture
from icsa.report.utility_view import utility_view
from icsa.report.wording import count

__all__ = ["looked_at", "remedy_parts", "report"]

_MOST_COLUMNS = 200


def looked_at(*, document: str, models: Sequence[str] = ()) -> dict[str, Any]:
    """Return the word and its reasons, who is exposed, attackers, and columns beside each other.

    Parameters
    ----------
    document : str
        The file of an assessment in JSON, internal edition.
    models : sequence of str
        Further files of such, whose models are shown beside.
    """
    shown = _read(document, models)
    utility = utility_view(shown.utility, internal=True, most=_MOST_COLUMNS)
    pairs = utility["pairs"]
    judged = [within_chance(column.distance) for column in shown.utility.columns]
    known = [within for within in judged if within is not None]
    return {
        "word": shown.verdict,
        "meaning": WORDS[shown.verdict],
        "reasons": [
            {
                "says": reason.says,
                "text": reason.text,
                "remedies": [remedy_parts(remedy) for remedy in reason.remedies],
            }
            for reason in shown.reasons
        ],
        "trusted": shown.self_test.trusted,
        "copied": copied_answer(shown),
        "noticed": noticed_answer(shown),
        "loss": loss_answer(shown),
        "attacks": [asdict(line) for line in attack_lines(shown)],
        "control": control_answer(shown),
        "notes": shown.tables.notes,
        "beyond_chance": [len(known) - sum(known), len(known)],
        "people": _people(shown),
        "columns": [
            {
                key: column[key]
                for key in ("name", "kind", "judged", "overlay", "levels", "distance")
            }
            | {"medians": column["medians"], "means": column["means"]}
            for column in utility["columns"]
        ],
        "more_columns": max(0, len(shown.utility.columns) - _MOST_COLUMNS),
        "heat_map": None if pairs is None else pairs["map"],
        "numbered": [] if pairs is None else pairs["numbered"],
        "pairs": [] if pairs is None else [_pair(pair) for pair in pairs["worst"]],
        "clouds": utility["picture"],
        "models": utility["models"],
        "making": None if shown.making is None else _making(shown),
    }


def report(
    *,
    document: str,
    edition: str,
    prepared_by: str = "",
    decided_by: str = "",
    models: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a report's page, with the names of who answers for it.

    Parameters
    ----------
    document : str
        The file of an assessment in JSON, internal edition.
    edition : "internal" or "public"
    prepared_by, decided_by : str
        As ``icsa assess`` takes them.
    models : sequence of str
        Further files of such, whose models are in it too.
    """
    shown = _read(document, models)
    handed = replace(shown.handed_in, prepared_by=prepared_by, decided_by=decided_by)
    page = assessment_html(replace(shown, handed_in=handed, edition=edition))
    return {"page": page}


def remedy_parts(remedy: str) -> dict[str, Any]:
    """Return a remedy, and what of it the page can do: options of the release, columns to drop.

    Examples
    --------
    >>> remedy_parts("icsa anonymize a.csv --recipe topcode --drop age")["options"]
    {'recipe': 'topcode'}
    """
    found: dict[str, Any] = {"text": remedy, "command": False, "options": {}, "drop": []}
    if not remedy.startswith("icsa anonymize "):
        return found
    words = shlex.split(remedy)
    found["command"] = True
    for word, value in itertools.pairwise(words):
        if word in ("--recipe", "--method", "--mask"):
            found["options"][word[2:]] = value
        elif word == "--drop":
            found["drop"].append(value)
    return found


def _read(document: str, models: Sequence[str]) -> Document:
    first, *others = (
        msgspec.json.decode(Path(path).read_bytes(), type=Document) for path in (document, *models)
    )
    every = [model for one in (first, *others) for model in one.utility.models]
    return replace(first, utility=replace(first.utility, models=every))


def _people(shown: Document) -> dict[str, Any]:
    summary = shown.people_summary
    exposed = [
        {"row": person.row, "status": person.status, "why": person.why}
        for person in shown.people or ()
        if person.status != "hidden"
    ]
    return {
        "count": summary.count,
        "rows": count(shown.tables.original.rows),
        "statuses": [
            {"name": name, "n": n, "words": STATUSES[name], "symbol": mark_symbol(name)}
            for name in STATUSES
            if (n := summary.status.get(name))
        ],
        "picture": standing_out_picture(summary.picture) if summary.picture else "",
        "undrawn": max(0, len(summary.picture) - MOST_POINTS),
        "exposed": exposed[:50],
    }


def _pair(pair: Any) -> dict[str, Any]:
    from icsa.report.wording import number

    numbers = (pair.original, pair.released, pair.difference, pair.chance)
    return {"first": pair.first, "second": pair.second, "numbers": [number(n) for n in numbers]}


def _making(shown: Document) -> dict[str, Any]:
    assert shown.making is not None
    return {
        "method": shown.making.method,
        "mask": shown.making.mask,
        "recipe": shown.making.recipe,
        "warnings": shown.making.warnings,
        "relations": shown.making.relations,
    }
