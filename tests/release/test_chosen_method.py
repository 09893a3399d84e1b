"""Which method is taken by itself: forests where curves are strong and rows suffice."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.assessment import assess
from icsa.inspection import guess_schema
from icsa.release import plan, prepare
from icsa.release.chosen_method import chosen_method
from icsa.release.methods import method_of
from icsa.schema import Schema
from icsa.tables import Table
from tests.release.tables import clinic


def curved(n: int = 500, strength: float = 1.0) -> pl.DataFrame:
    x, y, z = np.random.default_rng(0).normal(size=(3, n))
    effect = strength * x**2 + y
    cells = {"dose": x, "effect": effect, "other": z + 0.5 * x, "more": y + z}
    return pl.DataFrame(cells).with_columns(pl.all().round(3))


def test_forests_are_taken_where_curves_are_strong_and_it_is_said() -> None:
    made = icsa.anonymize(curved(), random_state=1)
    assert made.method == "forest"
    assert "of effect" in made.why
    assert made.why.endswith("The other: --method icsa")
    asked = icsa.anonymize(curved(), method="forest", random_state=1)
    assert asked.why == ""
    assert asked.table.equals(made.table)
    assert icsa.anonymize(curved(), method="auto", random_state=1).table.equals(made.table)


def test_straight_tables_stay_with_robust_coordinates_and_their_bytes() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=(600, 5)) @ generator.normal(size=(5, 5))
    frame = pl.DataFrame(x.round(3))
    made = icsa.anonymize(frame, random_state=1)
    assert made.method == "icsa"
    assert made.why == (
        "icsa was taken by itself: no column has strong curves. The other: --method forest"
    )
    assert made.table.equals(icsa.anonymize(frame, method="icsa", random_state=1).table)


def test_few_rows_stay_with_robust_coordinates_and_the_limit_is_said() -> None:
    made = icsa.anonymize(curved(300), random_state=1)
    assert made.method == "icsa"
    assert "300 rows are fewer than the 400 that forests need" in made.why
    assert any("--method forest" in note for note in made.warnings)


def test_weak_curves_are_told_and_no_more() -> None:
    choice = chosen_method(method_of(), {"x": 0.04}, 2_000, coordinates=False)
    assert choice.method.name == "icsa"
    assert "curves explain 4% of x" in choice.why
    assert "--method forest" in choice.why


@pytest.mark.parametrize(
    "options",
    [
        {"mask": "permute"},
        {"scatters": ("mcd75", "cov")},
        {"recipe": "paper"},
        {"method": "icsa"},
        {"schema": {"mask": "rotate"}},
    ],
)
def test_what_is_asked_for_goes_before(options: dict[str, object]) -> None:
    table = Table(curved())
    if "schema" in options:
        options = {"schema": Schema(columns=guess_schema(table).columns, recipe=options["schema"])}
    assert icsa.anonymize(table, random_state=1, **options).method == "icsa"


def test_strata_are_made_alike() -> None:
    frame = curved(1000).with_columns(site=pl.Series(["a", "b"] * 500))
    made = icsa.anonymize(frame, strata="site", random_state=1)
    assert made.method == "icsa"


def test_levels_alone_with_curves_are_drawn_by_forests() -> None:
    generator = np.random.default_rng(0)
    first = generator.integers(1, 6, 600)
    second = np.where(np.abs(first - 3) < 1.5, 2, 1)
    flipped = generator.random(600) < 0.1
    frame = pl.DataFrame({"a": first, "b": np.where(flipped, 3 - second, second)})
    frame = frame.with_columns(c=pl.Series(generator.integers(1, 4, 600)))
    made = icsa.anonymize(frame, random_state=1)
    assert made.method == "forest"
    assert not any("NOT THE ROBUST METHOD" in note for note in made.warnings)


def test_a_release_by_forests_is_rehearsed_and_drawn_again() -> None:
    table = Table(curved())
    planned = plan(prepare(table))
    assert planned.method == "forest"
    made = icsa.release.releasing.release(planned, icsa.randomness.as_key(1))
    found = assess(table, made.table, plan=planned, rehearse=2, redraws=30, making=made)
    assert found.control.kind == "rehearsal"
    assert found.control.n_halves == 2


def test_a_clinic_keeps_its_method() -> None:
    assert icsa.anonymize(clinic(500), random_state=1).method == "icsa"
