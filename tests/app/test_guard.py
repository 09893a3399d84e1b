"""Attacks from outside: others at the door, other pages, other names, other users."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from icsa.app import routes
from icsa.app.guard import PAGES, Guard, Secrets
from icsa.app.peers import is_welcome, owner_of

from .talking import CLINIC, Client, Started

EVERY_PATH = sorted(
    {
        re.sub(r"\{(\w+).*?\}", lambda m: {"number": "1", "part": "release"}.get(m[1], "x"), path)
        for path in re.findall(r'(?:show|do)\(\s*"([^"]+)"', Path(routes.__file__).read_text())
    }
)


# Who may ask.


def test_all_routes_are_tried_below() -> None:
    assert len(EVERY_PATH) > 25
    assert {"/", "/file/upload", "/look/1/report", "/hand-out/1/release"} <= set(EVERY_PATH)


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_without_the_cookie_every_address_is_forbidden(server: Started, method: str) -> None:
    stranger = server.client(enters=False)
    for path in (*EVERY_PATH, "/static/app.css", "/nothing", "/openapi.json"):
        assert stranger.ask(method, path).status == 403, path


@pytest.mark.parametrize(
    "cookie",
    ["", "icsa-{port}=", "icsa-{port}=x", "icsa-{port}={token}", "icsa-1={session}", "\x7f"],
)
def test_another_cookie_does_not_open(server: Started, cookie: str) -> None:
    known = server.client()
    session = known.cookie.partition("=")[2]
    tried = cookie.format(port=server.port, token=server.token, session=session)
    stranger = server.client(enters=False)
    assert stranger.ask("GET", "/file", headers={"Cookie": tried}).status == 403
    assert known.get("/file").status == 200


@pytest.mark.parametrize("other", ['a={"b": 1, "c": [2]}', "a b=c", "=", "ä=ö", "x" * 3000])
def test_cookies_of_other_programs_are_in_nobodys_way(server: Started, other: str) -> None:
    """A browser sends those of every port of this machine, however they are written."""
    known = server.client()
    for cookies in (f"{other}; {known.cookie}", f"{known.cookie}; {other}"):
        told = {"Cookie": cookies.encode().decode("latin-1")}
        assert known.ask("GET", "/file", headers=told).status == 200
    assert known.ask("GET", "/file", headers={"Cookie": f"{other}{known.cookie}x"}).status == 403


@pytest.mark.parametrize("token", ["", "x", "%00", "ä", "a" * 5000])
def test_another_token_does_not_open(server: Started, token: str) -> None:
    from urllib.parse import quote

    answer = server.client(enters=False).ask("GET", f"/?token={quote(token)}")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_the_token_is_changed_for_a_cookie_and_leaves_the_address(server: Started) -> None:
    stranger = server.client(enters=False)
    answer = stranger.enter()
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert server.token not in kept
    assert answer.headers["referrer-policy"] == "no-referrer"
    for path in ("/file", "/static/app.js"):
        assert server.token not in stranger.get(path).text


def test_the_token_opens_no_other_address_and_no_form(server: Started) -> None:
    stranger = server.client(enters=False)
    assert stranger.ask("GET", f"/file?token={server.token}").status == 403
    assert stranger.ask("POST", f"/?token={server.token}").status == 403


def test_a_link_from_another_site_is_let_in_by_a_page_of_ours(server: Started) -> None:
    """A strict cookie is not sent along a redirect that another site began."""
    stranger = server.client(enters=False)
    there = {"Sec-Fetch-Site": "cross-site"}
    answer = stranger.ask("GET", f"/?token={server.token}", headers=there)
    assert answer.status == 200
    assert 'http-equiv="refresh"' in answer.text
    assert "set-cookie" in answer.headers
    assert server.token not in answer.text


def test_what_a_browser_is_started_with_opens_once() -> None:
    known = Secrets()
    token = known.for_one_use()
    assert known.takes(token)
    assert not known.takes(token)
    assert known.takes(known.token)
    assert known.takes(known.token)
    assert len({known.token, known.session, known.csrf, token}) == 4
    assert Secrets().token != known.token


# At which address.


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "localhost.:{port}",
        "[::1]:{port}",
        "0.0.0.0:{port}",
        "127.0.0.1:{port}@evil.example",
        "",
    ],
)
def test_names_that_were_rebound_are_refused(server: Started, host: str) -> None:
    client = server.client()
    for path in ("/file", f"/?token={server.token}"):
        answer = client.ask("GET", path, headers={"Host": host.format(port=server.port)})
        assert answer.status in (400, 403), host
        assert "set-cookie" not in answer.headers


def test_a_request_without_a_host_is_refused(server: Started) -> None:
    client = server.client()
    for version, host in (("1.0", ""), ("1.1", ""), ("1.1", "Host: evil.example\r\n")):
        right = f"Host: 127.0.0.1:{server.port}\r\n" if host else ""
        said = f"GET /file HTTP/{version}\r\n{right}{host}Cookie: {client.cookie}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as talking:
            talking.sendall(said.encode())
            assert re.match(rb"HTTP/1.1 40[03] ", talking.recv(100)), said


def test_localhost_is_this_machine_too(server: Started) -> None:
    client = server.client()
    assert client.ask("GET", "/file", headers={"Host": f"LocalHost:{server.port}"}).status == 200


def test_only_this_machine_is_listened_to(server: Started) -> None:
    """Every other address of this machine refuses: nothing listens there."""
    found = subprocess.run(
        ["hostname", "-I"], capture_output=True, text=True, check=False
    ).stdout.split()
    others = {address for address in found if ":" not in address} | {"127.0.0.2", "127.1.1.1"}
    for address in others - {"127.0.0.1"}:
        with socket.socket() as tried:
            tried.settimeout(5)
            assert tried.connect_ex((address, server.port)) != 0, address
    table = Path("/proc/net/tcp")
    if table.exists():
        port = f"{server.port:04X}"
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
        listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port}")]
        assert listening == [f"0100007F:{port}"]


# From which page.


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # another port of this machine
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_pages_may_not_ask(server: Started, method: str, headers: dict[str, str]) -> None:
    client = server.client()
    told = {name: value.format(port=server.port) for name, value in headers.items()}
    body = f"csrf={client.csrf}&path={CLINIC}".encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    path = "/file/path" if method == "POST" else "/file"
    assert client.ask(method, path, body, {**kind, **told}).status == 403
    assert CLINIC.name not in client.get("/file").text


@pytest.mark.parametrize("path", [p for p in EVERY_PATH if p not in ("/", "/file")])
def test_no_form_works_without_its_token(server: Started, path: str) -> None:
    client = server.client()
    right, client.csrf = client.csrf, "x"
    form = client.ask(
        "POST", path, b"csrf=x&path=x", {"Content-Type": "application/x-www-form-urlencoded"}
    )
    parts = client.ask("POST", path, *client.parts("a.csv", b"a\n1\n"))
    client.csrf = right
    assert form.status in (403, 404, 405)
    assert parts.status in (403, 404, 405)
    assert client.get("/file").status == 200  # not closed either


def test_an_upload_without_its_token_is_not_kept(server: Started) -> None:
    client = server.client()
    client.csrf = "x"
    assert (
        client.ask("POST", "/file/upload", *client.parts("gone.csv", b"a,b\n1,2\n")).status == 403
    )
    assert not list(server.temporary.rglob("gone.csv"))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(server: Started, method: str) -> None:
    assert server.client().ask(method, "/file").status in (403, 405)


# What an answer says.


def test_every_answer_forbids_what_it_can(server: Started) -> None:
    client = server.client()
    for path in ("/file", "/static/app.css", "/nothing", "/working/progress"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == PAGES
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_the_policy_allows_nothing_inline_and_nobody_else() -> None:
    assert "unsafe" not in PAGES
    assert "http" not in PAGES
    assert "*" not in PAGES
    for directive in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert directive in PAGES


def test_pages_have_nothing_inline_and_nothing_from_elsewhere() -> None:
    for template in (Path(routes.__file__).parent / "templates").iterdir():
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), template.name
        assert not re.search(r"<style|\sstyle=|\son\w+=", text), template.name
        assert not re.search(r"(src|href|action|url)\s*[=(]\s*[\"']?(https?:)?//", text), (
            template.name
        )
        assert "|safe" not in text, template.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(", text), template.name


def test_huge_headers_and_addresses_are_refused(server: Started) -> None:
    client = server.client()
    for tried in ({"X-Long": "a" * 70_000}, {"Cookie": "a=" + "b" * 70_000}):
        with suppress(ConnectionError):  # closed while it was still being said
            assert client.ask("GET", "/file", headers=tried).status in (400, 403, 431)
    with suppress(ConnectionError):
        assert client.get("/file?" + "a" * 70_000).status in (400, 403, 431)
    assert client.get("/file").status == 200


def test_websockets_are_not_spoken(server: Started) -> None:
    client = server.client()
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    answer = client.ask("GET", "/file", headers={**upgrade, "Sec-WebSocket-Key": "x" * 16})
    assert answer.status != 101


# Which user.


def test_the_owner_of_a_connection_is_found() -> None:
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("this system does not tell whose a connection is")
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as mine,
    ):
        ends = mine.getsockname(), listening.getsockname()
        assert owner_of(*ends, table.read_text()) == os.getuid()
        assert is_welcome(*ends)


def test_the_owner_of_a_mapped_address_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket of the newer protocol is listed elsewhere: no way around the question."""
    if not Path("/proc/net/tcp6").exists():
        pytest.skip("this system has no sockets of the newer protocol")
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_INET6) as own:
        own.connect(("::ffff:127.0.0.1", listening.getsockname()[1]))
        taken, client = listening.accept()
        with taken:
            ends = client, listening.getsockname()
            assert owner_of(*ends, Path("/proc/net/tcp").read_text()) is None
            assert owner_of(*ends, Path("/proc/net/tcp6").read_text()) == os.getuid()
            assert is_welcome(*ends)
            listed = Path("/proc/net/tcp6").read_text()
            other = re.sub(rf"( +){os.getuid()}( +0 )", r"\g<1>4321\2", listed)
            real = Path.read_text
            monkeypatch.setattr(
                Path,
                "read_text",
                lambda path, **how: other if path.name == "tcp6" else real(path, **how),
            )
            assert not is_welcome(*ends)


