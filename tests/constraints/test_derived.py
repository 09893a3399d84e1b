"""Columns that follow from others: expressions, how they are found, and how a release has them."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa import anonymize
from icsa.constraints import Derivation, find_derivation
from icsa.constraints.derived_classes import find_classes, roundest
from icsa.constraints.derived_columns import ColumnFacts, Derived, declared_derived, fit_derived
from icsa.constraints.derived_expressions import Operand, parse_expression
from icsa.constraints.derived_functions import months_between, years_between
from icsa.constraints.derived_numbers import find_spans, find_transforms
from icsa.constraints.written import quoted_name
from icsa.errors import InputError
from icsa.inspection import guess_schema, inspect_table, related_columns
from icsa.matrices import Vector
from icsa.schema_files import read_schema, schema_text
from icsa.tables import Table, from_frame

EPOCH = date(1970, 1, 1)
NUMBERS = {"a": np.array([1.0, 2.0, np.nan]), "b c": np.array([4.0, 0.0, 1.0])}
OPERANDS = {"a": Operand(), "b c": Operand()}


def completed(born: date, seen: date) -> int:
    return seen.year - born.year - ((seen.month, seen.day) < (born.month, born.day))


def value_of(text: str) -> list[float | None]:
    found = parse_expression(text, OPERANDS).compute(NUMBERS)
    return [None if np.isnan(x) else float(x) for x in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a + 2 * `b c`", [9.0, 2.0, None]),
        ("-a^2", [-1.0, -4.0, None]),
        ("2^a^2", [2.0, 16.0, None]),
        ("a - 1 - 1", [-1.0, 0.0, None]),
        ("a / `b c`", [0.25, None, None]),
        ("round(a / 3, 2)", [0.33, 0.67, None]),
        ("round(a / 4)", [0.0, 1.0, None]),
        ("max(a, `b c`, 3)", [4.0, 3.0, None]),
        ("a < 2", [1.0, 0.0, None]),
        ("a >= 1 and not `b c` = 0", [1.0, 0.0, None]),
        ("a > 5 or `b c` != 4", [0.0, 1.0, None]),
        ("cut(a, 1, 2)", [1.0, 2.0, None]),
        ("sqrt(a - 2)", [None, 0.0, None]),
    ],
)
def test_expressions_compute_as_on_paper(text: str, wanted: list[float | None]) -> None:
    assert value_of(text) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a +", "position 4: a number, a column or '\\('"),
        ("a b", "position 3: an operator was expected"),
        ("aa + 1", "position 1: no column 'aa'.*nearest is 'a'"),
        ("eval(a)", "no function 'eval'"),
        ("__import__('os')", "no function '__import__'"),
        ("a.real", "no column 'a.real'"),
        ("(a", "'\\)' was expected for the '\\(' at position 1"),
        ("years(a, a)", "years needs a date here, not a number"),
        ("a < 2 + (a < 1)", "means nothing"),
        ("a and a", "and needs a comparison"),
        ("day - day2 + day", "position"),
        ("day * 2", "\\* needs a number here, not a date"),
        ("round(a, 1, 2)", "round takes 1 value to 2"),
        ('a = "x"', "compared with a column of texts only"),
        ("word < word", "texts have no order"),
        ("1 + 2", "names no column"),
        ("2020-02-30 < day", "no such date"),
        ("a ; a", "position 3: cannot be read"),
        ("(" * 50 + "a" + ")" * 50, "more than 40 brackets"),
        ("-" * 5000 + "a", "longer than 2000 signs"),
        ("-" * 1000 + "a", "more than 40 brackets"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, said: str) -> None:
    columns = {
        **OPERANDS,
        "day": Operand(moments=True),
        "word": Operand(texts=("x", "y")),
    }
    with pytest.raises(InputError, match=said):
        parse_expression(text, columns)


def test_names_are_quoted_where_they_must_be() -> None:
    for name in ("a", "b c", "1st", "a`b", "and", "missing", "größe"):
        assert parse_expression(quoted_name(name), {name: Operand()}).columns == (name,)
    assert quoted_name("a") == "a"


def test_texts_and_dates_in_expressions() -> None:
    columns = {
        "arm": Operand(texts=("none", "old", "new")),
        "code": Operand(values=(10.0, 20.0)),
        "day": Operand(moments=True),
        "moment": Operand(86_400.0, moments=True),
    }
    numbers = {
        "arm": np.array([0.0, 2.0]),
        "code": np.array([0.0, 1.0]),
        "day": np.array([0.0, 18_262.0]),
        "moment": np.array([86_400.0, 0.0]),
    }

    def computed(text: str) -> list[float]:
        return parse_expression(text, columns).compute(numbers).tolist()

    assert computed('arm != "none"') == [0.0, 1.0]
    assert computed('arm = "never heard of"') == [0.0, 0.0]
    assert computed("code / 10") == [1.0, 2.0]
    assert computed("day >= 2020-01-01") == [0.0, 1.0]
    assert computed("moment - day") == [1.0, -18_262.0]
    assert computed("year(day)") == [1970.0, 2020.0]


def test_completed_years_and_months_are_those_of_a_calendar() -> None:
    rng = np.random.default_rng(3)
    first = [EPOCH + timedelta(days=int(d)) for d in rng.integers(-30_000, 20_000, 4_000)]
    second = [EPOCH + timedelta(days=int(d)) for d in rng.integers(-30_000, 20_000, 4_000)]
    x, y = (np.array([(day - EPOCH).days for day in days], dtype=float) for days in (first, second))
    assert years_between(x, y).tolist() == list(map(completed, first, second))
    months = [
        (b.year - a.year) * 12 + b.month - a.month - (b.day < a.day)
        for a, b in zip(first, second, strict=True)
    ]
    assert months_between(x, y).tolist() == months


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (2495.0, 2523.0, 2500.0),
        (39.0, 40.0, 40.0),
        (18.4, 18.5, 18.5),
        (0.0, 1.0, 1.0),
        (-7.0, -5.5, -6.0),
        (999.0, 1001.0, 1000.0),
        (0.00012, 0.00031, 0.0003),
    ],
)
def test_the_roundest_bound(low: float, high: float, wanted: float) -> None:
    assert roundest(low, high) == wanted


def patients(n: int = 400, seed: int = 4) -> pl.DataFrame:
    """Return a table in which every sort of derived column is."""
    rng = np.random.default_rng(seed)
    born = [date(1930, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 25_000, n)]
    admitted = [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 1_300, n)]
    age = [completed(*days) for days in zip(born, admitted, strict=True)]
    kilograms, centimetres = rng.normal(75, 13, n).round(1), rng.normal(171, 9, n).round()
    grams = rng.normal(3000, 700, n).round()
    arm = rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            "born": born,
            "admitted": admitted,
            "age": age,
            "kilograms": kilograms,
            "centimetres": centimetres,
            "bmi": (kilograms / (centimetres / 100) ** 2).round(1),
            "grams": grams,
            "low": (grams < 2500).astype(int),
            "group": [f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in age],
            "arm": [("none", "old", "new", "both")[place] for place in arm],
            "treated": (arm > 0).astype(int),
            "marker": rng.lognormal(1.0, 0.7, n).round(2),
        }
    )


def derivation_of(frame: pl.DataFrame) -> dict[str, str]:
    return dict(related_columns(Table(frame)).derive)


def faults(frame: pl.DataFrame) -> dict[str, int]:
    """Return in how many rows each derived column is not what it should be."""
    rows = frame.to_dicts()
    return {
        "age": sum(completed(row["born"], row["admitted"]) != row["age"] for row in rows),
        "bmi": sum(
            abs(row["kilograms"] / (row["centimetres"] / 100) ** 2 - row["bmi"]) > 0.0501
            for row in rows
        ),
        "low": sum((row["grams"] < 2500) != row["low"] for row in rows),
        "group": sum(int(row["group"].split("-")[0]) != row["age"] // 10 * 10 for row in rows),
        "treated": sum((row["arm"] != "none") != row["treated"] for row in rows),
    }


def test_derived_columns_are_found() -> None:
    found = derivation_of(patients())
    assert found == {
        "age": "years(born, admitted)",
        "bmi": "10000 * kilograms / centimetres^2",
        "low": "grams < 2500",
        "group": found["group"],
        "treated": "arm",
    }
    assert found["group"].startswith("cut(age, ")


@pytest.mark.parametrize("seed", [1, 2])
def test_a_release_computes_them(seed: int) -> None:
    frame = patients()
    release = anonymize(frame, random_state=seed)
    inside = release.table.filter(pl.col("age").is_between(*_ends(frame["age"])))
    assert faults(inside) == dict.fromkeys(faults(frame), 0)
    how = {change.name: change for change in release.columns}
    assert how["age"].how == "recomputed: age = years(born, admitted) in all rows"
    assert how["low"].how == "recomputed: low says whether grams < 2500, in all rows"
    assert how["treated"].how == "recomputed: treated = a class of arm in all rows"
    assert {name for name, change in how.items() if change.action == "recomputed"} == {
        *faults(frame)
    }
    assert "age = years(born, admitted) in all rows" in release.relations


def _ends(cells: pl.Series) -> tuple[int, int]:
    # Beyond the oldest nobody knows what the next group would be called.
    return int(cells.min()) // 10 * 10, int(cells.max()) // 10 * 10 + 9  # type: ignore[arg-type]


def test_following_the_advice_is_one_command(tmp_path: Path) -> None:
    frame = patients()
    rng = np.random.default_rng(8)
    frame = frame.with_columns(
        pulse_rest=pl.Series(rng.normal(70, 9, 400).round()),
    ).with_columns(
        pl.Series("pulse stairs", frame["marker"].round() + rng.integers(0, 30, 400))
        + pl.col("pulse_rest")
    )
    table = Table(frame)
    text = schema_text(inspect_table(table, related=related_columns(table)))
    assert '"pulse_rest <= `pulse stairs`"' in text
    assert 'derive = "years(born, admitted)"' in text
    path = tmp_path / "schema.toml"
    path.write_text(text)
    schema = read_schema(path, table)
    release = anonymize(frame, schema=schema, random_state=1)
    assert faults(release.table)["age"] == 0
    assert (release.table["pulse_rest"] <= release.table["pulse stairs"]).all()
    assert not [said for said in release.warnings if "pulse_rest" in said]
    notes = related_columns(table, schema).notes["pulse stairs"]
    assert "pulse_rest is never above pulse stairs; kept by a rule" in notes


@pytest.mark.parametrize(("rows", "seed"), [(60, 1), (200, 2), (1000, 3)])
def test_an_age_is_no_sum_of_dates(rows: int, seed: int) -> None:
    frame = patients(rows, seed).select("born", "admitted", "age")
    assert derivation_of(frame) == {"age": "years(born, admitted)"}
    # Off by one in a few rows it is no age in completed years, nor anything else.
    wrong = np.isin(np.arange(rows), [3, 11, 20])
    off = frame.with_columns(pl.when(pl.Series(wrong)).then(pl.col("age") + 1).otherwise("age"))
    related = related_columns(Table(off))
    assert not [note for note in related.notes.get("age", ()) if "=" in note]


def test_ages_with_decimals_are_days_over_those_of_a_year() -> None:
    frame = patients().select("born", "admitted")
    days = (frame["admitted"] - frame["born"]).dt.total_days()
    found = derivation_of(frame.with_columns(years=(days / 365.25).round(1)))
    assert found == {"years": "(admitted - born) / 365.25"}


def test_missing_cells_are_where_the_original_has_them() -> None:
    frame = patients().select("grams", "low", "marker", "age")
    rng = np.random.default_rng(2)
    gone, own = (pl.Series(rng.random(400) < share) for share in (0.1, 0.08))
    frame = frame.with_columns(
        grams=pl.when(~gone).then("grams"), low=pl.when(~gone & ~own).then("low")
    )
    released = anonymize(frame, random_state=1).table
    assert released["low"].null_count() == frame["low"].null_count()
    assert released.filter(pl.col("grams").is_null())["low"].null_count() == (
        released["grams"].null_count()
    )
    both = released.drop_nulls(["grams", "low"])
    assert ((both["grams"] < 2500) == (both["low"] == 1)).all()
    # Whoever has no weight counts as not low: then so it is in the release.
    frame = frame.with_columns(
        low=pl.when(pl.col("grams").is_null()).then(0).otherwise(pl.col("grams") < 2500)
    )
    released = anonymize(frame, random_state=1).table
    assert released["low"].null_count() == 0
    assert (released.filter(pl.col("grams").is_null())["low"] == 0).all()


def test_what_is_missing_without_a_reason_is_not_computed() -> None:
    frame = patients().select("grams", "low", "marker")
    holed = frame.with_columns(grams=pl.when(pl.Series(np.arange(400) % 9 > 0)).then("grams"))
    assert derivation_of(holed) == {}


def numbered(**columns: tuple[str, Vector, tuple[object, ...] | None]) -> Derivation:
    return find_derivation(
        {name: np.asarray(values, dtype=float) for name, (_, values, _) in columns.items()},
        dict.fromkeys(columns),
        {name: kind for name, (kind, _, _) in columns.items()},  # type: ignore[misc]
        {name: levels for name, (_, _, levels) in columns.items() if levels is not None},
    )


def test_levels_follow_from_levels_and_repeat_each_other() -> None:
    rng = np.random.default_rng(5)
    city = rng.integers(0, 12, 300)
    found = numbered(
        city=("category", city, tuple(f"city {k}" for k in range(12))),
        code=("category", (city * 5) % 12, tuple(range(100, 112))),
        country=("category", city // 4, ("x", "y", "z")),
        other=("category", rng.integers(0, 3, 300), ("x", "y", "z")),
    )
    assert {one.target: one.sources for one in found.computed} == {
        "code": ("city",),
        "country": ("city",),
    }


def test_what_only_goes_together_is_no_class() -> None:
    """Two groups of flowers that a length tells apart: there is no bound that anybody set."""
    rng = np.random.default_rng(1)
    length = np.concatenate([rng.normal(1.5, 0.17, 50), rng.normal(4.9, 0.8, 100)]).round(1)
    flower = np.repeat([0.0, 1.0], [50, 100])
    assert length[:50].max() < length[50:].min()
    found = numbered(
        length=("continuous", length, None), flower=("binary", flower, ("setosa", "others"))
    )
    assert found.computed == ()


def test_few_people_are_no_evidence() -> None:
    """The three oldest have died: that may be chance."""
    age = np.random.default_rng(1).permutation(np.arange(20.0, 80.0))
    found = numbered(age=("integer", age, None), died=("binary", age > 76, (0, 1)))
    assert found.computed == ()


def test_a_bound_that_is_somebodys_cell_is_not_written() -> None:
    rng = np.random.default_rng(1)
    length = rng.permutation(np.arange(1000.0, 1300.0))  # each is one person's
    facts = {
        "length": ColumnFacts("integer", 1.0),
        "long": ColumnFacts("binary", None, ("no", "yes")),
    }
    for cut, wanted in ((1152.0, "a class of length"), (1150.0, "says whether length >= 1150,")):
        numbers = {"length": length, "long": (length >= cut) * 1.0}
        (found,) = find_classes(numbers, facts)
        assert wanted in found.describe()
        assert np.array_equal(found.predict(numbers), numbers["long"])


def test_unrelated_columns_have_no_derived_ones() -> None:
    """The bound says one table in a million; 200 tables with 15 columns have none."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([30, 60, 150]))
        numbers: dict[str, Vector] = {}
        facts: dict[str, ColumnFacts] = {}
        for place in range(3):
            numbers[f"x{place}"] = rng.normal(50, 10, n).round(1)
            facts[f"x{place}"] = ColumnFacts("continuous", 0.1)
            numbers[f"n{place}"] = rng.integers(0, 6 * place + 3, n) * 1.0
            facts[f"n{place}"] = ColumnFacts("integer", 1.0)
            numbers[f"d{place}"] = rng.integers(0, 4000, n) * 1.0
            facts[f"d{place}"] = ColumnFacts("date", 1.0)
            numbers[f"b{place}"] = (rng.random(n) < (0.03, 0.2, 0.5)[place]) * 1.0
            facts[f"b{place}"] = ColumnFacts("binary", None, (0, 1))
            numbers[f"g{place}"] = rng.integers(0, 4**place + 2, n) * 1.0
            levels = tuple(f"L{k}" for k in range(4**place + 2))
            facts[f"g{place}"] = ColumnFacts("category", None, levels)
        assert find_spans(numbers, facts) == ()
        assert find_classes(numbers, facts) == ()


