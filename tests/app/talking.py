"""A start of the server in a process of its own, and somebody who talks to it without a browser."""

from __future__ import annotations

import html
import http.client
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

ROOT = Path(__file__).parents[2]
CLINIC = ROOT / "examples" / "clinic.csv"
VISITS = ROOT / "examples" / "visits.csv"
# Of a test that waits for work: generous, for machines with more to do.
PATIENCE = 150.0


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


@dataclass
class Client:
    """Who talks to a server: with a cookie once `enter` was called."""

    port: int
    token: str
    cookie: str = ""
    csrf: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        said = {"Host": f"127.0.0.1:{self.port}", **self.headers, **(headers or {})}
        if self.cookie and "Cookie" not in said:
            said["Cookie"] = self.cookie
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, said)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def enter(self) -> Answer:
        answer = self.ask("GET", f"/?token={self.token}")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        page = self.ask("GET", "/file").text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        assert found
        self.csrf = found[1]
        return answer

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, fields: Mapping[str, object] | None = None, **more: str) -> Answer:
        """Send a form, and follow where it leads."""
        body = urlencode({"csrf": self.csrf, **(fields or {})}, doseq=True).encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.follow(self.ask("POST", path, body, {**kind, **more}))

    def upload(self, path: str, name: str, content: bytes) -> Answer:
        return self.follow(self.ask("POST", path, *self.parts(name, content)))

    def parts(self, name: str, content: bytes) -> tuple[bytes, dict[str, str]]:
        body = (
            f'--XX\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{self.csrf}\r\n'
            f'--XX\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode() + content
        kind = {"Content-Type": "multipart/form-data; boundary=XX"}
        return body + b"\r\n--XX--\r\n", kind

    def follow(self, answer: Answer) -> Answer:
        deadline = time.monotonic() + PATIENCE
        while answer.status == 303:
            page = answer.headers["location"]
            if page == "/working":
                self.wait(deadline)
            answer = self.get(page.partition("#")[0])
        return answer

    def wait(self, deadline: float) -> None:
        """Return when nothing is being done any more."""
        while '"state":"running"' in self.get("/working/progress").text:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def notice(page: str) -> str:
    """Return what a page says is wrong; empty if nothing is."""
    found = re.search(r'id="notice"><p>(.*?)</p>', page, re.DOTALL)
    return html.unescape(found[1]) if found else ""


def shown_problem(page: str) -> str:
    found = re.search(r'id="problem">.*?<p>(.*?)</p>', page, re.DOTALL)
    return html.unescape(found[1]) if found else ""


@dataclass
class Started:
    process: subprocess.Popen[str]
    address: str
    temporary: Path

    @property
    def port(self) -> int:
        return int(urlsplit(self.address).port or 0)

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def client(self, *, enters: bool = True) -> Client:
        client = Client(self.port, self.token)
        if enters:
            client.enter()
        return client

    def end(self, how: int = signal.SIGTERM) -> tuple[int, str]:
        """Return the exit code, and what was said on standard error."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def started(temporary: Path, *options: str, **environment: str) -> Iterator[Started]:
    """Give a server that was started in a process of its own, with temporary files in a folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "icsa", "app", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), **environment},
        cwd=temporary,
    )
    try:
        assert process.stdout is not None
        yield Started(process, process.stdout.readline().strip(), temporary)
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=60)
