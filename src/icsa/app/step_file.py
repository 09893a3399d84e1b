"""The first step: a file chosen or its path typed, how it was read, its first rows."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from icsa.app.command_lines import inspect_line
from icsa.app.forms import Form, safe_name
from icsa.app.project import READING
from icsa.app.site import Site, to
from icsa.app.workshop import Work
from icsa.errors import InputError

__all__ = ["choose_reading", "open_path", "put_away", "reopen", "show_file", "upload"]

# Seconds that a page waits for a file before it shows that it is being read.
_PATIENCE = 0.8


async def show_file(site: Site, _request: Request) -> Response:
    """Show the file that was opened, or ask for one."""
    project = site.project
    line = inspect_line(project.file) if project.is_open else ["inspect", "FILE"]
    return site.page("file", line=line, most=site.most_uploaded)


async def upload(site: Site, _request: Request, form: Form) -> Response:
    """Open a file that the browser hands over."""
    if form.file is None:
        raise InputError("No file was chosen. Choose one, or type its path.")
    return await _open(site, {"path": str(form.file), "name": form.file.name, "uploaded": True})


async def open_path(site: Site, _request: Request, form: Form) -> Response:
    """Open a file where it lies on this machine."""
    typed = form.one("path").strip().strip('"')
    if not typed:
        raise InputError("No path was typed. Type one, or choose a file.")
    path = Path(typed)
    with suppress(RuntimeError):  # there is no such home
        path = path.expanduser()
    if not path.is_absolute():
        path = Path.cwd() / path
    if not path.is_file():
        raise InputError(f"There is no file {path}. Check its name and its folder.")
    name = safe_name(path.name)  # of the files that are made from it
    return await _open(site, {"path": str(path), "name": name, "uploaded": False})


async def choose_reading(site: Site, _request: Request, form: Form) -> Response:
    """Read the same file another way: sheet, separator, decimal mark, encoding."""
    project = site.project
    if not project.file.get("path"):
        raise InputError("There is no file to read. Choose one first.")
    chosen = {key: form.one(key) for key in READING if form.one(key)}
    if chosen.get("separator") == "tab":
        chosen["separator"] = "\t"
    file = {key: project.file[key] for key in ("path", "name", "uploaded")}
    return await _open(site, {**file, **chosen})


async def put_away(site: Site, _request: Request, _form: Form) -> Response:
    """Put the table away, with its schema and its releases."""
    await site.workshop.end()
    _remove_upload(site.project.file)
    site.project.forget()
    return to("file")


async def reopen(site: Site) -> None:
    """Open the file of a project again, where it lies and is the same."""
    file = site.project.file
    if file.get("path") and Path(file["path"]).is_file():
        await _open(site, dict(file), 0.0)


async def _open(site: Site, file: dict[str, Any], patience: float = _PATIENCE) -> Response:
    """Have a file read and inspected, in the desk's process."""

    async def read(work: Work) -> None:
        try:
            found = await site.desk.ask("open", told=work.at, file=_question(file))
        except InputError as error:
            # An upload is known by its name; where it lies for now says nothing.
            place = str(Path(file["path"]).parent) + os.sep if file["uploaded"] else os.devnull
            raise InputError(str(error).replace(place, "")) from None
        await _take(site, file, found)

    async def read_or_remove(work: Work) -> None:
        try:
            await read(work)
        finally:
            _remove_unless_taken(site, file)

    work = Work(title="Reading the file", back="file", then="file", cancel=site.desk.cut)
    try:
        await site.workshop.begin(work, read_or_remove, patience)
    except InputError:  # something else is being done
        _remove_unless_taken(site, file)
        raise
    if work.state == "refused":
        raise InputError(work.sentence)  # said on the page that is asked for, not on the next one
    return to("file" if work.state == "done" else "working")


async def _take(site: Site, file: dict[str, Any], found: dict[str, Any]) -> None:
    """Have an opened table be the one at hand; the schema stays if the table is the same."""
    project = site.project
    same = project.sha256 == found["sha256"]
    if project.tried and not same:
        raise InputError(
            "There are releases of another table. Put that table away first (below), or start icsa "
            "app with another --folder for this one."
        )
    before = project.file
    view = None
    if same and project.text:
        view = await site.desk.ask("check", file=_question(file), text=project.text)
        view = view if not view["problem"] or before.get("path") == file["path"] else None
    if view is None or (view["problem"] and _reading(before) != _reading(file)):
        view = await site.desk.ask("check", file=_question(file), text=found["schema"])
        project.texts = project.texts if same else []
    if before.get("path") != file["path"]:
        _remove_upload(before)
    project.file, project.found, project.sha256 = file, found, found["sha256"]
    project.take_schema(view)


def _question(file: dict[str, Any]) -> dict[str, Any]:
    return {key: file.get(key) for key in ("path", *READING)}


def _reading(file: dict[str, Any]) -> list[Any]:
    return [file.get(key) or None for key in READING]


def _remove_unless_taken(site: Site, file: dict[str, Any]) -> None:
    if site.project.file.get("path") != file["path"]:
        _remove_upload(file)


def _remove_upload(file: dict[str, Any]) -> None:
    if file.get("uploaded") and file.get("path"):
        shutil.rmtree(Path(file["path"]).parent, ignore_errors=True)
