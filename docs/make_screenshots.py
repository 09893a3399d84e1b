"""The pictures of the README and the front page: the page, a report, a comparison.

Needs the extras `app` and `test`, and Chromium. By hand, from the folder of the project:
``python docs/make_screenshots.py``. What they show is invented.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "_static"
CLINIC = ROOT / "examples" / "clinic.csv"
PATIENTS = ROOT / "examples" / "patients.csv"
WIDTH, HEIGHT, COLOURS = 1100, 720, 96
LONG = 300_000


def main() -> None:
    """Walk through the page with the clinic's table, and take pictures on the way."""
    server = subprocess.Popen(
        [sys.executable, "-m", "icsa", "app", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(LONG)
            page.goto(server.stdout.readline().strip())
            _walk(page, Path(folder))
            _compare(page, Path(folder))
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _walk(page: Any, folder: Path) -> None:
    page.set_input_files("#upload", CLINIC)
    page.locator("form[action='/file/upload'] button").click()
    page.get_by_role("link", name="Go on to the columns").click()
    page.locator("summary", has_text="What holds between").click()
    page.locator("#c3").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT + 280})
    _take(page, "app_columns")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.get_by_role("link", name="Go on to the release").click()
    page.get_by_role("button", name="Make the release").click()
    page.locator(".verdict .word").wait_for()
    page.get_by_role("heading", name="Column by column").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    _take(page, "app_look")
    page.goto(page.url.replace("/look", "/hand-out"))
    page.get_by_label("Release 1").check()
    page.get_by_role("button", name="Mark it").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the public report").click()
    report = folder / "report.html"
    waiting.value.save_as(report)
    page.goto(report.as_uri())
    _take(page, "report")


def _compare(page: Any, folder: Path) -> None:
    """Race ways to release a smaller table, which takes some minutes."""
    shutil.copy(PATIENTS, folder)
    race = ("icsa", "compare", PATIENTS.name, "--budget", "1", "--report", "comparison.html")
    subprocess.run([sys.executable, "-m", *race, "--quiet"], cwd=folder, check=True)
    page.goto((folder / "comparison.html").as_uri())
    _take(page, "comparison")


def _take(page: Any, name: str) -> None:
    """Write a picture with few colours: some ten kilobytes."""
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path)
    with Image.open(path) as taken:
        taken.convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
