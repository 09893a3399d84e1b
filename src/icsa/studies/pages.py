"""What the pages of all studies share: claims, and the page with configuration and versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from icsa.files import write_atomically
from icsa.report import Section, study_page

__all__ = ["Claim", "claims_section", "table_section", "write_claims", "write_page"]


@dataclass(frozen=True)
class Claim:
    """A sentence, whether the results bear it out, and the figures behind that."""

    text: str
    holds: bool
    detail: str


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