GRAMS = np.random.default_rng(9).integers(1500, 4500, 120).astype(float)
FACTS = {
    "grams": ColumnFacts("integer", 1.0),
    "low": ColumnFacts("binary", None, ("no", "yes")),
    "ounces": ColumnFacts("continuous", 0.1),
    "day": ColumnFacts("date", 1.0),
}
COLUMNS = {
    "grams": GRAMS,
    "low": (GRAMS < 2500) * 1.0,
    "ounces": (GRAMS / 28.35).round(1),
    "day": np.arange(120.0),
}


def test_declared_expressions_are_held_against_the_table() -> None:
    ounces = declared_derived("ounces", "grams / 28.35", COLUMNS, FACTS)
    assert ounces.share == 1.0
    assert ounces.describe() == "ounces = grams / 28.35, rounded, in all rows"
    # Two typing errors in 120 rows are told, not refused.
    wrong = COLUMNS["ounces"] + np.where(np.arange(120) < 2, 5.0, 0.0)
    told = declared_derived("ounces", "grams / 28.35", {**COLUMNS, "ounces": wrong}, FACTS)
    assert told.describe() == "ounces = grams / 28.35, rounded, in 98.3% of the rows"


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("ounces", "grams / 30", "'ounces': derive = 'grams / 30' gives something else .* of 120"),
        ("low", "grams < 3000", "something else than the cell"),
        ("low", "day", "nearly every row a class of its own"),
        ("day", "grams + 1", "does not give a date"),
        ("ounces", "day", "does not give a number"),
        ("ounces", "ounces * 1", "Column 'ounces': .*no column 'ounces'"),
        ("ward", "grams", "'ward': derive is for numbers, dates and levels"),
    ],
)
def test_wrong_declarations_are_refused_without_a_cell(target: str, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        declared_derived(target, text, COLUMNS, FACTS)


def test_a_circle_is_refused() -> None:
    x = np.arange(60.0)
    numbers = {"a": x, "b": x + 1.0}
    kinds = dict.fromkeys(numbers, "integer")
    with pytest.raises(InputError, match="derived from itself by way of"):
        find_derivation(
            numbers,
            dict.fromkeys(numbers, 1.0),
            kinds,  # type: ignore[arg-type]
            declared={"a": "b - 1", "b": "a + 1"},
        )


def test_a_constant_column_is_not_derived(tmp_path: Path) -> None:
    frame = patients().with_columns(marker=pl.lit(5))
    path = schema_with('derive = "grams"', tmp_path, frame)
    with pytest.raises(InputError, match="'marker': derive is for numbers, dates and levels"):
        anonymize(frame, schema=path, random_state=1)
    table = from_frame(frame)
    with pytest.raises(InputError, match="'marker': derive is for numbers, dates and levels"):
        related_columns(table, read_schema(path, table))


@pytest.mark.parametrize("seed", [1, 2])
def test_days_and_hours_of_a_moment_are_those_of_a_calendar(seed: int) -> None:
    rng = np.random.default_rng(seed)
    moments = [
        datetime(1969, 6, 1) + timedelta(seconds=int(s)) for s in rng.integers(0, 30_000_000, 300)
    ]
    # On the stroke of an hour, or a second before it.
    moments = [
        m.replace(minute=0, second=0) - timedelta(seconds=i % 2) for i, m in enumerate(moments)
    ]
    frame = pl.DataFrame(
        {
            "date": [m.date() for m in moments],
            "seen": moments,
            "clock": [m.time() for m in moments],
            "hour_seen": [m.hour for m in moments],
            "x": rng.normal(size=300).round(2),
            "y": rng.normal(size=300).round(2),
        }
    )
    derive = related_columns(from_frame(frame)).derive
    assert derive == {
        "date": "date(seen)",
        "clock": "seen - date(seen)",
        "hour_seen": "hour(seen)",
    }
    released = anonymize(frame, random_state=seed).table
    assert released["date"].equals(released["seen"].dt.date(), check_names=False)  # type: ignore[union-attr]
    assert (released["clock"] == released["seen"].dt.time()).all()  # type: ignore[union-attr]
    assert (released["hour_seen"] == released["seen"].dt.hour()).all()  # type: ignore[union-attr]


def test_what_is_declared_is_not_told_as_lost_the_other_way_round() -> None:
    x = np.random.default_rng(1).normal(size=90).round(2)
    numbers = {"a": x, "b": 2.0 * x, "c": 4.0 * x}
    found = find_derivation(
        numbers,
        dict.fromkeys(numbers, 0.01),
        dict.fromkeys(numbers, "continuous"),
        declared={"b": "2 * a", "c": "2 * b"},
    )
    assert [one.target for one in found.computed] == ["b", "c"]
    assert found.unkept == ()


def test_results_that_nobody_had_get_the_nearest_class() -> None:
    found = fit_derived("low", "grams", COLUMNS, FACTS)
    assert isinstance(found, Derived)
    assert found.predict({"grams": np.array([-5.0, 2000.0, 9000.0])}).tolist() == [1.0, 1.0, 0.0]


def schema_with(derive: str, tmp_path: Path, frame: pl.DataFrame) -> Path:
    table = from_frame(frame)
    text = schema_text(inspect_table(table, related=related_columns(table)))
    start = text.index("[columns.marker]")
    assert "derive" not in text[start:]
    path = tmp_path / "schema.toml"
    path.write_text(f"{text.rstrip()}\n{derive}\n")
    return path


def test_a_schema_derives_other_columns(tmp_path: Path) -> None:
    frame = patients().drop("marker")
    frame = frame.with_columns(marker=(pl.col("grams") / 100 + pl.col("age")).round(2))
    index = frame.with_columns(
        marker=((pl.col("grams") * pl.col("age") + pl.col("kilograms")) / 1000).round(1)
    )
    path = schema_with('derive = "(grams * age + kilograms) / 1000"', tmp_path, index)
    released = anonymize(index, schema=path, random_state=1).table
    wanted = (released["grams"] * released["age"] + released["kilograms"]) / 1000
    assert (wanted - released["marker"]).abs().max() <= 0.0501  # type: ignore[operator]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("derive = 3", "derive is no text"),
        ('derive = "kilograms / nothing"', "no column 'nothing'"),
        ('derive = "kilograms / centimetres"', "something else than the cell in"),
    ],
)
def test_errors_of_a_schemas_expression(line: str, said: str, tmp_path: Path) -> None:
    frame = patients()
    with pytest.raises(InputError, match=said):
        anonymize(frame, schema=schema_with(line, tmp_path, frame), random_state=1)


