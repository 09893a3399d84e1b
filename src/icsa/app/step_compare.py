"""Choose for me: candidates race against each other; the advice, its picture, and taking it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from icsa.app.command_lines import compare_line, schema_name
from icsa.app.forms import Form
from icsa.app.guard import report_policy
from icsa.app.project import Project
from icsa.app.site import Site, to
from icsa.app.step_release import with_original
from icsa.app.workshop import Work, run_command
from icsa.errors import InputError

__all__ = ["show_comparison", "start_comparison", "take_advice"]

_JSON, _PAGE = "comparison.json", "comparison.html"
_MINUTES = ("1", "5", "20")


async def start_comparison(site: Site, _request: Request, form: Form) -> Response:
    """Have several ways to release the table race against each other."""
    project = site.project
    if not project.is_open:
        raise InputError("There is nothing to compare yet. Choose a file first.")
    if project.problem:
        raise InputError(f"The schema is not in order yet: {project.problem}")
    minutes = form.one("minutes") if form.one("minutes") in _MINUTES else _MINUTES[1]
    work = Work(
        title="Comparing ways to release this table",
        back="release",
        then="release#advice",
    )
    await site.workshop.begin(work, lambda work: _compare(project, work, minutes), 0.2)
    return to("working")


async def _compare(project: Project, work: Work, minutes: str) -> None:
    beside, folder = project.comparison.with_name("racing"), project.comparison
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(mode=0o700)
    try:
        (beside / schema_name(project.file)).write_text(project.text, encoding="utf-8")
        with_original(project, beside)
        more = ("--budget", minutes, "--json", _JSON, "--report", _PAGE)
        await run_command(work, [*compare_line(project.file, *more), "--quiet"], beside)
        if work.state != "running":
            return
        said = json.loads((beside / _JSON).read_text(encoding="utf-8"))["advice"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        for name in (_JSON, _PAGE):
            shutil.move(beside / name, folder / name)
            (folder / name).chmod(0o600)
        project.advice = {**said, "minutes": minutes, "schema": project.text}
        project.save()
    finally:
        shutil.rmtree(beside, ignore_errors=True)


async def show_comparison(site: Site, _request: Request) -> Response:
    """Show the comparison's page, inside ours."""
    path: Path = site.project.comparison / _PAGE
    if not path.is_file():
        raise InputError("There is no comparison yet.")
    page = path.read_text(encoding="utf-8")
    headers = {"Content-Security-Policy": report_policy(page)}
    return HTMLResponse(page, headers=headers)


async def take_advice(site: Site, _request: Request, _form: Form) -> Response:
    """Choose what the comparison advised."""
    project = site.project
    if not project.advice:
        raise InputError("There is no comparison yet.")
    project.choices = _as_choices(project.advice.get("options", {}))
    project.save()
    return to("release")


def _as_choices(options: dict[str, Any]) -> dict[str, str]:
    """Return options of a release as the page's choices; the usual ones are not said.

    Examples
    --------
    >>> _as_choices({"method": "icsa", "recipe": "topcode", "scatters": ["hr", "tyler"]})
    {'recipe': 'topcode', 'scatters': 'hr,tyler'}
    """
    usual = {"method": "icsa", "recipe": "mixed"}
    told = {
        key: ",".join(value) if isinstance(value, list) else str(value)
        for key, value in options.items()
        if key in ("method", "recipe", "mask", "scatters") and value
    }
    return {key: value for key, value in told.items() if usual.get(key) != value}
