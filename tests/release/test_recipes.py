"""Recipes: choices that do not exist, units, and what is said of columns that stay as they are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.errors import ConvergenceError, InputError
from icsa.recipes import resolve_recipe
from icsa.release import anonymize, plan, prepare
from icsa.tables import from_frame


@pytest.mark.parametrize(
    "choice", ["keep_quantiles", "find_relations", "split_zeros", "exact_counts"]
)
@pytest.mark.parametrize("value", [3, 0, "yes", 1.0, None])
def test_switches_are_true_or_false(choice, value):
    with pytest.raises(InputError, match=f"{choice} must be true or false"):
        resolve_recipe("mixed", {choice: value})
    assert getattr(resolve_recipe("mixed", {choice: False}), choice) is False


@pytest.mark.parametrize("value", [True, -1, 101, 2.0, "6"])
def test_rounds_are_a_whole_number(value):
    with pytest.raises(InputError, match="calibration_rounds must be a whole number"):
        resolve_recipe("mixed", {"calibration_rounds": value})


def half_tied() -> pl.DataFrame:
    """Return two measurements, and costs that are zero in 60% of the rows."""
    generator = np.random.default_rng(1)
    costs = np.exp(generator.normal(5, 1, 500))
    return pl.DataFrame(
        {
            "small": generator.normal(0, 1, 500),
            "large": generator.normal(0, 100, 500),
            "costs": np.where(np.arange(500) % 5 < 3, 0.0, costs),
            "sex": generator.integers(0, 2, 500),
        }
    )


def test_raw_units_are_those_of_tied_columns_too():
    table = half_tied()
    planned = plan(prepare(from_frame(table), recipe="paper"), method="sa", raw_units=True)
    np.testing.assert_allclose(planned.scores.std(axis=0), table.to_numpy().std(axis=0), rtol=1e-9)


def test_raw_units_of_a_split_column_are_those_off_its_spike():
    table = half_tied()
    planned = plan(prepare(from_frame(table), recipe="mixed"), method="sa", raw_units=True)
    costs = table["costs"].filter(table["costs"] > 0).to_numpy()
    wanted = [table["small"].std(ddof=0), table["large"].std(ddof=0), np.sqrt(0.24), costs.std()]
    np.testing.assert_allclose(planned.scores.std(axis=0)[:4], wanted, rtol=1e-9)


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ("paper", "come out as they are, only in another order"),
        ("mixed", "come out nearly as they are, but for the farthest, only in another order"),
        ("topcode", "come out nearly as they are, but for the farthest, only in another order"),
    ],
)
def test_what_is_said_of_a_column_alone_is_true(recipe, told):
    values = np.random.default_rng(0).normal(50, 9, 300).round(2)
    values[0] = 900.0
    frame = pl.DataFrame({"x": values})
    release = anonymize(frame, recipe=recipe, mask="permute", random_state=1)
    assert any(told in warning for warning in release.warnings)
    released, values = np.sort(release.table["x"].to_numpy()), np.sort(values)
    assert np.array_equal(released, values) == (recipe == "paper")
    assert np.abs(released - values)[:-1].max() < 9.0
    assert (released[-1] > 200.0) == (recipe == "paper")
    redrawn = anonymize(frame, recipe=recipe, mask="redraw", random_state=1)
    assert not any("only in another order" in warning for warning in redrawn.warnings)
    assert redrawn.table["x"].max() < 200.0


def test_the_rows_that_are_needed_are_told_and_suffice():
    cells = np.random.default_rng(0).normal(size=(101, 49)).round(2)
    wanted = "encoded, they are 49, for which 101 rows are needed"
    with pytest.raises(InputError, match=f"100 rows, too few for its columns: {wanted}"):
        anonymize(pl.DataFrame(cells[:100]), method="forest", random_state=1)
    assert anonymize(pl.DataFrame(cells), method="sa", random_state=1).n_components == 49


@pytest.mark.parametrize("pair", [("mcd50", "mcd50"), ["cov", "cov"]])
def test_a_pair_of_scatters_are_two(pair):
    with pytest.raises(InputError, match=f"names {pair[0]!r} twice. Give two that differ"):
        anonymize(half_tied(), scatters=pair)
    with pytest.raises(InputError, match="'tm' and 'tm1' are one and the same"):
        anonymize(half_tied(), scatters=("tm", "tm1"))


@pytest.mark.parametrize(
    ("pair", "name"),
    [((name, "mcd50"), name) for name in ("tyler_median", "tm1", "tm2", "tm5", "mm", "hp1", "s")]
    + [(("mcd50", "tm2"), "tm2"), (("cov", "hp1"), "hp1")],
)
def test_errors_name_the_scatter_that_was_asked_for(pair, name):
    rare = np.arange(500) < 20
    table = half_tied().with_columns(pl.Series("rare", rare.astype(int)))
    with pytest.raises(InputError, match=f"^{name} is singular on this table"):
        anonymize(table, scatters=pair, random_state=1)


def test_an_iteration_that_does_not_end_names_the_scatter_that_was_asked_for(monkeypatch):
    from icsa.scatters import t_estimate

    def endless(_x, **_options):
        raise ConvergenceError("tm did not converge.")

    monkeypatch.setattr(t_estimate, "tm", endless)
    for name, told in (("tm2", "tm2: tm did not converge"), ("tm", "tm did not converge")):
        with pytest.raises(ConvergenceError, match=f"^{told}"):
            anonymize(half_tied(), scatters=(name, "cov"), random_state=1)