def test_only_masked_columns_are_derived(tmp_path: Path) -> None:
    frame = patients()
    path = schema_with('derive = "grams"', tmp_path, frame)
    text = path.read_text()
    before, after = text[: text.index("[columns.marker]")], text[text.index("[columns.marker]") :]
    path.write_text(before + after.replace('action = "mask"', 'action = "keep"'))
    with pytest.raises(InputError, match="only masked columns are computed"):
        read_schema(path, from_frame(frame))


def test_an_empty_expression_leaves_a_column_alone(tmp_path: Path) -> None:
    frame = patients()
    table = from_frame(frame)
    text = schema_text(inspect_table(table, related=related_columns(table)))
    path = tmp_path / "schema.toml"
    path.write_text(text.replace('derive = "grams < 2500"', 'derive = ""'))
    release = anonymize(frame, schema=path, random_state=1)
    assert {c.name: c.action for c in release.columns}["low"] == "masked"
    assert faults(release.table)["age"] == 0


def test_what_keeping_a_column_breaks_is_told() -> None:
    frame = patients().select("grams", "low", "marker", "age")
    release = anonymize(frame, keep=["grams"], random_state=1)
    assert {c.name: c.action for c in release.columns}["low"] == "masked"
    (said,) = (warning for warning in release.warnings if warning.startswith("low says whether"))
    assert "not in the release, because grams is released as it is" in said


