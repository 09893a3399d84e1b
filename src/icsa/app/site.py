"""What pages share: the project, the desk, the workshop; how a page is drawn and a form is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

import icsa
from icsa.app.command_lines import shown
from icsa.app.desk_line import DeskLine
from icsa.app.forms import MOST_UPLOADED, Form, NotOursError, read_form
from icsa.app.guard import Secrets
from icsa.app.project import Project
from icsa.app.workshop import Workshop
from icsa.errors import InputError

__all__ = ["STEPS", "Act", "Look", "Site", "download", "to"]

STEPS = (
    ("file", "File"),
    ("columns", "Columns"),
    ("release", "Release"),
    ("look", "Look"),
    ("hand-out", "Hand out"),
)

# What the page that is asked for says once; an address has no more than the number of it.
_NOTICE: ContextVar[str] = ContextVar("notice", default="")
_MOST_NOTICES = 50
TEMPLATES = Path(__file__).parent / "templates"


@dataclass
class Site:
    """Everything that a page is made of."""

    project: Project
    secrets: Secrets
    desk: DeskLine
    workshop: Workshop
    end: Callable[[], None]
    most_uploaded: int = MOST_UPLOADED

    def __post_init__(self) -> None:
        """Prepare the templates: everything that they are given is escaped."""
        self._notices: dict[str, str] = {}
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        # Drawings come from the desk, which escapes what stands in them.
        self._templates.filters["drawing"] = lambda drawn: Markup(drawn or "")
        self._templates.filters["command"] = shown
        self._templates.filters["seconds"] = _in_words

    def page(self, name: str, status: int = 200, **about: Any) -> Response:
        """Return a page; `name` is the template's and, for a step, the step's."""
        text = self._templates.get_template(f"{name}.html").render(
            step=name,
            steps=STEPS,
            project=self.project,
            csrf=self.secrets.csrf,
            work=self.workshop.work,
            busy=self.workshop.busy,
            reached=self.reached,
            version=icsa.__version__,
            notice=_NOTICE.get(),
            **about,
        )
        return HTMLResponse(text, status_code=status)

    @property
    def reached(self) -> int:
        """How many steps can be gone to."""
        if not self.project.is_open:
            return 5 if self.project.tried else 1
        return 5 if self.project.tried else 3

    def back_to(self, page: str, sentence: str) -> Response:
        """Return the way to a page that says something, once and in the tab that asked."""
        number = token_hex(4)
        self._notices[number] = sentence
        for oldest in list(self._notices)[:-_MOST_NOTICES]:
            del self._notices[oldest]
        return to(f"{page.partition('#')[0]}?said={number}")

    def showing(self, look: Look) -> Callable[[Request], Awaitable[Response]]:
        """Return a page's function as a route wants it."""

        async def answer(request: Request) -> Response:
            _NOTICE.set(self._notices.pop(request.query_params.get("said", ""), ""))
            try:
                return await look(self, request)
            except InputError as error:
                return self.page("sorry", 404, sentence=str(error))

        return answer

    def doing(self, act: Act, back: str) -> Callable[[Request], Awaitable[Response]]:
        """Return a form's function as a route wants it: none is called for a form of others.

        Whatever is refused is said on the step that it came from.
        """

        async def answer(request: Request) -> Response:
            folder = self.project.scratch / f"upload-{token_hex(4)}"
            folder.mkdir(mode=0o700)
            try:
                form = await read_form(request, self.secrets.csrf, folder, self.most_uploaded)
                return await act(self, request, form)
            except NotOursError:
                return self.page(
                    "sorry", 403, sentence="This form is of an earlier start. Load the page again."
                )
            except ClientDisconnect:
                return Response(status_code=400)
            except (InputError, OSError) as error:
                return self.back_to(back, _sentence(error))
            finally:
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()

        return answer


Look = Callable[[Site, Request], Awaitable[Response]]
Act = Callable[[Site, Request, Form], Awaitable[Response]]


def to(page: str) -> Response:
    """Return the way to another page."""
    return RedirectResponse(f"/{page.lstrip('/')}", status_code=303)


def download(content: bytes | str, name: str, kind: str) -> Response:
    """Return a file to be saved under a name."""
    plain = "".join(sign if sign.isascii() and sign.isprintable() else "_" for sign in name)
    plain = plain.replace('"', "_").replace("\\", "_")
    told = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
    return Response(content, media_type=kind, headers={"Content-Disposition": told})


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return str(error)


def _in_words(seconds: float) -> str:
    """Return a duration as people say it.

    Examples
    --------
    >>> _in_words(12.3), _in_words(200)
    ('12 s', '3 min 20 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"
