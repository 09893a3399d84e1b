"""Releases by forests: curves kept, all kinds, nobody far out, the same key the same bytes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.release.planning import PlanOnce
from icsa.release.triangular import Drawn, SameAs
from icsa.schema import Schema
from icsa.tables import Table
from tests.release.tables import clinic


def known_truth(n: int = 600, seed: int = 0) -> pl.DataFrame:
    """Return a table with a square, a product, a circle and two clusters."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 3))
    angle, radius = generator.uniform(0.0, 2.0 * np.pi, n), 1.0 + 0.1 * generator.normal(size=n)
    cluster = 4.0 * generator.integers(0, 2, n)
    return pl.DataFrame(
        {
            "x1": x[:, 0],
            "x2": x[:, 1],
            "x3": x[:, 2],
            "y": x[:, 0] ** 2 + x[:, 1] * x[:, 2] + 0.5 * generator.normal(size=n),
            "cx": radius * np.cos(angle),
            "cy": radius * np.sin(angle),
            "k1": cluster + 0.6 * generator.normal(size=n),
            "k2": cluster + 0.6 * generator.normal(size=n),
        }
    )


def curves_of(frame: pl.DataFrame) -> dict[str, float]:
    x1, x2, x3, y, cx, cy, k1, k2 = frame.to_numpy().T
    design = np.column_stack([np.ones_like(y), x1, x2, x3, x1**2, x2 * x3])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0]
    between = (k1 + k2 > 2.5) & (k1 + k2 < 5.5)
    radius = float(np.hypot(cx, cy).std())
    return {"square": slopes[4], "product": slopes[5], "ring": radius, "between": between.mean()}


def test_curves_products_circles_and_clusters_are_kept() -> None:
    frame = known_truth()
    kept = curves_of(icsa.anonymize(frame, method="forest", random_state=1).table)
    lost = curves_of(icsa.anonymize(frame, method="icsa", random_state=1).table)
    assert kept["square"] > 0.6 > 0.3 > lost["square"]  # 1 in the original
    assert kept["product"] > 0.3 > lost["product"]  # 1
    assert kept["ring"] < 0.19 < 0.24 < lost["ring"]  # .1
    assert kept["between"] < 0.03 < 0.06 < lost["between"]  # 0


def test_the_curve_of_a_wage_equation_is_kept() -> None:
    generator = np.random.default_rng(0)
    school = np.clip(np.rint(generator.normal(12.5, 2.5, 1000)), 4, 20)
    years = np.clip(np.rint(generator.gamma(2.2, 8.0, 1000)), 0, 50)
    wage = 0.8 + 0.09 * school + 0.06 * years - 0.0012 * years**2
    wage = wage + 0.45 * generator.normal(size=1000)
    frame = pl.DataFrame({"wage": wage.round(3), "school": school, "years": years})

    def square(of: pl.DataFrame) -> float:
        y, s, e = of.to_numpy().T
        return float(np.linalg.lstsq(np.column_stack([s**0, s, e, e**2]), y, rcond=None)[0][3])

    true = square(frame)
    assert square(icsa.anonymize(frame, method="forest", random_state=1).table) < 0.6 * true
    lost = icsa.anonymize(frame, method="icsa", random_state=1)
    assert square(lost.table) > 0.5 * true
    assert any("of wage" in note and "--method forest" in note for note in lost.warnings)


def test_all_kinds_and_missing_cells_come_out_as_they_were() -> None:
    frame = clinic(300)
    made = icsa.anonymize(frame, method="forest", random_state=1)
    assert made.method == "forest"
    assert made.scatters == ()
    assert made.mask == ""
    assert "forest" in repr(made)
    for name in made.table.columns:
        assert made.table[name].dtype == frame[name].dtype
        assert made.table[name].null_count() == frame[name].null_count()


