"""Who may ask, and what every answer says: before any page is made.

Only this machine's user, at the right address (against rebinding), with the cookie that the token
of this start was changed for, from pages of this server; nothing of an answer is stored, framed or
fetched from elsewhere.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from icsa.app.peers import is_welcome

__all__ = ["PAGES", "Guard", "Secrets", "report_policy"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; "
    "frame-ancestors {ancestors}"
)
PAGES = _POLICY.format(ancestors="'none'")
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# Of an address with its headers: ours have some hundred.
_MOST_BYTES = 16 * 1024
_METHODS = ("GET", "HEAD", "POST")
_HERE = ("same-origin", "none")


def report_policy(page: str) -> str:
    """Return the policy for a report inside the page: its own script and styles, nothing else.

    Examples
    --------
    >>> report_policy("<script></script>")[:60]
    "default-src 'none'; script-src 'sha256-47DEQpj8HBSa+/TImW+5J"
    """
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


@dataclass
class Secrets:
    """What a start of the server draws; none of it is ever written to a file.

    Attributes
    ----------
    token : str
        In the address that is printed.
    opening : set of str
        Tokens for one use each: a browser is started with one, and other users of this machine can
        see with what a program is started.
    session : str
        In the cookie.
    csrf : str
        In every form.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    opening: set[str] = field(default_factory=set)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def for_one_use(self) -> str:
        """Return a token that works once."""
        token = secrets.token_urlsafe(32)
        self.opening.add(token)
        return token

    def takes(self, token: str) -> bool:
        """Return whether a token opens the door; one for one use never does again."""
        for known in self.opening:
            if compare_digest(known.encode(), token.encode()):
                self.opening.discard(known)
                return True
        return compare_digest(self.token.encode(), token.encode())


class Guard:
    """The door of the server, before everything else.

    Parameters
    ----------
    app : ASGI application
    known : Secrets
    port : int
        That the server listens on.
    welcome : callable
        Whether a connection from an address to an address is by somebody who may ask.
    """

    def __init__(
        self,
        app: ASGIApp,
        known: Secrets,
        port: int,
        welcome: Callable[[Any, Any], bool] = is_welcome,
    ) -> None:
        self._app, self._known, self._welcome = app, known, welcome
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}
        self._cookie = f"icsa-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse with a sentence."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", PAGES)
                if headers["Content-Security-Policy"] != PAGES:  # a report, framed by our page
                    headers["X-Frame-Options"] = "SAMEORIGIN"
            await send(message)

        await (self._answer(scope) or self._app)(scope, receive, with_headers)

    def _answer(self, scope: Scope) -> Response | None:
        """Return what is answered instead of a page; None for who may see it."""
        if _size(scope) > _MOST_BYTES:
            return _refused("That is longer than anything this page asks for.")
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not self._welcome(scope.get("client"), scope.get("server")):
            return _refused("This page is another user's.")
        if headers.get("host", "").lower() not in self._hosts:
            return _refused("This page is at 127.0.0.1 only.")
        if scope["method"] not in _METHODS:
            return _refused("There is nothing of that kind here.")
        site = headers.get("sec-fetch-site", "none")
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and token and scope["method"] == "GET":
            return self._let_in(token, site)
        if not self._has_cookie(headers.get("cookie", "")):
            return _refused(
                "This page opens with the address that icsa app printed when it was started."
            )
        origin = headers.get("origin")
        if site not in _HERE or (origin is not None and not self._is_ours(origin)):
            return _refused("This was asked for by another page than ours.")
        return None

    def _let_in(self, token: str, site: str) -> Response:
        """Change the token for a cookie, and have it go from the address."""
        if not self._known.takes(token):
            return _refused(
                "This address is of an earlier start. Use the one that icsa app printed last."
            )
        answer: Response = RedirectResponse("/", status_code=303)
        if site not in _HERE:
            # Browsers send a strict cookie only where the step before was a page of ours.
            answer = HTMLResponse(
                '<!doctype html><html lang="en"><title>icsa</title>'
                '<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Go on</a></p></html>'
            )
        kept = f"{self._cookie}={self._known.session}; Path=/; HttpOnly; SameSite=Strict"
        answer.headers["Set-Cookie"] = kept
        answer.headers["Referrer-Policy"] = "no-referrer"  # the address has the token
        return answer

    def _has_cookie(self, header: str) -> bool:
        # Cookies know no ports: other programs' of this machine come along, however written.
        for one in header.split(";"):
            name, _, given = one.strip().partition("=")
            if name == self._cookie:
                return compare_digest(given.encode(), self._known.session.encode())
        return False

    def _is_ours(self, origin: str) -> bool:
        return origin.removeprefix("http://").lower() in self._hosts


def _size(scope: Scope) -> int:
    """Return the bytes of an address and its headers."""
    said = sum(len(name) + len(value) for name, value in scope["headers"])
    return said + len(scope["query_string"]) + len(scope["path"])


def _refused(sentence: str) -> Response:
    return HTMLResponse(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>icsa</title>'
        f"<h1>Not here</h1><p>{sentence}</p></html>",
        status_code=403,
    )
