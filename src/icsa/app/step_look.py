"""The fourth step: the release beside the original, the word, remedies; releases side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from icsa.app.command_lines import assess_line, schema_name
from icsa.app.forms import Form
from icsa.app.guard import report_policy
from icsa.app.project import READING, Project, Tried
from icsa.app.site import Site, to
from icsa.app.step_release import ASSESSMENT, METHODS, RECIPES, with_original
from icsa.app.workshop import Work, run_command
from icsa.errors import InputError

__all__ = ["add_model", "model_files", "show_look", "show_report", "take_remedy"]

_LONGEST_FORMULA = 500


async def show_look(site: Site, request: Request) -> Response:
    """Show a release, by default the last one; others stand beside it."""
    project = site.project
    if not project.tried:
        return to("release" if project.is_open else "file")
    number = request.path_params.get("number", project.tried[-1].number)
    tried = project.release(number)
    folder = project.folder_of(tried.number)
    seen = await site.desk.ask(
        "look", document=str(folder / ASSESSMENT), models=model_files(project, tried)
    )
    line = assess_line(
        project.file, tried.file, "--report", "confidential.html", *_model_options(tried)
    )
    return site.page("look", tried=tried, seen=seen, line=line, recipes=RECIPES, methods=METHODS)


async def show_report(site: Site, request: Request) -> Response:
    """Show the confidential report, inside the page."""
    project = site.project
    tried = project.release(request.path_params["number"])
    made = await site.desk.ask(
        "report",
        document=str(project.folder_of(tried.number) / ASSESSMENT),
        edition="internal",
        prepared_by=project.prepared_by,
        decided_by=project.decided_by,
        models=model_files(project, tried),
    )
    headers = {"Content-Security-Policy": report_policy(made["page"])}
    return HTMLResponse(made["page"], headers=headers)


async def take_remedy(site: Site, _request: Request, form: Form) -> Response:
    """Go back to the step that a remedy changes, with its change made."""
    project = site.project
    if not project.is_open:
        raise InputError("The table is not open. Choose its file again first.")
    project.choices = {
        key: form.one(key)
        for key, known in (("recipe", RECIPES), ("method", METHODS))
        if form.one(key) in known and form.one(key) != next(iter(known))
    }
    project.save()
    names = [column["name"] for column in project.view["columns"]]
    changes = [
        {"column": names.index(name), "key": "action", "value": "drop"}
        for name in form.every("drop")
        if name in names
    ]
    if not changes:
        return to("release")
    file = {key: project.file.get(key) for key in ("path", *READING)}
    view = await site.desk.ask("change", file=file, text=project.text, changes=changes)
    project.take_schema(view)
    return to(f"columns#c{changes[0]['column']}")


async def add_model(site: Site, request: Request, form: Form) -> Response:
    """Fit a regression to both tables: a formula of one's own."""
    project = site.project
    tried = project.release(request.path_params["number"])
    formula = form.one("formula").strip()
    if not project.is_open:
        raise InputError("The table is not open. Choose its file again first.")
    if "~" not in formula or len(formula) > _LONGEST_FORMULA:
        raise InputError(
            "A model is written as response ~ column + column, such as bmi ~ age + sex."
        )

    async def fit(work: Work) -> None:
        folder = project.folder_of(tried.number)
        beside = folder / "model"
        shutil.rmtree(beside, ignore_errors=True)  # of a server that was killed
        beside.mkdir(mode=0o700)
        try:
            with_original(project, beside)
            (beside / schema_name(project.file)).write_text(tried.schema, encoding="utf-8")
            shutil.copy(folder / tried.file, beside / tried.file)
            line = assess_line(project.file, tried.file, "--json", "model.json", "--quiet")
            await run_command(work, [*line, "--rehearse", "0", "--model", formula], beside)
            if work.state == "running":
                (beside / "model.json").rename(folder / f"model-{len(tried.models) + 1}.json")
                tried.models.append(formula)
                project.save()
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    page = f"look/{tried.number}"
    work = Work(title="Fitting a model to both tables", back=page, then=f"{page}#models")
    await site.workshop.begin(work, fit, 0.2)
    return to("working")


def model_files(project: Project, tried: Tried) -> list[str]:
    """Return the files of a release's own models."""
    folder: Path = project.folder_of(tried.number)
    return [str(folder / f"model-{number}.json") for number in range(1, len(tried.models) + 1)]


def _model_options(tried: Tried) -> list[str]:
    return [word for formula in tried.models for word in ("--model", formula)]
