"""The page of an assessment: one HTML file that fetches nothing and computes nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from icsa.assessment.document import Document
from icsa.errors import InputError
from icsa.files import write_text_atomically
from icsa.report import wording
from icsa.report.assessment_view import Limits, assessment_view, measure_lines
from icsa.report.glossary import anchor

__all__ = ["MOST_BYTES", "assessment_html", "write_assessment_report"]

MOST_BYTES = 2_000_000

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
    for limits in _LIMITS:
        view = assessment_view(document, limits)
        page: str = _template().render(doc=document, limits=limits, **view)
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


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("icsa.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    words = ("count", "dashed", "listed", "measured", "number", "plural", "shortened")
    environment.filters.update({name: getattr(wording, name) for name in words})
    environment.filters.update(anchor=anchor, measure_lines=measure_lines)
    return environment.get_template("assessment.html")
