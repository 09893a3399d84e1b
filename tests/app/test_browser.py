"""The whole way in a browser: Playwright drives the system's Chromium, no other is downloaded.

Pictures of every step go to the folder that ICSA_SCREENSHOTS names, or nowhere.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from .talking import CLINIC, PATIENCE, VISITS, Client, Started

playwright = pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install 'icsa[test]'"
)
expect = playwright.expect
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium: apt-get install chromium, then pytest tests/app"
)
LONG = 1000 * PATIENCE
QUIET = "html:not([data-sending])"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, server: Started, client: Client) -> Iterator[Any]:
    """A tab at the first step, with no table on the desk that all share.

    Nothing may be fetched from elsewhere, and no script may break.
    """
    assert "Which file is it?" in client.get("/file").text
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(LONG)
    expect.set_options(timeout=LONG)
    asked: list[str] = []
    broken: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: broken.append(str(error.error)))
    context.on("console", lambda said: broken.append(said.text) if said.type == "error" else None)
    tab = context.new_page()
    tab.goto(server.address)
    yield tab
    context.close()
    elsewhere = [
        url for url in asked if not url.startswith((f"http://127.0.0.1:{server.port}/", "data:"))
    ]
    assert not elsewhere
    assert not broken


def photograph(page: Any, name: str) -> None:
    """Take a picture of a step, wide and narrow, light and dark, where somebody wants to look."""
    folder = os.environ.get("ICSA_SCREENSHOTS")
    if not folder:
        return
    Path(folder).mkdir(exist_ok=True)
    page.wait_for_load_state()
    for width, scheme in ((1280, "light"), (320, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        for frame in page.locator("iframe:visible").all():
            frame.scroll_into_view_if_needed()  # what is far below is not painted before
        page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


def audit(page: Any, part: str | None = None) -> None:
    """Hold a page to axe's rules for WCAG 2.2 A and AA, in both schemes; no scrolling at 320 px.

    `part` is what is new of a page that was held to them before.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.wait_for_load_state()  # with its styles
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    every = {"type": "tag", "values": tags}
    contrast = {"type": "rule", "values": ["color-contrast"]}  # nothing else depends on the scheme
    page.wait_for_load_state()
    for scheme, rules in (("light", every), ("dark", contrast)):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, part, {"runOnly": rules, "iframes": False})
        told = [
            (rule["id"], rule["nodes"][0]["html"][:200], rule["nodes"][0].get("failureSummary"))
            for rule in found.response["violations"]
        ]
        assert not told, (scheme, told)
        assert found.response["passes"]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.set_viewport_size({"width": 1280, "height": 900})


def choose_file(page: Any, file: Path) -> None:
    page.set_input_files("#upload", file)
    page.locator("form[action='/file/upload'] button").click()


def open_file(page: Any, file: Path) -> None:
    choose_file(page, file)
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible()


def release_quickly(page: Any) -> None:
    page.get_by_label("A quick look").check()
    expect(page.locator(f"{QUIET} code").first).to_contain_text("--rehearse 0")
    page.get_by_role("button", name="Make the release").click()


