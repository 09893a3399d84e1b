"""The second step: columns, relations, whom the rows are about; the schema as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from icsa.app.command_lines import inspect_line, schema_name
from icsa.app.forms import Form
from icsa.app.project import READING, Project
from icsa.app.site import Site, download, to
from icsa.errors import InputError

__all__ = [
    "change_columns",
    "download_schema",
    "find_columns",
    "load_schema",
    "show_columns",
    "take_text",
    "undo",
]

# Columns a page: with more, a browser is slow.
_A_PAGE = 150
_KEYS = ("kind", "action", "lower", "upper", "derive")
_DESIGN = ("unit", "time", "bound", "role", "weight")
_STALE = (
    "The schema was changed in another tab since this page was loaded. Here it is as it is now: "
    "make your change again."
)


async def show_columns(site: Site, request: Request) -> Response:
    """Show the schema, a row a column, beside its text."""
    project = site.project
    if not project.is_open:
        return to("file")
    asked = request.query_params.get("from", "0")
    start = int(asked) if asked.isdecimal() and len(asked) < 7 else 0
    wanted = project.find.casefold()
    numbered = [
        (number, column)
        for number, column in enumerate(project.view["columns"])
        if wanted in f"{column['name']} {column['label']} {column['kind']}".casefold()
    ]
    return site.page(
        "columns",
        columns=numbered[start : start + _A_PAGE],
        start=start,
        following=start + _A_PAGE if start + _A_PAGE < len(numbered) else None,
        before=max(0, start - _A_PAGE) if start else None,
        found=len(numbered),
        line=inspect_line(project.file),
        design_keys=_DESIGN,
    )


async def change_columns(site: Site, _request: Request, form: Form) -> Response:
    """Make the changes of a form: of fields that differ from what the page showed."""
    project = _opened(site)
    changes = list(_bulk(form) if form.one("do") == "bulk" else _changes(project, form))
    if form.one("whole") and form.one("revision") != str(project.revision):
        raise InputError(_STALE)
    if changes:
        view = await site.desk.ask(
            "change", file=_file(project), text=project.text, changes=changes
        )
        project.take_schema(view)
    return to("columns")


def _bulk(form: Form) -> Iterator[dict[str, Any]]:
    """Yield the same change for all columns that were selected."""
    chosen = [int(one) for one in form.every("chosen") if one.isdecimal()]
    if not chosen:
        raise InputError("No column is selected. Tick some first.")
    for key in ("kind", "action"):
        if form.one(f"all-{key}"):
            for number in chosen:
                yield {"column": number, "key": key, "value": form.one(f"all-{key}")}


def _changes(project: Project, form: Form) -> Iterator[dict[str, Any]]:
    """Yield what a form has otherwise than the schema; fields are named by columns' numbers."""
    columns = project.view["columns"]
    for name in form.fields:
        field = re.fullmatch(r"c(\d{1,6})-(\w+)", name)
        if field and field[2] in _KEYS and int(field[1]) < len(columns):
            number, key = int(field[1]), field[2]
            if form.one(name).strip() != str(columns[number][key]).strip():
                yield {"column": number, "key": key, "value": form.one(name)}
    names = [column["name"] for column in columns]
    for key in _DESIGN:
        if key in form.fields and form.one(key) != _number_of(project.view["design"][key], names):
            yield {"key": key, "value": form.one(key)}
    if "has-strata" in form.fields:
        before = [_number_of(name, names) for name in project.view["design"]["strata"] or ()]
        if before != form.every("strata"):
            yield {"key": "strata", "value": form.every("strata")}
    for number, switch in enumerate(project.view["switches"]):
        if f"has-switch-{number}" in form.fields:
            on = f"switch-{number}" in form.fields
            if on != switch["on"]:
                yield {"key": "switch", "number": number, "value": on}


def _number_of(name: Any, names: list[str]) -> str:
    """Return a column's number as a form has it; "none" where rows are people; else nothing."""
    if name is False:
        return "none"
    return str(names.index(name)) if name in names else ""


async def take_text(site: Site, _request: Request, form: Form) -> Response:
    """Have the text of a form be the schema, right or wrong: what is wrong is told."""
    project = _opened(site)
    if form.one("revision") != str(project.revision):
        raise InputError(_STALE)
    await _check(site, form.one("text").replace("\r\n", "\n"))
    return to("columns#text")


async def load_schema(site: Site, _request: Request, form: Form) -> Response:
    """Have a schema file be the schema."""
    _opened(site)
    if form.file is None:
        raise InputError("No schema was chosen. Choose a .toml file.")
    try:
        text = form.file.read_bytes()[: 4 * 2**20].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{form.file.name}: not written in UTF-8. Save it as UTF-8.") from None
    finally:
        form.file.unlink()
    await _check(site, text)
    return to("columns")


async def undo(site: Site, _request: Request, _form: Form) -> Response:
    """Go back to the schema before the last change."""
    project = _opened(site)
    if len(project.texts) < 2:
        raise InputError("There is nothing to undo.")
    view = await site.desk.ask("check", file=_file(project), text=project.texts[-2])
    project.texts = project.texts[:-2]
    project.take_schema(view)
    return to("columns")


async def find_columns(site: Site, _request: Request, form: Form) -> Response:
    """Show the columns only whose names hold some letters."""
    site.project.find = form.one("find").strip()[:100]
    return to("columns")


async def download_schema(site: Site, _request: Request) -> Response:
    """Give the schema as a file."""
    project = site.project
    if not project.text:
        raise InputError("There is no schema yet. Choose a file first.")
    return download(project.text, schema_name(project.file), "application/toml")


async def _check(site: Site, text: str) -> None:
    project = site.project
    project.take_schema(await site.desk.ask("check", file=_file(project), text=text))


def _opened(site: Site) -> Project:
    if not site.project.is_open:
        raise InputError("There is no table yet. Choose a file first.")
    return site.project


def _file(project: Project) -> dict[str, Any]:
    return {key: project.file.get(key) for key in ("path", *READING)}
