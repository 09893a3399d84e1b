"""Whole releases of mixed tables."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import ICSAError, InputError, UnknownNameError
from icsa.inspection import guess_schema
from icsa.randomness import as_key
from icsa.release import RECIPES, PlanOnce, anonymize, plan, prepare, release
from icsa.schema import ColumnSpec, Schema
from icsa.tables import Table, Variable, from_frame
from tests.release.tables import clinic, frames


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return clinic()


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("method", ["icsa", "sa"])
def test_rows_types_names_and_counts_are_kept(table, recipe, method):
    released = anonymize(table, recipe=recipe, method=method, random_state=1).table
    assert released.columns == [name for name in table.columns if name != "remark"]
    assert released.height == table.height
    for name in released.columns:
        assert released[name].dtype == table[name].dtype
        assert released[name].null_count() == table[name].null_count()
    for name in ("smokes", "ward", "stage"):
        counts = [frame[name].value_counts().sort(name) for frame in (table, released)]
        assert counts[0].equals(counts[1])


def test_relations_and_orders_hold_exactly(table):
    release = anonymize(table, random_state=2)
    released = release.table
    assert (released["total"] == released["part_a"] + released["part_b"]).all()
    stay = (released["discharged"] - released["admitted"]).dt.total_days()
    assert (stay == released["stay"]).all()
    assert (released["discharged"] >= released["admitted"]).all()
    assert any("total = part_a + part_b" in relation for relation in release.relations)


def test_cells_stay_on_the_lattice_and_within_natural_bounds(table):
    released = anonymize(table, random_state=3).table
    assert (released["weight"].drop_nulls() * 2 % 1 == 0).all()
    np.testing.assert_allclose(released["crp"].drop_nulls(), released["crp"].drop_nulls().round(1))
    assert (released["crp"].drop_nulls() > 0).all()
    assert (released["cigarettes"] >= 0).all()
    assert (released["cigarettes"] == 0).sum() == (table["cigarettes"] == 0).sum()


def test_columns_missing_together_stay_so(table):
    released = anonymize(table, random_state=4).table
    assert (released["crp"].is_null() == released["weight"].is_null()).all()


def test_identifiers_are_fresh_and_text_is_gone(table):
    release = anonymize(table, random_state=5)
    assert not set(release.table["patient_id"]) & set(table["patient_id"])
    assert release.table["patient_id"].n_unique() == table.height
    actions = {change.name: change.action for change in release.columns}
    assert actions["remark"] == "dropped"
    assert actions["patient_id"] == "replaced"
    assert actions["country"] == "constant"
    assert actions["total"] == "recomputed"


def test_the_release_depends_on_the_key_alone(table):
    first, again, other = (anonymize(table, random_state=key).table for key in (7, 7, 8))
    assert first.equals(again)
    assert not first.equals(other)
    assert not anonymize(table).table.equals(anonymize(table).table)


def test_no_row_comes_out_as_it_was(table):
    released = anonymize(table, random_state=9).table
    numbers = ["age", "crp", "weight", "part_a", "part_b", "stay"]
    assert released.join(table, on=numbers, how="inner", nulls_equal=True).height == 0


def test_kept_columns_are_verbatim_in_another_order_and_said(table):
    release = anonymize(table, keep=["ward", "smokes"], random_state=10)
    kept = ["ward", "smokes"]
    assert release.table.select(kept).sort(kept).equals(table.select(kept).sort(kept))
    assert not release.table.select(kept).equals(table.select(kept))
    assert any("as they are" in warning for warning in release.warnings)
    assert {c.action for c in release.columns if c.name in kept} == {"kept"}
    with pytest.raises(UnknownNameError, match="ward"):
        anonymize(table, keep=["wart"])


def test_a_seed_marks_the_release_and_the_key_comes_only_when_asked(table):
    seeded, secret = anonymize(table, random_state=1), anonymize(table)
    assert seeded.reproducible
    assert "not for release" in seeded.warnings[0]
    assert not secret.reproducible
    assert secret.key is None
    keyed = anonymize(table, return_key=True)
    assert keyed.table.equals(anonymize(table, random_state=keyed.key.reveal()).table)


@pytest.mark.parametrize("mask", ["flip", "rotate"])
def test_other_masks(table, mask):
    released = anonymize(table, mask=mask, random_state=1)
    assert released.mask == mask
    assert released.table.height == table.height
    with pytest.raises(UnknownNameError, match="rotate"):
        anonymize(table, mask="rotat")


def test_the_original_is_not_touched(table):
    before = table.clone()
    anonymize(table, random_state=1)
    assert table.equals(before)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars"])
def test_frames_come_back_as_they_went_in(table, kind):
    frame = {
        "pandas": lambda: table.to_pandas(),
        "pyarrow": lambda: table.to_arrow(),
        "polars": lambda: table,
    }[kind]()
    released = anonymize(frame, random_state=1).table
    assert type(released) is type(frame)


def test_missing_codes_come_back_as_often_as_they_were():
    table = clinic()
    generator = np.random.default_rng(1)
    code = generator.choice([0, 97, 99], table.height, p=[0.8, 0.1, 0.1])
    income = np.where(code > 0, code * 10_000, generator.integers(1000, 5000, table.height))
    table = table.with_columns(income=income)
    source = Table(table, {"income": Variable(missing_codes=(970_000, 990_000))})
    release = anonymize(source, random_state=1)
    released = release.table.frame["income"]
    for value in (970_000, 990_000):
        assert (released == value).sum() == (table["income"] == value).sum()
    change = next(c for c in release.columns if c.name == "income")
    assert change.missing_before == change.missing_after == int((code > 0).sum())


def test_declared_rules_hold_and_moved_cells_are_counted():
    table = clinic()
    table = table.with_columns(low=pl.col("age") - 30, high=pl.col("age") + pl.col("part_a") + 1)
    schema = guess_schema(from_frame(table))
    ruled = Schema(columns=schema.columns, rules=("low <= high", "age <= 95"))
    release = anonymize(table, schema=ruled, random_state=1)
    assert (release.table["low"] <= release.table["high"]).all()
    assert (release.table["age"] <= 95).all()
    assert set(release.moved_cells) == {"low <= high", "age <= 95"}
    broken = Schema(columns=schema.columns, rules=("high <= low",))
    with pytest.raises(InputError, match="high <= low"):
        anonymize(table, schema=broken)


def test_bounds_of_the_schema_are_honoured():
    table = clinic()
    schema = guess_schema(from_frame(table))
    columns = dict(schema.columns)
    columns["age"] = ColumnSpec(name="age", kind="integer", lower=18, upper=100)
    released = anonymize(table, schema=Schema(columns=columns), random_state=1).table
    assert released["age"].is_between(18, 100).all()
    columns["age"] = ColumnSpec(name="age", kind="integer", lower=40)
    with pytest.raises(InputError, match=r"'age'.*below the declared lower bound"):
        anonymize(table, schema=Schema(columns=columns))


@pytest.mark.parametrize("rows", [0, 1, 29])
def test_few_rows_are_refused(table, rows):
    with pytest.raises(InputError, match="rows"):
        anonymize(table.head(rows))


def test_three_hundred_columns():
    wide = pl.DataFrame(np.random.default_rng(0).normal(size=(700, 300)).round(3))
    assert anonymize(wide, method="sa", random_state=1).table.shape == (700, 300)


def test_rows_whose_signs_all_stay_are_told_of():
    frame = pl.DataFrame(np.random.default_rng(1).normal(size=(500, 5)), schema=list("abcde"))
    told = {
        mask: " ".join(anonymize(frame, mask=mask, random_state=1).warnings)
        for mask in ("flip", "permute")
    }
    assert "once in 2^5 times: about 16 of 500 people" in told["flip"]
    assert "2^5" not in told["permute"]


def test_few_coordinates_are_warned_of():
    table = pl.DataFrame(np.random.default_rng(0).normal(size=(100, 2)))
    assert any("Only 2" in warning for warning in anonymize(table, random_state=1).warnings)


def test_spectral_anonymization_does_not_depend_on_units_unless_asked():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(100, 4)) @ generator.normal(size=(4, 4))
    table = pl.DataFrame(x)
    scaled = table.with_columns(pl.col("column_0") * 1024.0)
    options = {"recipe": "paper", "method": "sa", "random_state": 1}
    plain, other = (anonymize(t, **options).table for t in (table, scaled))
    np.testing.assert_allclose(other["column_0"] / 1024.0, plain["column_0"], rtol=1e-8)
    raw = anonymize(scaled, raw_units=True, **options).table
    assert np.abs(raw["column_1"] - plain["column_1"]).max() > 0.1


def test_raw_units_of_the_paper_are_plain_spectral_anonymization():
    from icsa import anonymize_matrix
    from icsa.randomness import as_key

    x = np.random.default_rng(0).normal(size=(100, 4)) * [1.0, 10.0, 0.1, 3.0]
    released = anonymize(
        pl.DataFrame(x), recipe="paper", method="sa", raw_units=True, random_state=1
    ).table.to_numpy()
    key = as_key(1).child("mask")
    expected = anonymize_matrix(x, scatters=("identity", "cov"), mask="permute", random_state=key)
    np.testing.assert_allclose(released, expected, rtol=1e-9, atol=1e-9)


def test_an_outlier_is_hidden_by_robust_coordinates_and_copied_by_spectral_ones():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(200, 8))
    x[0] += 500.0
    table = pl.DataFrame(x)
    nearest = {}
    for method in ("sa", "icsa"):
        released = anonymize(table, recipe="paper", method=method, random_state=1).table.to_numpy()
        nearest[method] = np.linalg.norm(released - x[0], axis=1).min() / np.linalg.norm(x[0])
    assert nearest["sa"] < 0.05 < 0.3 < nearest["icsa"]


@given(frame=frames(), seed=st.integers(0, 3), recipe=st.sampled_from(sorted(RECIPES)))
def test_any_table_gives_a_release_or_one_clear_error(frame, seed, recipe):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            released = anonymize(frame, recipe=recipe, method="sa", random_state=seed).table
        except ICSAError:
            return
    assert released.height == frame.height
    for name in released.columns:
        assert released[name].dtype == frame[name].dtype


def test_a_value_that_one_person_has_is_not_a_constant():
    table = clinic().with_columns(rare=pl.Series([None] * 119 + ["chordoma"]))
    release = anonymize(table, random_state=1)
    assert "rare" not in release.table.columns


def test_a_column_without_any_cell_stays_so():
    table = clinic().with_columns(empty=pl.lit(None, dtype=pl.Float64))
    for method in ("icsa", "sa"):
        released = anonymize(table, method=method, random_state=1).table
        assert released["empty"].null_count() == table.height


def test_rare_levels_are_told():
    table = clinic().with_columns(job=pl.Series(["nurse", "cook"] * 59 + ["nurse", "bishop"]))
    assert any(w.startswith("job: 1 level") for w in anonymize(table, random_state=1).warnings)


def test_a_release_that_spreads_too_far_is_told():
    table = clinic().with_columns(income=np.random.default_rng(0).normal(2e4, 1e3, 120).round(2))
    table[7, "income"] = 5e6
    warnings_ = anonymize(table, recipe="paper", random_state=1).warnings
    assert any("somebody stands out very far" in warning for warning in warnings_)


def test_fresh_numbers_are_none_of_the_old():
    table = clinic().with_columns(patient_id=pl.Series(range(1, 121)))
    released = anonymize(table, random_state=1).table
    assert not set(released["patient_id"]) & set(table["patient_id"])


def test_a_cell_too_far_is_named_by_its_row_in_a_long_table():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({name: rng.normal(size=20_000) for name in ("a", "b", "c", "d")})
    far = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 17_000).then(1e300).otherwise("b").alias("b")
    )
    with pytest.raises(InputError, match=r"'b': 1 of 20000 cells are too far .*row 17001"):
        anonymize(far, random_state=1)


def test_a_table_without_the_cells_that_are_masked_gives_the_same_release():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({name: rng.normal(size=60) for name in ("a", "b", "c", "d")})
    table = from_frame(frame.with_columns(pl.Series("e", [9, None, 1] * 20)))
    planned = plan(prepare(table, keep=["e"]))
    assert planned.spare.frame.select("a", "b", "c", "d").null_count().row(0) == (60, 60, 60, 60)
    full, less = (release(p, as_key(5)) for p in (replace(planned, spare=table), planned))
    assert full.table.frame.equals(less.table.frame)
    assert full.columns == less.columns


def test_what_is_used_up_says_so_and_a_plan_never_is():
    rng = np.random.default_rng(4)
    table = from_frame(pl.DataFrame({name: rng.normal(size=60) for name in ("a", "b", "c", "d")}))
    prepared = prepare(table)
    planned = plan(prepared)
    with pytest.raises(InputError, match="makes one plan"):
        plan(prepared)
    scores = planned.scores.copy()
    first, second = (release(planned, as_key(5)).table.frame for _ in range(2))
    assert np.array_equal(planned.scores, scores)
    once = PlanOnce(planned)
    third = release(once, as_key(5)).table.frame
    assert first.equals(second)
    assert first.equals(third)
    assert not np.array_equal(planned.scores, scores)  # masked where they were
    with pytest.raises(InputError, match="makes one release"):
        release(once, as_key(5))


def test_labels_of_replaced_codes_are_not_released() -> None:
    codes = np.random.default_rng(4).permutation(60) + 0.0
    names = {float(code): f"Mrs. No {code:.0f}" for code in codes}
    ages = np.random.default_rng(5).integers(20, 90, 60)
    table = Table(
        pl.DataFrame({"who": codes, "age": ages, "weight": ages * 0.7 + codes}),
        {"who": Variable(label="patient", value_labels=names, missing_codes=(99.0,))},
    )
    release = anonymize(table, random_state=1).table
    assert release.variables["who"] == Variable(label="patient")
    assert release.frame["who"].min() > codes.max()