def test_a_rule_moves_what_a_column_is_computed_from() -> None:
    frame = patients().filter(pl.col("grams").is_between(1000, 5000)).drop("group")
    schema = replace(guess_schema(from_frame(frame)), rules=("grams <= 5000", "grams >= 1000"))
    release = anonymize(frame, schema=schema, random_state=2)
    assert release.table["grams"].is_between(1000, 5000).all()
    found = faults(release.table.with_columns(group=pl.lit("0-9"), age=pl.lit(3)))
    assert found["low"] == found["treated"] == found["bmi"] == 0


def test_a_computed_column_keeps_its_declared_bounds() -> None:
    frame = patients().filter(pl.col("age").is_between(20, 85)).drop("group")
    guessed = guess_schema(from_frame(frame))
    age = replace(guessed.columns["age"], lower=20, upper=85)
    schema = replace(guessed, columns={**guessed.columns, "age": age})
    released = anonymize(frame, schema=schema, random_state=2).table
    assert released["age"].is_between(20, 85).all()
    assert faults(released.with_columns(group=pl.lit("0-9")))["age"] == 0


def test_numbers_are_no_classes_of_a_date_whose_bounds_are_somebodys() -> None:
    day = np.random.default_rng(1).permutation(np.arange(10_003.0, 10_303.0))
    numbers = {"day": day, "wave": np.digitize(day, [10_110.0, 10_200.0]) + 1.0}
    facts = {"day": ColumnFacts("date", 1.0), "wave": ColumnFacts("integer", 1.0)}
    assert find_classes(numbers, facts) == ()
    facts["wave"] = ColumnFacts("ordinal", None, (1, 2, 3))
    (found,) = find_classes({**numbers, "wave": numbers["wave"] - 1.0}, facts)
    assert found.describe() == "wave = a class of day in all rows"


