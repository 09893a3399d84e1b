"""The report on paper: few pages, the first one to sign; needs a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from icsa import cli

CLINIC = Path(__file__).parents[2] / "examples" / "clinic.csv"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.mark.skipif(BROWSER is None, reason="no browser to print with")
def test_the_clinic_is_at_most_eight_pages(tmp_path: Path) -> None:
    reports = {name: tmp_path / f"{name}.html" for name in ("--report", "--public-report")}
    options = [part for name, path in reports.items() for part in (name, str(path))]
    less = ["--redraws", "3", "--rehearse", "2", "--output", str(tmp_path / "r.csv"), "--quiet"]
    assert cli.run(["anonymize", str(CLINIC), *options, *less]) == 0
    for path in reports.values():
        printed = path.with_suffix(".pdf")
        quietly = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        subprocess.run(
            [str(BROWSER), *quietly, f"--print-to-pdf={printed}", path.as_uri()],
            check=True,
            capture_output=True,
            timeout=300,
        )
        pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", printed.read_bytes()))
        assert 3 <= pages <= 8
