"""Rules, bounds, kept columns and relations do not undo each other."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.release import anonymize
from icsa.schema import Schema
from icsa.tables import from_frame


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 12, (2, 300))
    weight = generator.normal(70, 9, 300).round(1)
    return pl.DataFrame(
        {
            "id": [f"P-{row:04}" for row in range(300)],
            "a": a,
            "b": b,
            "total": a + b,
            "weight": weight,
            "later": weight + generator.exponential(5, 300).round(1),
            "note": [f"text number {row} of many" for row in range(300)],
        }
    )


def schema_of(frame: pl.DataFrame, *rules: str) -> Schema:
    return replace(guess_schema(from_frame(frame)), rules=rules)


def test_a_relation_holds_after_rules_moved_its_terms(frame: pl.DataFrame) -> None:
    rules = ("a <= 11", "b <= 11")
    release = anonymize(frame, schema=schema_of(frame, *rules), method="sa", random_state=1)
    assert sum(release.moved_cells.values()) > 0
    assert (release.table["total"] == release.table["a"] + release.table["b"]).all()


@pytest.mark.parametrize(
    ("rule", "keep", "fate"),
    [("note present", [], "left out"), ("weight <= later", ["later"], "released as it is")],
)
def test_a_rule_about_a_column_that_is_not_masked_is_refused(frame, rule, keep, fate) -> None:
    with pytest.raises(InputError, match=fate):
        anonymize(frame, schema=schema_of(frame, rule), keep=keep, method="sa", random_state=1)


def test_what_does_not_hold_is_not_claimed(frame: pl.DataFrame) -> None:
    rules = ("total <= 22", "a <= 11", "b <= 11")
    release = anonymize(frame, schema=schema_of(frame, *rules), method="sa", random_state=1)
    released = release.table
    share = (released["total"] == released["a"] + released["b"]).mean()
    claim = next(relation for relation in release.relations if relation.startswith("total"))
    assert ("all rows" in claim) == (share == 1.0)


@pytest.mark.parametrize("rules", [(), ("x <= 9",)], ids=["no rule", "a rule"])
def test_a_rounded_relation_holds_and_is_said_to_hold(rules: tuple[str, ...]) -> None:
    generator = np.random.default_rng(3)
    minutes = generator.integers(0, 10**6, 300)
    seen = pl.Series("seen", minutes * 60_000_000).cast(pl.Datetime("us"))
    numbers = generator.normal(size=(300, 3)).round(2)
    frame = pl.DataFrame({"seen": seen, "day": seen.dt.date()}).with_columns(
        pl.DataFrame(numbers, schema=["x", "y", "z"])
    )
    release = anonymize(frame, schema=schema_of(frame, *rules), random_state=1)
    (said,) = release.relations
    same = release.table["seen"].dt.date() == release.table["day"]
    assert said.startswith("day = ")
    assert said.endswith("rounded, in all rows")
    assert same.mean() > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_a_recomputed_column(frame: pl.DataFrame, seed: int) -> None:
    schema = schema_of(frame)
    columns = {**schema.columns, "total": replace(schema.columns["total"], upper=22)}
    release = anonymize(
        frame, schema=replace(schema, columns=columns), method="sa", random_state=seed
    )
    assert release.table["total"].max() <= 22


@pytest.mark.parametrize("options", [{"keep": ["weight"]}, {"mask": "rotate"}, {"mask": "flip"}])
def test_no_column_appears(frame: pl.DataFrame, options: dict[str, object]) -> None:
    release = anonymize(frame, method="sa", random_state=1, **options)
    assert release.table.columns == frame.columns[:-1]


def dated(n_rows: int = 200) -> pl.DataFrame:
    generator = np.random.default_rng(4)
    first = pl.Series("ill", generator.integers(18_000, 19_000, n_rows).astype("int32"))
    a, b = generator.integers(0, 60, (2, n_rows))
    return pl.DataFrame(
        {
            "ill": first.cast(pl.Date),
            "well": (first + generator.integers(0, 400, n_rows)).cast(pl.Int32).cast(pl.Date),
            "a": a,
            "b": b,
            "total": a + b,
            "weight": generator.normal(70, 9, n_rows).round(1),
            "pulse": generator.normal(70, 9, n_rows).round(1),
        }
    )


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        (
            ["a"],
            "total = a + b in all rows; not in the release, because a is released as it is and the "
            "others are masked. Have a masked, or compute total again from the released columns.",
        ),
        (
            ["total"],
            "total = a + b in all rows; not in the release, because total is released as it is and "
            "the others are masked. Have total masked.",
        ),
        (["a", "b"], "because a and b are released as they are and"),
        (["ill"], "well is never below ill; equal in 1."),
        (["well"], "well is never below ill; equal in 1."),
    ],
)
def test_a_relation_with_a_kept_column_is_told_to_be_lost(keep, words) -> None:
    release = anonymize(dated(), keep=keep, method="sa", random_state=1)
    (told,) = (warning for warning in release.warnings if "not in the release" in warning)
    assert words in told
    assert not any(set(keep) & set(relation.split()) for relation in release.relations)
    assert len(release.relations) == 1


def test_relations_among_kept_columns_hold() -> None:
    release = anonymize(dated(), keep=["a", "b", "total"], method="sa", random_state=1)
    assert not any("not in the release" in warning for warning in release.warnings)
    assert (release.table["total"] == release.table["a"] + release.table["b"]).all()


def test_what_cannot_be_computed_for_every_cell_is_told() -> None:
    frame = dated()
    some = pl.Series(np.arange(200) < 20)
    frame = frame.with_columns(frame["b"].set(some, None), frame["ill"].set(some, None))
    release = anonymize(frame, method="sa", random_state=1)
    told = [warning for warning in release.warnings if "not kept" in warning]
    assert len(told) == 2
    assert told[0].endswith("Compute total again from the released columns.")
    assert told[1].endswith("Declare the rule ill <= well in a schema.")
    assert release.relations == ()


@pytest.mark.parametrize("rule", ["admitted <= left", "left >= admitted", "admitted < died"])
def test_a_rule_between_dates_and_datetimes_holds_in_the_release(rule: str) -> None:
    generator = np.random.default_rng(3)
    start = np.datetime64("2020-01-01T00:00", "us")
    admitted = start + generator.integers(0, 700_000, 200) * np.timedelta64(60_000_000, "us")
    frame = pl.DataFrame(
        {
            "weight": generator.normal(70, 9, 200).round(1),
            "age": generator.integers(18, 90, 200),
            "admitted": admitted,
        }
    ).with_columns(
        left=pl.col("admitted").dt.date()
        + pl.Series([dt.timedelta(days=int(d)) for d in generator.integers(0, 5, 200)]),
        died=pl.col("admitted").dt.date()
        + pl.Series([dt.timedelta(days=int(d)) for d in generator.integers(1, 9, 200)]),
    )
    release = anonymize(frame, schema=schema_of(frame, rule), method="sa", random_state=1)
    found = release.table.with_columns(pl.col("admitted").dt.date())
    assert release.table.schema == frame.schema
    assert release.moved_cells[rule] > 0
    assert (found["admitted"] <= found["left"]).all() or "left" not in rule
    assert (found["admitted"] < found["died"]).all() or "died" not in rule


def test_orders_that_nothing_keeps_are_told_until_a_rule_keeps_them(frame: pl.DataFrame) -> None:
    later = (
        "weight is never above later in the original; not kept. Declare the rule weight <= later."
    )
    assert later in anonymize(frame, random_state=1).warnings
    ruled = anonymize(frame, schema=schema_of(frame, "weight <= later"), random_state=1)
    assert later not in ruled.warnings
    assert (ruled.table["weight"] <= ruled.table["later"]).all()


def test_a_recomputed_cell_where_none_can_be_is_told() -> None:
    generator = np.random.default_rng(4)
    a, b, _ = np.floor(100 * generator.dirichlet([4.0, 4.0, 1.0], 300)).astype(int).T
    others = pl.DataFrame(generator.normal(size=(300, 3)), schema=["x", "y", "z"])
    frame = others.with_columns(a=pl.Series(a), b=pl.Series(b), c=pl.Series(100 - a - b))
    assert frame["c"].min() == 1
    release = anonymize(frame, random_state=2)
    below = (release.table["c"] < 1).sum()
    (told,) = (warning for warning in release.warnings if warning.startswith("c: computed"))
    assert f"{below} cell(s) came out where none can be" in told