def test_a_connection_that_its_owner_closed_is_not_roots() -> None:
    """The kernel lists it under root's number and without an owner."""
    line = " 1: 0100007F:C350 0100007F:1F90 05 0:0 00:0 0  0 0 0 1"
    owner = owner_of(("127.0.0.1", 50000), ("127.0.0.1", 8080), f"head\n{line}\n")
    assert owner not in (None, 0)


def test_another_users_connection_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    said: list[Any] = []

    async def page(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    known = Secrets()
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/file",
        "query_string": b"",
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "headers": [
            (b"host", b"127.0.0.1:8080"),
            (b"cookie", f"icsa-8080={known.session}".encode()),
        ],
    }
    for welcome, status in ((True, 200), (False, 403)):
        said.clear()
        guard = Guard(page, known, 8080, welcome=lambda *_, w=welcome: w)
        asyncio.run(guard(scope, receive, send))
        assert said[0]["status"] == status
    line = " 1: 0100007F:C350 0100007F:1F90 01 0:0 00:0 0  {uid} 0 7 1"
    for uid, is_let_in in ((os.getuid(), True), (0, True), (os.getuid() + 1, False)):
        text = f"head\n{line.format(uid=uid)}\n"
        monkeypatch.setattr(Path, "read_text", lambda *_, t=text, **__: t)
        assert is_welcome(("127.0.0.1", 50000), ("127.0.0.1", 8080)) == is_let_in


