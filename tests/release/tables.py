"""Tables for tests of the release: every kind, and whatever hypothesis makes up."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
from hypothesis import strategies as st


def clinic(n: int = 120, seed: int = 0) -> pl.DataFrame:
    """Return a small made-up table with a column of every kind, a sum, and dates in order."""
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 90, n)
    weight = np.round(generator.normal(75, 12, n) * 2) / 2
    first = generator.integers(0, 900, n)
    stay = generator.integers(1, 30, n)
    days = [dt.date(2021, 1, 1) + dt.timedelta(days=int(d)) for d in first]
    part_a, part_b = generator.integers(0, 20, (2, n))
    crp = np.round(np.exp(generator.normal(1.0, 1.0, n)), 1)
    frame = pl.DataFrame(
        {
            "patient_id": [f"P-{i:05d}" for i in generator.permutation(n)],
            "age": age,
            "weight": weight,
            "crp": crp,
            "cigarettes": np.where(generator.random(n) < 0.6, 0, generator.integers(1, 40, n)),
            "smokes": generator.choice(["yes", "no"], n),
            "ward": generator.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "stage": pl.Series(
                generator.choice(["I", "II", "III"], n), dtype=pl.Enum(["I", "II", "III"])
            ),
            "admitted": days,
            "discharged": [d + dt.timedelta(days=int(s)) for d, s in zip(days, stay, strict=True)],
            "stay": stay,
            "part_a": part_a,
            "part_b": part_b,
            "total": part_a + part_b,
            "country": ["here"] * n,
            "remark": [f"Patient number {i} said many things about this" for i in range(n)],
        }
    )
    gone = pl.Series(generator.random(n) < 0.15)
    return frame.with_columns(
        crp=pl.when(gone).then(None).otherwise(pl.col("crp")),
        weight=pl.when(gone).then(None).otherwise(pl.col("weight")),
    )


_WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=0, max_size=6)
_CELLS = {
    "float": st.floats(allow_nan=True, allow_infinity=False),
    "small float": st.integers(-5, 5).map(lambda k: k / 4),
    "tiny": st.sampled_from([1e-300, 2e-300, 0.0]),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "count": st.integers(0, 5),
    "boolean": st.booleans(),
    "word": _WORDS,
    "level": st.sampled_from(["a", "b", "ä", ""]),
    "date": st.dates(),
    "datetime": st.datetimes(min_value=dt.datetime(1800, 1, 1), max_value=dt.datetime(2200, 1, 1)),
    "time": st.times(),
    "one": st.just(1),
    "nothing": st.none(),
}
_TYPES = {
    "float": pl.Float64,
    "small float": pl.Float64,
    "tiny": pl.Float64,
    "integer": pl.Int64,
    "count": pl.Int64,
    "boolean": pl.Boolean,
    "word": pl.String,
    "level": pl.String,
    "date": pl.Date,
    "datetime": pl.Datetime("us"),
    "time": pl.Time,
    "one": pl.Int64,
    "nothing": pl.String,
}


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """Draw a table of a few columns of any kind with missing cells, from 0 to 80 rows."""
    n = draw(st.sampled_from([0, 1, 2, 35, 60, 80]))
    names = draw(st.lists(_WORDS.filter(bool), min_size=1, max_size=6, unique=True))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(sorted(_CELLS)))
        cells = _CELLS[kind]
        if draw(st.booleans()):
            cells = st.one_of(st.none(), cells)
        columns[name] = pl.Series(
            name, draw(st.lists(cells, min_size=n, max_size=n)), dtype=_TYPES[kind]
        )
    return pl.DataFrame(columns)