def test_names_that_are_too_long_for_an_expression_are_left_alone() -> None:
    assert derivation_of(patients().select(pl.col("grams").alias("g" * 3000), "low")) == {}


def wages(seed: int, rows: int = 300) -> dict[str, Vector]:
    rng = np.random.default_rng(seed)
    wage = np.exp(rng.normal(2.0, 0.6, rows)).round(2) + 0.5
    tenure = (rng.geometric(0.1, rows) - 1).astype(float)
    return {
        "wage": wage.round(2),
        "tenure": tenure,
        "age": rng.normal(40.0, 12.0, rows).round(1),
        "lwage": np.log(wage.round(2)).round(5),
        "ten2": tenure**2,
        "lten": np.log(tenure + 1.0).round(3),
    }


TRANSFORMED = {"lwage": "log(wage)", "ten2": "tenure^2", "lten": "log(tenure + 1)"}


@pytest.mark.parametrize("seed", range(3))
def test_logarithms_and_squares_are_computed_again(seed: int) -> None:
    frame = pl.DataFrame(wages(seed))
    release = anonymize(frame, random_state=seed)
    said = " ".join(release.relations)
    assert all(f"{target} = {text}" in said for target, text in TRANSFORMED.items())
    found = release.table
    assert not found.equals(frame)
    tenure = found["tenure"].to_numpy()
    assert np.abs(np.log(found["wage"].to_numpy()) - found["lwage"].to_numpy()).max() <= 0.51e-5
    assert np.array_equal(found["ten2"].to_numpy(), tenure**2)
    assert np.abs(np.log(tenure + 1.0) - found["lten"].to_numpy()).max() <= 0.51e-3