# What is read and written down.


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static/..%2fguard.py",
        "/static//etc/passwd",
        "/static/base.html",
        "/hand-out/1/..%2f..%2fproject.json",
        "/look/../../etc/passwd",
        "/look/1/report/../../..",
        "/../../../../etc/passwd",
        "/file/../../etc/passwd",
    ],
)
def test_no_address_leads_to_the_disk(server: Started, path: str) -> None:
    answer = server.client().get(path)
    assert answer.status in (303, 404)
    assert b"root:" not in answer.body
    assert b"import" not in answer.body


def test_nothing_is_said_about_what_was_asked(tmp_path: Path) -> None:
    from .talking import started

    with started(tmp_path) as found:
        client = found.client()
        client.post("/file/path", {"path": str(CLINIC)})
        client.get("/columns?from=0")
        client.get("/nothing-of-patient_id")
        code, said = found.end()
    assert code == 0
    assert said.splitlines() == ["icsa: the page is open until Ctrl-C, or Close on it."]


def test_titles_and_addresses_hold_nothing_of_the_table(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    for path in ("/file", "/columns", "/release"):
        page = client.get(path).text
        (title,) = re.findall(r"<title>(.*?)</title>", page.partition("</head>")[0])
        assert title == f"icsa: {path[1:]}"
        for address in re.findall(r'(?:href|src|action)="([^"]*)"', page):
            assert not re.search(r"patient|clinic|bmi|Harbour", address), address
