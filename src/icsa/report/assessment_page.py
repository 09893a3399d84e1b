"""The page of an assessment: one HTML file that fetches nothing and computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from icsa.errors import InputError
from icsa.files import write_text_atomically
from icsa.report.assessment_view import Limits, assessment_view

__all__ = ["MOST_BYTES", "assessment_html", "write_assessment_report"]

MOST_BYTES = 2_000_000

_EDITIONS = ("internal", "public")
_VERDICTS = ("release", "look again", "do not release")
_VERSION = 1
# Ever shorter lists, until the page is small enough.
_LIMITS = (Limits(), Limits(400, 1_000, 100), Limits(100, 200, 40), Limits(20, 0, 10))


def assessment_html(assessment: Mapping[str, Any]) -> str:
    """Return an assessment as one self-contained HTML page of less than two megabytes.

    Parameters
    ----------
    assessment : mapping
        What `Assessment.as_dict` gives. Its "edition" decides: "internal" may show row numbers and
        cells and says CONFIDENTIAL; "public" shows aggregates only, whatever else is given.

    Returns
    -------
    str
        Long lists are cut, and say how many more there are.

    Examples
    --------
    >>> page = assessment_html({"schema_version": 1, "edition": "public", "verdict": "release"})
    >>> page.startswith("<!doctype html>"), "CONFIDENTIAL" in page
    (True, False)
    """
    _check(assessment)
    for limits in _LIMITS:
        page: str = _template().render(assessment_view(assessment, limits))
        if len(page.encode()) < MOST_BYTES:
            return page
    raise InputError(
        f"The report is larger than {MOST_BYTES:,} bytes even with the shortest lists: its "
        "reasons, warnings, notes or models are too long. Assess fewer models, or read the JSON."
    )


def write_assessment_report(
    assessment: Mapping[str, Any], path: Path, *, force: bool = False
) -> None:
    """Write an assessment's page to a file, as a whole or not at all.

    Parameters
    ----------
    assessment : mapping
        See `assessment_html`.
    path : Path
        Its folder must be there.
    force : bool
        Replace a file that is there already.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     shown = {"schema_version": 1, "edition": "public", "verdict": "release"}
    ...     write_assessment_report(shown, path)
    ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    if path.exists() and not force:
        raise InputError(f"{path} is there already. Give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}. Make it first, or give another name.")
    write_text_atomically(path, assessment_html(assessment))


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
    return environment.get_template("assessment.html")


def _check(assessment: Mapping[str, Any]) -> None:
    for key, known in (
        ("schema_version", (_VERSION,)),
        ("edition", _EDITIONS),
        ("verdict", _VERDICTS),
    ):
        if assessment.get(key) not in known:
            listed = ", ".join(repr(value) for value in known)
            raise InputError(
                f"An assessment's {key!r} must be one of {listed}: it is something else or "
                "missing. Was it made by another version of icsa?"
            )
