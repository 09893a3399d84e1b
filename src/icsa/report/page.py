"""The page of a study: figures, tables, claims, configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Section", "study_page"]


@dataclass(frozen=True)
class Section:
    """A part of a page: paragraphs, then a figure, then a table; each may be missing.

    Attributes
    ----------
    title : str
    text : sequence of str
        Paragraphs.
    figure, caption : str
        SVG text, and what it shows.
    columns, rows : sequences
        A table; numbers are shown with four significant digits.
    """

    title: str
    text: Sequence[str] = ()
    figure: str = ""
    caption: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = field(default=(), repr=False)


def study_page(
    title: str,
    introduction: Sequence[str],
    sections: Sequence[Section],
    *,
    claims: Sequence[Any] = (),
    configuration: Mapping[str, Any],
    manifest: Mapping[str, Any],
) -> str:
    """Return one self-contained HTML page.

    Examples
    --------
    >>> page = study_page("T", ["a < b"], [Section("S", columns=["x"], rows=[[0.123456]])],
    ...                   configuration={}, manifest={})
    >>> "a &lt; b" in page, "0.1235" in page
    (True, True)
    """
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("icsa.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("study.html").render(
        title=title,
        introduction=introduction,
        claims=claims,
        sections=[_shown(section) for section in sections],
        configuration=json.dumps(configuration, indent=1),
        manifest=json.dumps(manifest, indent=1),
    )


def _shown(section: Section) -> dict[str, Any]:
    rows = [[_cell(value) for value in row] for row in section.rows]
    text_columns = {
        name
        for position, name in enumerate(section.columns)
        if any(isinstance(row[position], str) for row in section.rows)
    }
    figure = section.figure[section.figure.find("<svg") :] if section.figure else ""
    return {
        "title": section.title,
        "text": section.text,
        "figure": figure,
        "caption": section.caption,
        "columns": section.columns,
        "text_columns": text_columns,
        "rows": rows,
    }


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
