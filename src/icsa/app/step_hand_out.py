"""The last step: which release is handed out, by whom, and what stays in the house."""

from __future__ import annotations

from pathlib import PurePath

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from icsa.app.command_lines import assess_line, schema_name
from icsa.app.forms import Form
from icsa.app.project import Project
from icsa.app.site import Site, download, to
from icsa.app.step_look import model_files
from icsa.app.step_release import ASSESSMENT
from icsa.errors import InputError

__all__ = ["download_part", "give_names", "mark", "show_hand_out"]

_LONGEST_NAME = 200


async def show_hand_out(site: Site, _request: Request) -> Response:
    """Show the releases, the one that is handed out, and its files."""
    project = site.project
    if not project.tried:
        return to("release" if project.is_open else "file")
    chosen = project.marked if project.marked is not None else None
    tried = project.release(chosen) if chosen is not None else None
    line = None
    if tried is not None:
        names = [("--prepared-by", project.prepared_by), ("--decided-by", project.decided_by)]
        told = [word for option, name in names if name for word in (option, name)]
        more = ("--report", "confidential.html", "--public-report", "public.html")
        line = assess_line(project.file, tried.file, *more, *told)
    return site.page("hand-out", tried=tried, line=line)


async def mark(site: Site, _request: Request, form: Form) -> Response:
    """Mark one release as the one that is handed out."""
    project = site.project
    given = form.one("number")
    project.marked = project.release(int(given)).number if given.isdecimal() else None
    project.save()
    return to("hand-out")


async def give_names(site: Site, _request: Request, form: Form) -> Response:
    """Note who made the release and who decides about it; both reports have the names."""
    project = site.project
    for key in ("prepared_by", "decided_by"):
        name = " ".join(form.one(key).split())
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise InputError(f"A name has at most {_LONGEST_NAME} letters. Shorten it.")
        setattr(project, key, name)
    project.save()
    return to("hand-out")


async def download_part(site: Site, request: Request) -> Response:
    """Give one file of a release: the release, a report, or its schema."""
    project = site.project
    tried = project.release(request.path_params["number"])
    part = request.path_params["part"]
    stem = PurePath(tried.file).stem
    if part == "release":
        path = project.folder_of(tried.number) / tried.file
        if path.is_symlink() or not path.is_file():
            raise InputError("The release is not in its folder any more. Make it again.")
        return FileResponse(path, filename=tried.file, media_type="application/octet-stream")
    if part == "schema":
        return download(tried.schema, schema_name(project.file), "application/toml")
    if part in ("public-report", "confidential-report"):
        page = await _report(site, project, tried.number, part.partition("-")[0])
        word = "CONFIDENTIAL" if part.startswith("confidential") else "public"
        return download(page, f"{stem}.{word}.html", "text/html")
    raise InputError("There is no such file.")


async def _report(site: Site, project: Project, number: int, which: str) -> str:
    tried = project.release(number)
    made = await site.desk.ask(
        "report",
        document=str(project.folder_of(number) / ASSESSMENT),
        edition="public" if which == "public" else "internal",
        prepared_by=project.prepared_by,
        decided_by=project.decided_by,
        models=model_files(project, tried),
    )
    return str(made["page"])
