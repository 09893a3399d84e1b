"""``icsa app``: a local page that leads from a file to a signed release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from icsa.cli.arguments import taking
from icsa.errors import InputError

__all__ = ["app"]

Port = Annotated[int, taking("--port", "N", "Where to; default: any free one.", min=0, max=65535)]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address only.")]
Folder = Annotated[
    Path | None,
    taking("--folder", "F", "Keep schema, choices, releases and reports here; never the key."),
]


def app(port: Port = 0, no_browser: NoBrowser = False, folder: Folder = None) -> None:
    """Open a page in the browser: from a file to a signed release, without typing commands.

    It is served on this machine for you alone, and nothing leaves it. Ends with Ctrl-C, or with
    Close on the page.

    Example: icsa app
    """
    try:
        from icsa.app import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "python_multipart"):
            raise
        raise InputError(f"The page needs {error.name}: pip install 'icsa[app]'") from None
    serve(port=port, browser=not no_browser, folder=folder)