@pytest.mark.parametrize(("written", "step"), [(".17g", None), (".15g", None), ("", 1e-8)])
def test_logarithms_in_single_precision(written: str, step: float | None) -> None:
    table = wages(5)
    single = np.log(table["wage"]).astype(np.float32)
    lwage = [float(format(float(x), written) if written else str(x)) for x in single]
    numbers = {"wage": table["wage"], "lwage": np.array(lwage)}
    facts = {"wage": ColumnFacts("continuous", 0.01), "lwage": ColumnFacts("continuous", step)}
    (found,) = find_transforms(numbers, facts)
    assert (found.target, found.expression.text) == ("lwage", "log(wage)")


def test_what_is_nearly_a_logarithm_is_none() -> None:
    table = wages(6)
    facts = {name: ColumnFacts("continuous", 0.01) for name in ("wage", "lwage")}
    rounded = {"wage": table["wage"], "lwage": np.log(table["wage"]).round(2)}
    assert find_transforms(rounded, facts)
    rounded["lwage"][7] += 0.02  # one row of 300
    assert not find_transforms(rounded, facts)
    coarse = {"wage": table["wage"], "lwage": np.log(table["wage"]).round(1)}
    assert not find_transforms(coarse, facts | {"lwage": ColumnFacts("continuous", 0.1)})


def test_columns_that_go_together_are_no_functions_of_each_other() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = int(rng.choice([20, 60, 200]))
        common = rng.normal(size=(rows, 1))
        z = np.sqrt(0.9) * common + np.sqrt(0.1) * rng.normal(size=(rows, 4))
        scaled = {"a": 50 + 15 * z[:, 0], "b": np.exp(1 + z[:, 1]), "c": 1 + z[:, 2] / 2}
        numbers = {name: (values * 100).round() / 100 for name, values in scaled.items()}
        facts = {name: ColumnFacts("continuous", 0.01) for name in numbers}
        assert find_transforms(numbers, facts) == ()


def test_standardised_columns_in_single_precision_are_computed_again() -> None:
    rng = np.random.default_rng(4)
    height = rng.normal(18.0, 4.0, 60).round(2).astype(np.float32)
    standard = ((height - height.mean()) / height.std()).astype(np.float32)
    written = [[float(f"{float(x):.15g}") for x in column] for column in (height, standard)]
    frame = pl.DataFrame({"height": written[0], "standard": written[1], "dbh": rng.random(60)})
    release = anonymize(frame, random_state=1)
    assert any("standard = " in said for said in release.relations)