def test_every_kind_of_score_is_drawn_by_its_own_law() -> None:
    table = Table(clinic(300))
    planned = plan(prepare(table), method="forest")
    assert planned.triangular is not None
    drawn = {step.variable.drawn for step in planned.triangular.steps}
    assert drawn >= {Drawn.NUMBER, Drawn.TWO, Drawn.LEVEL}
    places = [place for step in planned.triangular.steps for place in step.variable.places]
    assert sorted(places) == list(range(planned.scores.shape[1]))
    seen: set[int] = set()
    for step in planned.triangular.steps:  # patterns of missing cells come before their columns
        if step.variable.group is not None:
            seen.add(step.variable.group)
        elif step.variable.part is not None and step.variable.part.group is not None:
            assert step.variable.part.group in seen


def test_sums_and_dates_hold_exactly() -> None:
    made = icsa.anonymize(clinic(200), method="forest", random_state=1).table
    there = made.drop_nulls()
    assert there.height > 50
    assert (there["total"] == there["part_a"] + there["part_b"]).all()
    assert (there["stay"] == (there["discharged"] - there["admitted"]).dt.total_days()).all()
    assert (there["discharged"] >= there["admitted"]).all()


def test_people_planted_far_out_do_not_come_back() -> None:
    frame = known_truth(400)
    rows = [3, 77, 200]
    planted = frame.to_numpy().copy()
    planted[rows] = 40.0 * np.sign(np.random.default_rng(1).normal(size=(3, 8)))
    of_planted = pl.DataFrame(planted, schema=frame.columns)
    made = icsa.anonymize(of_planted, method="forest", random_state=1).table.to_numpy()
    nearest = [np.linalg.norm(made - planted[row], axis=1).min() for row in rows]
    assert min(nearest) > 60.0  # 113 from the middle; SA gives them back within 20


def test_one_key_one_release_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = clinic(300)
    first = icsa.anonymize(frame, method="forest", random_state=1).table
    for module in ("planning", "calibration"):
        monkeypatch.setattr(f"icsa.release.{module}.threads_for", lambda *_: 3)
    assert icsa.anonymize(frame, method="forest", random_state=1).table.equals(first)
    assert not icsa.anonymize(frame, method="forest", random_state=2).table.equals(first)


def test_a_plan_serves_many_keys() -> None:
    planned = plan(prepare(Table(clinic(200))), method="forest")
    once = release(planned, as_key(1)).table.frame
    release(planned, as_key(2))
    assert release(planned, as_key(1)).table.frame.equals(once)
    assert icsa.anonymize(clinic(200), method="forest", random_state=1).table.equals(once)


@pytest.mark.parametrize("option", ["mask", "scatters"])
def test_what_is_for_coordinates_is_refused(option: str) -> None:
    given = {"mask": "permute"} if option == "mask" else {"scatters": ("mcd50", "mcd75")}
    with pytest.raises(InputError, match=f"no coordinates that --{option}.*--method icsa"):
        icsa.anonymize(clinic(100), method="forest", **given)


def test_a_mask_in_a_schema_is_refused() -> None:
    table = Table(clinic(100))
    schema = Schema(columns=guess_schema(table).columns, recipe={"mask": "permute"})
    with pytest.raises(InputError, match=r"The schema chooses a mask.*nothing is masked"):
        icsa.anonymize(table, method="forest", schema=schema)


@pytest.mark.parametrize("recipe", ["mixed", "topcode", "paper"])
def test_every_recipe_does(recipe: str) -> None:
    made = icsa.anonymize(clinic(200), method="forest", recipe=recipe, random_state=1)
    assert made.recipe.name == recipe


def test_tables_without_a_continuous_column_do() -> None:
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({f"q{j}": generator.integers(0, 2, 100) for j in range(6)})
    made = icsa.anonymize(frame, method="forest", random_state=1).table
    assert made.sum().equals(frame.sum())


