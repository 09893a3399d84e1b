"""Tables in which no column can tell who stands out: released by what works, and said loudly."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.cli import run
from icsa.errors import NoAnchorError
from icsa.release import anonymize

LOUD = "NOT THE ROBUST METHOD"


def answers(n_rows: int = 400) -> pl.DataFrame:
    """Return a questionnaire: levels only, and they go together."""
    generator = np.random.default_rng(8)
    mood = generator.normal(size=n_rows)
    columns = {
        f"q{j}": np.digitize(mood + generator.normal(size=n_rows), [-1.5, -0.5, 0.5, 1.5]) + 1
        for j in range(5)
    }
    return pl.DataFrame({**columns, "sex": generator.choice(["f", "m"], n_rows)})


def tied() -> pl.DataFrame:
    """Return two columns of numbers in which most rows have one value, and levels."""
    generator = np.random.default_rng(9)
    doses = {
        name: np.where(generator.random(300) < 0.8, 4.5, generator.normal(5, 1, 300).round(2))
        for name in ("dose", "other")
    }
    group = generator.integers(1, 4, 300)
    return pl.DataFrame({**doses, "group": group, "grade": (group + doses["dose"]).round()})


@pytest.mark.parametrize("table", [answers(), tied()], ids=["levels", "tied"])
def test_principal_components_are_taken_where_nobody_asked_for_another_method(table):
    release = anonymize(table, random_state=1)
    assert release.method == "sa"
    assert release.scatters == ("identity", "cov")
    assert sum(LOUD in warning for warning in release.warnings) == 1
    assert release.table.equals(anonymize(table, method="sa", random_state=1).table)
    assert not any(LOUD in w for w in anonymize(table, method="sa", random_state=1).warnings)


@pytest.mark.parametrize("asked", [{"method": "icsa"}, {"scatters": ("mcd50", "mcd75")}])
def test_no_other_method_is_taken_than_one_that_was_asked_for(asked):
    with pytest.raises(NoAnchorError, match=r"need a continuous column .*--method sa"):
        anonymize(answers(), **asked)


def test_the_mask_is_the_one_that_was_asked_for():
    assert anonymize(answers(), mask="flip", random_state=1).mask == "flip"


def test_the_command_says_so_too(tmp_path, capsys):
    path = tmp_path / "answers.csv"
    answers().write_csv(path)
    assert run(["anonymize", str(path), "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert "SA with identity and cov" in shown
    assert f"look at: {LOUD}" in shown


def test_a_table_wider_than_long_comes_out_and_what_is_lost_is_said(tmp_path, capsys):
    path = tmp_path / "wide table.csv"
    values = np.random.default_rng(1).normal(size=(60, 202))
    pl.DataFrame(values, schema=[f"gene{j}" for j in range(202)]).write_csv(path)
    for method in ([], ["--method", "sa"]):
        assert run(["anonymize", str(path), "--seed", "1", "--force", *method]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "MORE COLUMNS THAN ROWS CAN TELL APART: 60 rows" in told
        assert "assess the release" in told
    assert run(["anonymize", str(path), "--method", "forest", "--force"]) == 2
    assert "Use --method icsa" in capsys.readouterr().err
