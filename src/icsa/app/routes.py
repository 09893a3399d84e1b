"""Addresses, and what is behind each; all of it behind the guard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import icsa
from icsa.app import step_columns, step_compare, step_file, step_hand_out, step_look, step_release
from icsa.app.forms import Form
from icsa.app.site import TEMPLATES, Act, Look, Site, to

__all__ = ["application"]

_REPORT_STYLE = Path(icsa.__file__).parent / "report" / "templates" / "assessment.css"
# What is served as it is, and nothing else: a name that is not here is no file.
_STATIC = {
    "app.css": (TEMPLATES / "app.css", "text/css"),
    "app.js": (TEMPLATES / "app.js", "text/javascript"),
    "report.css": (_REPORT_STYLE, "text/css"),
}


def application(site: Site) -> Starlette:
    """Return the application, without its guard."""

    def show(path: str, look: Look) -> Route:
        return Route(path, site.showing(look), methods=["GET"])

    def do(path: str, act: Act, back: str) -> Route:
        return Route(path, site.doing(act, back), methods=["POST"])

    return Starlette(
        routes=[
            show("/", _home),
            show("/static/{name}", _static),
            show("/file", step_file.show_file),
            do("/file/upload", step_file.upload, "file"),
            do("/file/path", step_file.open_path, "file"),
            do("/file/reading", step_file.choose_reading, "file"),
            do("/file/put-away", step_file.put_away, "file"),
            show("/columns", step_columns.show_columns),
            show("/columns/schema", step_columns.download_schema),
            do("/columns/change", step_columns.change_columns, "columns"),
            do("/columns/find", step_columns.find_columns, "columns"),
            do("/columns/text", step_columns.take_text, "columns"),
            do("/columns/load", step_columns.load_schema, "columns"),
            do("/columns/undo", step_columns.undo, "columns"),
            show("/release", step_release.show_release),
            do("/release/start", step_release.start_release, "release"),
            show("/release/comparison", step_compare.show_comparison),
            do("/release/compare", step_compare.start_comparison, "release"),
            do("/release/advice", step_compare.take_advice, "release"),
            show("/working", step_release.show_work),
            show("/working/progress", step_release.progress),
            do("/working/cancel", step_release.cancel_work, "working"),
            show("/look", step_look.show_look),
            show("/look/{number:int}", step_look.show_look),
            show("/look/{number:int}/report", step_look.show_report),
            do("/look/{number:int}/model", step_look.add_model, "look"),
            do("/look/remedy", step_look.take_remedy, "look"),
            show("/hand-out", step_hand_out.show_hand_out),
            show("/hand-out/{number:int}/{part}", step_hand_out.download_part),
            do("/hand-out/mark", step_hand_out.mark, "hand-out"),
            do("/hand-out/names", step_hand_out.give_names, "hand-out"),
            do("/close", _close, "file"),
        ],
        exception_handlers={404: _not_there, 405: _not_there, Exception: _broken},
    )


async def _home(site: Site, _request: Request) -> Response:
    return to("file" if not site.project.is_open or not site.project.tried else "look")


async def _close(site: Site, _request: Request, _form: Form) -> Response:
    site.end()
    return site.page("closed")


async def _static(_site: Site, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return await _not_there(request, None)
    path, kind = _STATIC[name]
    return Response(_text_of(path), media_type=kind)


@cache
def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def _broken(_request: Request, error: Exception) -> Response:
    # Not the error's own words, which could hold a cell.
    told = f"This is a bug in icsa ({type(error).__name__}). Go back, and report it."
    return Response(told, status_code=500, media_type="text/plain")


async def _not_there(_request: Request, _error: object) -> Response:
    return Response("There is nothing here.", status_code=404, media_type="text/plain")
