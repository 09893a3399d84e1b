"""What `anonymize` takes for a schema and for columns to keep, and what it refuses."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError, UnknownNameError
from icsa.inspection import guess_schema
from icsa.release import anonymize
from icsa.tables import from_frame


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    generator = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": generator.integers(20, 90, 80),
            "weight": generator.normal(70, 9, 80).round(1),
            "height": generator.normal(170, 9, 80).round(1),
        }
    )


def declared(frame: pl.DataFrame, **steps: float):
    schema = guess_schema(from_frame(frame))
    columns = {n: replace(spec, step=steps.get(n)) for n, spec in schema.columns.items()}
    return replace(schema, columns=columns)


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_schema_can_be_the_name_of_its_file(frame, kind, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'version = 1\nkeep = ["age"]\n[columns.weight]\nkind = "continuous"\nlower = 10\n'
        '[columns.height]\nkind = "continuous"\naction = "drop"\n',
        encoding="utf-8",
    )
    released = anonymize(frame, schema=kind(path), method="sa", random_state=1).table
    assert released.columns == ["age", "weight"]
    assert released["age"].sort().equals(frame["age"].sort())
    with pytest.raises(FileNotFoundError, match=r"There is no file no\.toml"):
        anonymize(frame, schema=kind("no.toml"))


@pytest.mark.parametrize("schema", [{"age": "integer"}, 3, ["age"], True])
def test_anything_else_is_no_schema(frame, schema):
    with pytest.raises(InputError, match=r"no schema.*read_schema.*guess_schema"):
        anonymize(frame, schema=schema)


def test_keep_can_be_one_name(frame):
    released = anonymize(frame, keep="age", method="sa", random_state=1).table
    assert released["age"].sort().equals(frame["age"].sort())
    with pytest.raises(UnknownNameError, match="No column 'ag'"):
        anonymize(frame, keep="ag")


@pytest.mark.parametrize("keep", [3, [3], [None], {"age": 1}.items()])
def test_columns_to_keep_are_names(frame, keep):
    with pytest.raises(InputError, match="keep must be names of columns"):
        anonymize(frame, keep=keep)


def test_a_declared_step_that_cells_break_is_refused(frame):
    n_off = int((frame["age"] % 5 != 0).sum())
    first = int((frame["age"] % 5 != 0).arg_max()) + 1
    message = (
        rf"Column 'age': {n_off} of 80 cells are no multiples of the declared step 5 "
        rf"\(first in row {first}\)"
    )
    with pytest.raises(InputError, match=message):
        anonymize(frame, schema=declared(frame, age=5), method="sa")


def test_a_declared_step_that_cells_keep(frame):
    fives = frame.with_columns(pl.col("age") // 5 * 5, weight=pl.col("weight").cast(pl.Float32))
    schema = declared(fives, age=5, weight=0.1)
    released = anonymize(fives, schema=schema, method="sa", random_state=1).table
    assert (released["age"] % 5 == 0).all()


def test_the_step_of_dates_counts_between_them(frame):
    monday = dt.date(2020, 1, 6)
    weeks = np.random.default_rng(1).integers(0, 200, 80)
    seen = pl.Series("seen", [monday + dt.timedelta(weeks=int(week)) for week in weeks])
    dated = frame.with_columns(seen)
    released = anonymize(dated, schema=declared(dated, seen=7), method="sa", random_state=1).table
    assert set(released["seen"].dt.weekday()) == {1}
    broken = dated.with_columns(seen.scatter(3, dt.date(2020, 1, 8)))
    with pytest.raises(InputError, match=r"Column 'seen': 1 of 80 cells .*step 7 .*row 4"):
        anonymize(broken, schema=declared(broken, seen=7), method="sa")


def test_columns_can_be_left_out(frame):
    released = anonymize(frame, drop="age", method="sa", random_state=1).table
    assert "age" not in released.columns
    with pytest.raises(InputError, match="is to be kept and to be dropped"):
        anonymize(frame, keep="age", drop=["age"])
    with pytest.raises(InputError, match="drop must be names of columns"):
        anonymize(frame, drop=[3])