def test_what_parts_people_in_the_same_two_goes_on_to_do_so() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=300)
    dead = generator.random(300) < 1.0 / (1.0 + np.exp(-x))
    cause = [c if d else None for c, d in zip(generator.choice(["a", "b"], 300), dead, strict=True)]
    frame = pl.DataFrame({"x": x.round(3), "alive": (~dead).astype(int), "cause": cause})
    planned = plan(prepare(Table(frame)), method="forest")
    assert planned.triangular is not None
    assert [type(step.law) for step in planned.triangular.steps].count(SameAs) == 1
    for seed in range(3):
        made = release(planned, as_key(seed)).table.frame
        assert (made["cause"].is_null() == (made["alive"] == 1)).all()


def test_cells_of_rows_that_are_far_out_do_not_count_for_later_columns() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=300)
    x[:2] = 60.0, 61.0
    frame = pl.DataFrame({"x": x, "y": np.sin(x) + generator.normal(size=300)})
    y = frame["y"].to_numpy().copy()
    y[:2] = y[1], y[0]  # other cells beside the two, the same cells in all

    def residuals(of: pl.DataFrame) -> list[np.ndarray]:
        planned = plan(prepare(Table(of)), method="forest")
        assert planned.triangular is not None
        steps = {step.variable.places[0]: step.law for step in planned.triangular.steps}
        assert list(steps) == [0, 1]
        return [np.sort(law.leaves.residuals) for law in steps.values()]

    for before, after in zip(residuals(frame), residuals(frame.with_columns(y=y)), strict=True):
        assert np.allclose(before, after)


def test_scores_are_drawn_in_their_own_units() -> None:
    frame = known_truth(400)
    made = icsa.anonymize(frame, method="forest", recipe="paper", random_state=1).table
    for name in frame.columns:
        assert abs(made[name].mean() - frame[name].mean()) < 0.25 * frame[name].std()
        assert 0.8 < made[name].std() / frame[name].std() < 1.2


@pytest.mark.parametrize("recipe", ["mixed", "paper"])
def test_levels_without_an_order_go_with_what_they_go_with(recipe: str) -> None:
    generator = np.random.default_rng(0)
    x = generator.uniform(0.0, 4.0, 500)
    level = np.array(["a", "b", "c", "a"])[x.astype(int)]  # a at both ends
    frame = pl.DataFrame({"x": x.round(3), "z": generator.normal(size=500), "level": level})
    made = icsa.anonymize(frame, method="forest", recipe=recipe, random_state=1).table
    expected = np.array(["a", "b", "c", "a"])[np.clip(made["x"].to_numpy(), 0.0, 3.9).astype(int)]
    assert (made["level"].to_numpy() == expected).mean() > 0.7  # .38 by chance


def test_cells_that_are_missing_tell_nothing_while_others_are_drawn() -> None:
    generator = np.random.default_rng(0)
    x, gone = generator.normal(size=600), generator.random(600) < 0.3
    y = np.where(gone, 0.0, 3.0 * x) + 0.3 * generator.normal(size=600)
    first = pl.Series("x", np.where(gone, np.nan, x.round(3)), nan_to_null=True)
    made = icsa.anonymize(pl.DataFrame([first, pl.Series("y", y)]), method="forest", random_state=1)
    beside = made.table.filter(pl.col("x").is_null())["y"]
    assert abs(beside.mean()) < 0.5
    assert beside.std() < 1.5


def test_where_a_constant_is_missing_is_drawn_too() -> None:
    draw = np.random.default_rng(0)
    x, gone = draw.normal(size=600), draw.random(600) < 0.5
    frame = pl.DataFrame({"x": x, "y": x**2, "unit": np.where(gone, None, "mg").tolist()})
    planned = plan(prepare(Table(frame)), method="forest")
    for made in (release(planned, as_key(1)), release(PlanOnce(planned), as_key(1))):
        found = made.table.frame["unit"].is_null().to_numpy()
        assert found.sum() == gone.sum()
        assert 230 < np.sum(found == gone) < 370
