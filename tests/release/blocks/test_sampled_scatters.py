"""Scatters that are no sums over rows: long tables have them fitted to one sample, both ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.release import anonymize
from icsa.release.sampled_scatters import named_scatter, sampled_rows
from icsa.scatters import resolve

from .tables import N_ROWS, measured, related, released_in_blocks, require_the_same, stored


def plain() -> pl.DataFrame:
    """Return measurements without heavy tails."""
    more = np.random.default_rng(5).gamma(3.0, size=N_ROWS)
    return measured().drop("dose").with_columns(wait=pl.Series(more))


@pytest.mark.parametrize(
    ("scatters", "leaves", "workers"),
    [
        (("hr", "cov"), 1, 1),
        (("cov4", "tyler"), 5, 2),
        (("mcd50", "cov_axis"), 3, 1),
        (("ogk", "mcd75"), 13, 1),
        (("variances", "mm"), 2, 1),
    ],
)
def test_the_same_cells(tmp_path: Path, scatters: tuple[str, str], leaves: int, workers: int):
    frame = plain()
    wanted = anonymize(frame, random_state=1, scatters=scatters)
    found = released_in_blocks(
        stored(frame, tmp_path / "parts", [70_000]),
        tmp_path / "scratch",
        leaves=leaves,
        workers=workers,
        options={"scatters": scatters},
    )
    require_the_same(found, wanted)


@pytest.mark.parametrize("scatters", [("cov", "cov4"), ("cov4", "variances")])
def test_a_level_that_nobody_in_the_sample_has_is_masked(tmp_path: Path, scatters: tuple[str, str]):
    others = np.setdiff1d(np.arange(N_ROWS), sampled_rows(N_ROWS))[:3_000:100]
    levels = np.array(["often", "also"])[np.arange(N_ROWS) % 2].astype(object)
    levels[others] = "seldom"
    frame = plain().with_columns(pl.Series("level", levels.astype(str)))
    wanted = anonymize(frame, random_state=1, scatters=scatters)
    kept = wanted.table["level"] == "seldom"
    assert kept.sum() == others.size
    assert not np.array_equal(np.flatnonzero(kept.to_numpy()), others)
    table = stored(frame, tmp_path / "parts")
    options = {"scatters": scatters}
    require_the_same(released_in_blocks(table, tmp_path / "scratch", options=options), wanted)


@pytest.mark.parametrize("scatters", [("cov", "cov4"), ("cov4", "mcd75"), ("variances", "cov")])
def test_columns_that_follow_from_others(tmp_path: Path, scatters: tuple[str, str]):
    frame = related().select("a", "b", "kg", "metres").with_columns(sum=pl.col("a") + pl.col("b"))
    if scatters == ("variances", "cov"):  # which allow for no relations
        frame = frame.drop("sum")
    options = {"scatters": scatters}
    wanted = anonymize(frame, random_state=1, recipe="paper", **options)
    assert wanted.n_components == 4
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", options=options, recipe="paper")
    require_the_same(found, wanted)


def test_a_sample_tells_what_all_rows_do():
    x = plain().to_numpy()
    sampled, whole = named_scatter("cov4")(x), resolve("cov4")(x)
    assert not np.array_equal(sampled.scatter, whole.scatter)
    units = np.sqrt(np.diagonal(whole.scatter))
    assert np.abs((sampled.scatter - whole.scatter) / np.outer(units, units)).max() < 0.2
    short = x[:5_000]
    assert np.array_equal(named_scatter("cov4")(short).scatter, resolve("cov4")(short).scatter)


def test_scatters_that_discrete_columns_make_singular_are_told_alike(tmp_path: Path):
    frame = plain().with_columns(seldom=pl.int_range(pl.len()) % 50 == 0)
    said = "hr is singular on this table: its discrete columns"
    with pytest.raises(InputError, match=said):
        anonymize(frame, random_state=1, scatters=("hr", "cov"))
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(InputError, match=said):
        released_in_blocks(table, tmp_path / "scratch", options={"scatters": ("hr", "cov")})