def test_the_whole_way_with_clinic(page: Any, tmp_path: Path) -> None:
    assert page.url.endswith("/file")
    photograph(page, "1-file-empty")
    audit(page)
    open_file(page, CLINIC)
    expect(page.locator("code")).to_contain_text("icsa inspect clinic.csv")
    photograph(page, "1-file")
    audit(page)

    page.get_by_role("link", name="Go on to the columns").click()
    page.select_option("[aria-label='kind of age']", "continuous")
    expect(page.locator(f"{QUIET} #undo")).to_be_enabled()
    page.fill("[aria-label='highest of age']", "105,5")
    page.keyboard.press("Tab")
    expect(page.locator("[aria-label='highest of age']")).to_have_value("105.5")
    expect(page.locator("#schema-text")).to_have_value(re.compile("upper = 105.5"))
    page.fill("[aria-label='highest of age']", "30")
    page.keyboard.press("Tab")
    expect(page.locator("#problem")).to_contain_text("above the declared upper bound 30")
    photograph(page, "2-columns-problem")
    audit(page, "#problem")
    page.locator("#undo").click()
    expect(page.locator("#in-order")).to_be_visible()
    page.fill("#find", "score")
    expect(page.locator("table.columns tbody tr:visible")).to_have_count(4)
    page.get_by_role("button", name="Select all shown").click()
    page.fill("#find", "")
    page.select_option("#all-action", "drop")
    page.get_by_role("button", name="Change them").click()
    expect(page.locator("tr.a-drop")).to_have_count(5)
    page.locator("#undo").click()
    expect(page.locator("tr.a-drop")).to_have_count(1)
    switch = page.get_by_label("smoker is computed")
    switch.uncheck()
    expect(page.locator(f"{QUIET} [aria-label='action for smoker']")).to_have_value("mask")
    page.get_by_label("smoker is computed").check()
    expect(page.locator(f"{QUIET} [aria-label='action for smoker']")).to_have_value("derive")
    photograph(page, "2-columns")
    audit(page)

    page.get_by_role("link", name="Go on to the release").click()
    expect(page.get_by_role("heading", name="How the release is made")).to_be_visible()
    photograph(page, "3-release")
    audit(page)
    release_quickly(page)
    expect(page.locator("progress")).to_be_visible()
    photograph(page, "3-working")
    expect(page.locator(".verdict .word")).to_be_visible()
    photograph(page, "4-look")
    audit(page)
    page.get_by_text("The whole report, inside this page").click()
    report = page.frame_locator("iframe.report")
    expect(report.get_by_role("heading", name="Assessment of a release")).to_be_visible()
    expect(report.locator("th.sorts button").first).to_be_attached()  # its script runs
    page.fill("#formula", "bmi ~ age + sex")
    page.get_by_role("button", name="Fit").click()
    expect(page.get_by_role("heading", name="bmi ~ age + sex")).to_be_visible()

    page.get_by_role("link", name="5 Hand out").click()
    page.get_by_label("Release 1").check()
    page.get_by_role("button", name="Mark it").click()
    page.fill("#prepared_by", "A. Preparer")
    page.fill("#decided_by", "B. Officer")
    page.get_by_role("button", name="Put the names").click()
    expect(page.locator(f"{QUIET} code")).to_contain_text("--decided-by 'B. Officer'")
    photograph(page, "5-hand-out")
    audit(page)
    kept = {}
    for name in ("release", "public report", "confidential report", "schema"):
        with page.expect_download() as waiting:
            page.get_by_role("link", name=f"Download the {name}").click()
        kept[name] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(kept[name])
    assert [path.name for path in kept.values()] == [
        "clinic.release.csv",
        "clinic.release.public.html",
        "clinic.release.CONFIDENTIAL.html",
        "clinic.toml",
    ]
    assert pl.read_csv(kept["release"]).height == 400
    public = kept["public report"].read_text(encoding="utf-8")
    assert "B. Officer" in public
    assert "bmi ~ age + sex" in public
    assert "CONFIDENTIAL" not in public
    assert "CONFIDENTIAL" in kept["confidential report"].read_text(encoding="utf-8")
    from icsa import cli

    files = [kept["confidential report"], CLINIC, kept["release"]]
    assert cli.run(["verify", *map(str, files)]) == 0


def test_visits_a_reload_and_the_way_back(page: Any) -> None:
    open_file(page, VISITS)
    page.get_by_role("link", name="Go on to the columns").click()
    expect(page.locator("#d-unit option:checked")).to_have_text("patient_id")
    expect(page.locator("#d-time option:checked")).to_have_text("day")
    page.select_option("#d-bound", "")
    expect(page.locator(f"{QUIET} #undo")).to_be_enabled()
    page.reload()  # in the middle: the change is there
    expect(page.locator("#d-bound option:checked")).to_have_text("none")
    page.select_option("#d-bound", label="followed_days")
    expect(page.locator(f"{QUIET} #schema-text")).to_have_value(
        re.compile('bound = "followed_days"')
    )
    page.get_by_role("link", name="Go on to the release").click()
    page.get_by_label("Stricter at the ends").check()
    expect(page.locator(f"{QUIET} code").first).to_contain_text("--recipe topcode")
    page.go_back()
    expect(page.locator("#d-bound option:checked")).to_have_text("followed_days")
    page.go_forward()
    expect(page.get_by_label("Stricter at the ends")).to_be_checked()
    release_quickly(page)
    expect(page.locator("#working")).to_be_visible()
    page.reload()  # in the middle of the work
    expect(page.locator(".verdict .word")).to_be_visible()
    expect(page.locator("tr.current")).to_contain_text("topcode")
    page.go_back()
    page.go_forward()
    expect(page.locator(".verdict .word")).to_be_visible()


