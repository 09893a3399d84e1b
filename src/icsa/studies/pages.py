"""The pages of studies: figures, tables, claims, and the page with configuration and versions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from icsa.files import write_atomically, write_text_atomically

__all__ = ["Claim", "Section", "claims_table", "study_page", "write_page", "write_tables"]


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
    text : str
        Paragraphs, with an empty line between two.
    table : DataFrame, optional
        Its numbers are shown with four significant digits.
    figure, caption : str
        SVG text, and what it shows.
    """

    title: str
    text: str = ""
    table: pl.DataFrame | None = field(default=None, repr=False)
    figure: str = ""
    caption: str = ""


def claims_table(claims: Sequence[Claim]) -> pl.DataFrame:
    """Return claims as a table: claim, holds (yes or no), figures."""
    rows = [(claim.text, "yes" if claim.holds else "no", claim.detail) for claim in claims]
    return pl.DataFrame(rows, schema=["claim", "holds", "figures"], orient="row")


def write_tables(out: Path, **tables: pl.DataFrame) -> None:
    """Write NAME.csv for every table into a study's folder."""
    for name, table in tables.items():
        write_atomically(out / f"{name}.csv", table.write_csv)


def write_page(
    out: Path,
    title: str,
    introduction: Sequence[str],
    sections: Sequence[Section],
    claims: Sequence[Claim],
    further: Sequence[Claim] = (),
) -> None:
    """Write report.html and claims.csv into a study's folder.

    The page shows what config.json and manifest.json say. Claims that sections of their own answer
    are `further` ones: they are in claims.csv and not above the sections.
    """
    write_tables(out, claims=claims_table([*claims, *further]))
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
    write_text_atomically(out / "report.html", page)


def study_page(
    title: str,
    introduction: Sequence[str],
    sections: Sequence[Section],
    *,
    claims: Sequence[Claim] = (),
    configuration: Mapping[str, Any],
    manifest: Mapping[str, Any],
) -> str:
    """Return one self-contained HTML page.

    Examples
    --------
    >>> section = Section("S", table=pl.DataFrame({"x": [0.123456]}))
    >>> page = study_page("T", ["a < b"], [section], configuration={}, manifest={})
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
    table = pl.DataFrame() if section.table is None else section.table
    return {
        "title": section.title,
        "text": section.text.split("\n\n") if section.text else [],
        "figure": section.figure[section.figure.find("<svg") :] if section.figure else "",
        "caption": section.caption,
        "columns": table.columns,
        "text_columns": {
            column.name for column in table if column.dtype == pl.String and column.count()
        },
        "rows": [[_cell(value) for value in row] for row in table.rows()],
    }


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
