"""What the pages of all studies share: claims, and the page with configuration and versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from icsa.files import write_atomically
from icsa.report import Section, study_page

__all__ = ["Claim", "write_page"]


@dataclass(frozen=True)
class Claim:
    """A sentence, whether the results bear it out, and the figures behind that."""

    text: str
    holds: bool
    detail: str


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
