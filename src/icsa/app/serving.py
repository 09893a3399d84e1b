"""The server of one start: where it listens, and how it ends, leaving nothing behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sys
import webbrowser
from pathlib import Path
from threading import Thread

import uvicorn

from icsa.app.desk_line import DeskLine
from icsa.app.guard import Guard, Secrets
from icsa.app.places import open_project_folder, remove_left_behind, start_folder
from icsa.app.project import Project
from icsa.app.routes import application
from icsa.app.site import Site
from icsa.app.step_file import reopen
from icsa.app.workshop import Workshop
from icsa.errors import InputError

__all__ = ["serve"]

_LOOPBACK = "127.0.0.1"
# Bytes of a request's line and headers that are waited for.
_MOST_WAITED = 16 * 1024
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def serve(*, port: int = 0, browser: bool = True, folder: Path | None = None) -> None:
    """Serve the page until it is closed; then nothing is left but a project's folder.

    Parameters
    ----------
    port : int
        To listen on; 0 for any that is free. Only this machine is listened to.
    browser : bool
        Whether a browser is opened.
    folder : Path, optional
        Of a project that is kept: schema, choices, releases and reports.
    """
    kept = None if folder is None else open_project_folder(folder)
    listening = _listen(port)
    remove_left_behind()
    scratch = start_folder()
    usual = os.environ.get("TMPDIR")
    try:
        # What any process of this start writes in passing is in the folder that goes.
        os.environ["TMPDIR"] = str(scratch)
        asyncio.run(_serve(listening, Project.restored(scratch, kept), browser))
    finally:
        listening.close()
        shutil.rmtree(scratch, ignore_errors=True)
        os.environ.pop("TMPDIR")
        if usual is not None:
            os.environ["TMPDIR"] = usual


def _listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine only."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let others listen too
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_LOOPBACK, port))
        listening.listen(128)
    except OSError:
        listening.close()
        raise InputError(
            f"Port {port} is taken, or may not be used by you. Give another --port, or none."
        ) from None
    return listening


async def _serve(listening: socket.socket, project: Project, browser: bool) -> None:
    port: int = listening.getsockname()[1]
    known = Secrets()
    site = Site(project, known, DeskLine(), Workshop(), lambda: None)
    server = uvicorn.Server(
        uvicorn.Config(
            Guard(application(site), known, port),
            access_log=False,
            log_config=None,
            log_level="critical",
            lifespan="off",
            ws="none",
            server_header=False,
            http="h11",
            h11_max_incomplete_event_size=_MOST_WAITED,
            limit_concurrency=100,
            timeout_graceful_shutdown=2,
        )
    )

    def end(*_: object) -> None:
        server.should_exit = True

    site.end = end
    for name in _SIGNALS:  # uvicorn has the first two while it serves, and calls these at its end
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)
    # Printed once it can be asked for, in one line however narrow the terminal is.
    print(f"http://{_LOOPBACK}:{port}/?token={known.token}", flush=True)
    print("icsa: the page is open until Ctrl-C, or Close on it.", file=sys.stderr, flush=True)
    if browser:
        address = f"http://{_LOOPBACK}:{port}/?token={known.for_one_use()}"
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    tasks = [asyncio.create_task(site.desk.start()), asyncio.create_task(reopen(site))]
    try:
        await server.serve(sockets=[listening])
    finally:
        for task in tasks:
            task.cancel()
        await site.workshop.end()
        await site.desk.close()
