"""The pages of studies: figures, tables, claims, and the page with configuration and versions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from icsa.files import write_atomically

__all__ = [
    "Claim",
    "Section",
    "claims_section",
    "study_page",
    "table_section",
    "write_claims",
    "write_page",
]


@dataclass(frozen=True)
class Claim:
    """A sentence, whether the results bear it out, and the figures behind that."""

    text: str
    holds: bool
    detail: str


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


def claims_section(title: str, text: str, claims: Sequence[Claim]) -> Section:
    """Return a part of a page that answers claims of its own.

    Examples
    --------
    >>> claims_section("Sums", "By hand.", [Claim("1 + 1 is 3.", False, "2")]).rows
    [('1 + 1 is 3.', 'no', '2')]
    """
    rows = [(claim.text, "yes" if claim.holds else "no", claim.detail) for claim in claims]
    return Section(title, text=[text], columns=("claim", "holds", "figures"), rows=rows)


def table_section(title: str, text: str, frame: pl.DataFrame) -> Section:
    """Return a part of a page that shows a whole table.

    Examples
    --------
    >>> table_section("Sums", "By hand.", pl.DataFrame({"1 + 1": [2]})).rows
    [(2,)]
    """
    return Section(title, text=[text], columns=frame.columns, rows=frame.rows())


def write_claims(out: Path, claims: Sequence[Claim]) -> None:
    """Write claims.csv: claim, holds (yes or no), figures."""
    section = claims_section("", "", claims)
    table = pl.DataFrame(section.rows, schema=list(section.columns), orient="row")
    write_atomically(out / "claims.csv", table.write_csv)


def write_page(
    out: Path,
    title: str,
    introduction: Sequence[str],
    sections: Sequence[Section],
    claims: Sequence[Claim],
) -> None:
    """Write report.html into a study's folder, with what config.json and manifest.json say."""
    configuration, manifest = (
        json.loads((out / name).read_text(encoding="utf-8"))
        for name in ("config.json", "manifest.json")
    )
    page = study_page(
        title,
        introduction,
        sections,
        claims=claims,
        configuration=configuration,
        manifest=manifest,
    )
    write_atomically(out / "report.html", lambda path: path.write_text(page, encoding="utf-8"))


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
        loader=PackageLoader("icsa.studies"), autoescape=True, trim_blocks=True, lstrip_blocks=True
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
