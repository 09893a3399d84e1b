"""The page of a comparison: the advice, the picture and the table, in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from icsa.cards import card
from icsa.choice.losses import GENERAL, OWN
from icsa.measures import Measure
from icsa.report.page_templates import page_template

if TYPE_CHECKING:
    from icsa.choice.comparing import Compared
    from icsa.choice.standings import Standing

__all__ = ["compare_card", "compare_html", "table_of"]

_HEADINGS = ("", "candidate", "word", "risk", "members told", "planted found", "loss")


def compare_html(found: Compared) -> str:
    """Return a comparison as one self-contained HTML page, in the dress of an assessment's."""
    headings, rows = table_of(found)
    page: str = page_template("comparison.html").render(
        advice=found.advice,
        headings=headings,
        rows=rows,
        picture=Markup(found.picture_svg),
        notes=found.notes,
        n_rows=found.n_rows,
        n_columns=found.n_columns,
        plan=found.plan,
        own=sum(not one.candidate.rival for one in found.candidates),
        rivals=sum(bool(one.candidate.rival) for one in found.candidates),
        failed=[one for one in found.candidates if one.why_not],
    )
    return page


def compare_card(found: Compared) -> str:
    """Return what a notebook shows: the advice and the table."""
    headings, rows = table_of(found)
    told = [found.advice.text, found.advice.command]
    lines = [row["cells"] for row in rows]
    return card(repr(found).strip("<>"), told, headings=headings, rows=lines)


def table_of(found: Compared) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the headings and a line for every candidate and rival, in words.

    Lines are dicts: "cells", "name", "rival", "barred" (may not be released) and "advised".
    """
    parts = [
        name for name in (*OWN, *GENERAL) if any(name in one.parts for one in found.candidates)
    ]
    lines = [
        {
            "cells": _cells(number, one, parts),
            "name": one.name,
            "rival": bool(one.candidate.rival),
            "barred": one.word != "release" or bool(one.why_not),
            "advised": one.candidate == found.advice.candidate,
            "fresh": one.fresh,
        }
        for number, one in enumerate(found.candidates, 1)
    ]
    return [*_HEADINGS, *parts], lines


def _cells(number: int, one: Standing, parts: list[str]) -> list[str]:
    word = "cannot be made" if one.why_not else one.word
    losses = [f"{one.parts[name]:.2f}" if name in one.parts else "–" for name in parts]
    shown = [_shown(measure) for measure in (one.risk, one.members, one.planted, one.loss)]
    return [str(number), one.name, word, *shown, *losses]


def _shown(measure: Measure) -> str:
    if measure.value is None:
        return "–"
    if measure.low is None or measure.high is None:
        return f"{measure.value:.2f}"
    return f"{measure.value:.2f} ({max(0.0, measure.low):.2f} to {measure.high:.2f})"