def test_a_bad_file_then_two_tabs_and_a_cancelled_release(
    page: Any, server: Started, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b'a,b\n1,"2\n3,4\n')
    choose_file(page, bad)
    expect(page.locator("#notice")).to_contain_text("bad.csv")
    assert str(server.temporary) not in page.locator("#notice").inner_text()
    photograph(page, "1-file-bad")
    audit(page, "#notice")
    page.fill("#path", str(CLINIC))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible()

    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(page.url.replace("/file", "/columns"))
    page.select_option("[aria-label='action for age']", "drop")
    expect(page.locator("tr.a-drop")).to_have_count(2)
    other.select_option("[aria-label='action for sex']", "drop")  # a tab that knows nothing of it
    expect(other.locator("tr.a-drop")).to_have_count(3)
    page.locator("#schema-text").fill("version = 1\n")  # a text of before
    page.get_by_role("button", name="Check this text").click()
    expect(page.locator("#notice")).to_contain_text("changed in another tab")
    expect(page.locator("tr.a-drop")).to_have_count(3)

    page.goto(page.url.replace("/columns", "/release").partition("#")[0])
    other.goto(page.url)
    page.get_by_role("button", name="Make the release").click()
    expect(page.locator("#cancel")).to_be_visible()
    audit(page)
    other.get_by_role("button", name="Make the release").click()  # one at a time
    expect(other.locator("#notice, #cancel").first).to_be_visible()
    page.locator("#cancel").click()
    expect(page.locator("#notice")).to_contain_text("Cancelled. Nothing was written.")
    assert not list(server.temporary.rglob("clinic.release.csv"))
    page.goto(page.url.replace("/release", "/look"))
    expect(page.locator("#release-form")).to_be_visible()  # there is nothing to look at


