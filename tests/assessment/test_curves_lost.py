"""Curves that a release lost are in the document, both editions, the terminal and the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.assessment import Assessment, assess
from icsa.cli import run
from icsa.report import write_assessment_report


def wages(n: int = 600) -> pl.DataFrame:
    generator = np.random.default_rng(0)
    years = np.rint(generator.uniform(0, 40, n))
    wage = 2.0 + 0.1 * years - 0.0025 * years**2 + 0.3 * generator.normal(size=n)
    school = np.rint(generator.normal(12, 2, n))
    return pl.DataFrame({"wage": wage.round(3), "years": years, "school": school})


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    frame = wages()
    return {
        "original": frame,
        "icsa": icsa.anonymize(frame, method="icsa", random_state=1).table,
        "forest": icsa.anonymize(frame, method="forest", random_state=1).table,
    }


@pytest.fixture(scope="module")
def straight(tables: dict[str, pl.DataFrame]) -> Assessment:
    return assess(tables["original"], tables["icsa"])


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_lost_curves_are_in_both_editions(straight: Assessment, edition: str) -> None:
    curves = straight.document(edition).utility.curves
    assert curves.lost == len(curves.worst) >= 1
    assert curves.found >= curves.lost
    assert curves.compared == 9  # six terms, not on their own factors
    (worst, *_) = curves.worst
    assert (worst.column, worst.first, worst.second) == ("wage", "years", "years")
    assert abs(worst.released - worst.original) > worst.chance > 0


def test_forests_lose_none(tables: dict[str, pl.DataFrame]) -> None:
    curves = assess(tables["original"], tables["forest"]).document("internal").utility.curves
    assert curves.found >= 1
    assert curves.lost == 0


def test_the_report_lists_them(straight: Assessment, tmp_path: Path) -> None:
    for edition in ("internal", "public"):
        path = tmp_path / f"{edition}.html"
        write_assessment_report(straight.document(edition), path)
        page = path.read_text(encoding="utf-8")
        assert "Curves that were lost" in page
        assert "years²" in page


def test_the_terminal_says_so(
    tables: dict[str, pl.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("original", "icsa"):
        tables[name].write_csv(tmp_path / f"{name}.csv")
    assert run(["assess", str(tmp_path / "original.csv"), str(tmp_path / "icsa.csv")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "curves: Squares and products of columns (9 compared)" in told
    assert "years² on wage" in told
    assert "--method forest" in told
