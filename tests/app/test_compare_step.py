"""Choose for me: the command that is run, the advice that is shown, and taking it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from icsa.app import step_compare
from icsa.app.desk_line import DeskLine
from icsa.app.forms import Form
from icsa.app.guard import Secrets
from icsa.app.project import Project
from icsa.app.site import Site
from icsa.app.step_release import show_release
from icsa.app.workshop import Work, Workshop
from icsa.errors import InputError

ADVICE = {
    "candidate": "icsa topcode",
    "may_be_released": True,
    "text": "Release <b>this</b>.",
    "command": "icsa anonymize a.csv",
    "options": {"method": "icsa", "recipe": "topcode", "scatters": ["hr", "tyler"]},
}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site with a table on its desk, which nobody is asked about."""
    table = tmp_path / "upload" / "a.csv"
    table.parent.mkdir()
    table.write_text("x,y\n1,2\n")
    view = {"text": "version = 1\n", "problem": "", "design": {}, "columns": [], "switches": []}
    project = Project(
        scratch=tmp_path,
        file={"path": str(table), "name": "a.csv", "uploaded": True},
        found={"release_name": "a.release.csv"},
    )
    project.take_schema(view)
    return Site(project, Secrets(), DeskLine(), Workshop(), lambda: None)


def raced(monkeypatch: pytest.MonkeyPatch, site: Site, minutes: str) -> list[list[str]]:
    """Return the commands that were run; each leaves what the real one would."""
    commands: list[list[str]] = []

    async def instead(_work: Work, words: list[str], folder: Path) -> None:
        commands.append(words)
        assert (folder / "a.csv").read_text().startswith("x,y")
        assert (folder / "a.toml").read_text() == "version = 1\n"
        (folder / "comparison.json").write_text(json.dumps({"advice": ADVICE}))
        (folder / "comparison.html").write_text("<script>1</script>")

    monkeypatch.setattr(step_compare, "run_command", instead)
    form = Form({"minutes": [minutes]})

    async def run() -> None:
        await step_compare.start_comparison(site, Request({"type": "http"}), form)
        await site.workshop.end()

    asyncio.run(run())
    return commands


def shown(answer: Any) -> str:
    return bytes(answer.body).decode()


@pytest.mark.parametrize(("given", "taken"), [("1", "1"), ("20", "20"), ("", "5"), ("-1; x", "5")])
def test_the_command_and_what_is_left_of_it(
    monkeypatch: pytest.MonkeyPatch, site: Site, given: str, taken: str
) -> None:
    (words,) = raced(monkeypatch, site, given)
    assert words[:6] == ["compare", "a.csv", "--schema", "a.toml", "--budget", taken]
    assert sorted(path.name for path in site.project.scratch.iterdir()) == ["comparison", "upload"]
    assert site.project.advice["candidate"] == "icsa topcode"
    for path in site.project.comparison.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


def test_advice_is_shown_as_text_and_taken(monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    raced(monkeypatch, site, "5")
    page = shown(asyncio.run(show_release(site, Request({"type": "http"}))))
    assert "Release &lt;b&gt;this&lt;/b&gt;." in page
    assert "icsa compare a.csv --schema a.toml --budget 5" in page
    framed = asyncio.run(step_compare.show_comparison(site, Request({"type": "http"})))
    policy = framed.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'self'" in policy
    asyncio.run(step_compare.take_advice(site, Request({"type": "http"}), Form()))
    assert site.project.choices == {"recipe": "topcode", "scatters": "hr,tyler"}
    page = shown(asyncio.run(show_release(site, Request({"type": "http"}))))
    assert "--recipe topcode --scatters hr,tyler" in page
    site.project.take_schema({**site.project.view, "text": "version = 1\n# other\n"})
    page = shown(asyncio.run(show_release(site, Request({"type": "http"}))))
    assert "The schema was changed since" in page


def test_without_a_comparison_there_is_nothing_to_take(site: Site) -> None:
    for act in (
        step_compare.take_advice(site, Request({"type": "http"}), Form()),
        step_compare.show_comparison(site, Request({"type": "http"})),
    ):
        with pytest.raises(InputError, match="no comparison yet"):
            asyncio.run(act)


def test_a_schema_that_is_not_in_order_is_not_compared(site: Site) -> None:
    site.project.view["problem"] = "wrong"
    with pytest.raises(InputError, match="not in order yet: wrong"):
        asyncio.run(step_compare.start_comparison(site, Request({"type": "http"}), Form()))