def test_two_hundred_thousand_rows(page: Any, server: Started, tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    n = 200_000
    file = tmp_path / "long.csv"
    pl.DataFrame(
        {
            "weight": draw.normal(75, 12, n).round(1),
            "height": draw.normal(170, 9, n).round(),
            "age": draw.integers(18, 95, n),
            "ward": draw.choice(["north", "south", "east"], n),
            "smokes": draw.choice(["yes", "no"], n),
        }
    ).write_csv(file)
    choose_file(page, file)
    expect(page.get_by_text("8 of 200,000 rows")).to_be_visible()
    page.get_by_role("link", name="Go on to the columns").click()
    page.fill("[aria-label='highest of weight']", "1 000,5")
    page.keyboard.press("Tab")
    expect(page.locator("[aria-label='highest of weight']")).to_have_value("1000.5")
    page.get_by_role("link", name="Go on to the release").click()
    page.get_by_role("button", name="Make the release").click()
    page.locator("#cancel").click()
    expect(page.locator("#notice")).to_contain_text("Cancelled")
    assert not list(server.temporary.rglob("long.release.csv"))


def test_the_keyboard_is_enough(page: Any) -> None:
    page.fill("#path", str(CLINIC))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible()
    page.goto(page.url.replace("/file", "/columns"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("[aria-label='action for age']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.locator(f"{QUIET} #undo")).to_be_enabled()
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert "age" in name  # the next field of the row, also after the page came anew
    page.locator("#in-order").click()
    page.keyboard.press("Control+z")
    expect(page.locator("#undo")).to_be_disabled()


def test_a_change_before_the_script_is_there_is_not_lost(page: Any) -> None:
    page.fill("#path", str(CLINIC))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible()
    waiting: list[Any] = []
    page.route("**/static/app.js", lambda route: waiting.append(route))

    def let_the_script_come() -> None:
        while waiting:
            waiting.pop().continue_()

    page.goto(page.url.replace("/file", "/columns"), wait_until="commit")
    page.select_option("[aria-label='action for age']", "drop")
    expect(page.locator("tr.a-drop")).to_have_count(1)
    let_the_script_come()
    expect(page.locator("tr.a-drop")).to_have_count(2)

    page.goto(page.url.replace("/columns", "/release"), wait_until="commit")
    page.get_by_label("Stricter at the ends").check()
    expect(page.locator("code").first).not_to_contain_text("--recipe topcode")
    let_the_script_come()
    expect(page.locator(f"{QUIET} code").first).to_contain_text("--recipe topcode")
    expect(page.get_by_label("Stricter at the ends")).to_be_checked()


class Held:
    """Requests of a page to an address, held back until somebody lets them go."""

    def __init__(self, page: Any, address: str) -> None:
        self._page, self._waiting, self._free = page, list[Any](), False
        page.route(address, self._meet)

    def _meet(self, route: Any) -> None:
        if self._free:
            route.fallback()
        else:
            self._waiting.append(route)

    def wait_for_one(self) -> None:
        while not self._waiting:
            self._page.wait_for_timeout(20)

    def let_go(self) -> None:
        """Answer what waits, and all that comes after it."""
        self._free = True
        for route in self._waiting:
            route.continue_()


def test_what_is_changed_while_an_answer_is_under_way_is_not_lost(page: Any) -> None:
    page.fill("#path", str(CLINIC))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible()
    page.get_by_role("link", name="Go on to the columns").click()
    expect(page.locator("html.scripted")).to_be_attached()
    held = Held(page, "**/columns/change")
    page.select_option("[aria-label='action for age']", "drop")
    held.wait_for_one()
    page.select_option("#all-kind", "text")  # chosen, not sent
    page.locator("[aria-label='highest of weight_kg']").press_sequentially("200,5")  # not left
    held.let_go()
    expect(page.locator(f"{QUIET} tr.a-drop")).to_have_count(2)
    expect(page.locator("[aria-label='highest of weight_kg']")).to_have_value("200,5")
    expect(page.locator("[aria-label='highest of weight_kg']")).to_be_focused()
    expect(page.locator("#all-kind")).to_have_value("text")
    page.keyboard.press("Tab")
    expect(page.locator(f"{QUIET} #schema-text")).to_have_value(re.compile("upper = 200.5"))

    held = Held(page, "**/columns/change")  # who goes on does not leave a change behind
    page.select_option("[aria-label='action for sex']", "drop")
    held.wait_for_one()
    page.select_option("[aria-label='action for bmi']", "drop")  # waits for the first
    page.get_by_role("link", name="Go on to the release").click()
    held.let_go()
    expect(page.locator("#release-form")).to_be_visible()
    page.get_by_role("link", name="2 Columns").click()
    expect(page.locator("tr.a-drop")).to_have_count(4)

    page.get_by_role("link", name="3 Release").click()
    expect(page.locator("html.scripted")).to_be_attached()
    held = Held(page, "**/release/start")
    page.get_by_label("Stricter at the ends").check()
    held.wait_for_one()
    page.get_by_label("A quick look").check()
    held.let_go()
    expect(page.locator(f"{QUIET} code").first).to_contain_text("--recipe topcode")
    expect(page.locator("code").first).to_contain_text("--rehearse 0")
    expect(page.get_by_label("A quick look")).to_be_checked()


def test_a_page_that_is_come_back_to_shows_what_holds_now(page: Any) -> None:
    page.fill("#path", str(CLINIC))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible()
    page.goto(page.url.replace("/file", "/release"))
    page.get_by_label("Stricter at the ends").check()
    expect(page.locator(f"{QUIET} code").first).to_contain_text("--recipe topcode")
    other = page.context.new_page()
    other.goto(page.url)
    page.get_by_role("link", name="2 Columns").click()
    other.locator("[name=recipe][value=mixed]").check()
    expect(other.locator(f"{QUIET} code").first).not_to_contain_text("--recipe")
    page.go_back()  # the browser must not put its own memory in place of what was chosen since
    expect(page.locator("html.scripted")).to_be_attached()
    expect(page.locator(f"{QUIET} code").first).not_to_contain_text("--recipe")
    expect(page.locator("[name=recipe][value=mixed]")).to_be_checked()


@pytest.mark.usefixtures("client")
def test_a_page_without_scripts(browser: Any, server: Started) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.address)
    page.fill("#path", str(CLINIC))
    page.locator("form[action='/file/path'] button").click()
    expect(page.get_by_role("heading", name="Its first rows")).to_be_visible(timeout=LONG)
    page.get_by_role("link", name="Go on to the columns").click()
    page.fill("[aria-label='highest of age']", "105")
    page.get_by_role("button", name="Check these changes").click()
    expect(page.locator("#in-order")).to_be_visible()
    assert page.locator("[aria-label='highest of age']").input_value() == "105"
    page.get_by_role("link", name="Go on to the release").click()
    page.get_by_role("button", name="Make the release").click()
    expect(page.locator("#part")).to_have_text("1")
    first = page.locator("#elapsed").inner_text()
    expect(page.locator("#elapsed")).not_to_have_text(first)  # it comes anew by itself
    page.locator("#cancel").click()
    expect(page.locator("#notice")).to_contain_text("Cancelled")
    context.close()


@pytest.mark.usefixtures("client")
def test_a_stranger_in_another_browser_is_kept_out(browser: Any, server: Started) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(server.address.partition("?")[0])
    assert answer.status == 403
    expect(page.get_by_role("heading", name="Not here")).to_be_visible()
    # A page of another origin that posts a form, or frames ours, gets nowhere.
    page.goto(server.address)
    page.goto(
        "data:text/html,<form method=post action='"
        + server.address.partition("?")[0]
        + "close'><button>x</button></form>"
    )
    page.locator("button").click()
    expect(page.get_by_role("heading", name="Not here")).to_be_visible()
    page.goto(server.address)
    expect(page.get_by_role("heading", name="Which file is it?")).to_be_visible()
    context.close()
