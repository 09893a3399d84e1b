"""Weighted samples from files: the cells and the account of a release in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.release import anonymize
from icsa.release.raking import raked, weighted_totals

from .tables import N_ROWS, measured, released_in_blocks, require_the_same, stored


def survey() -> pl.DataFrame:
    """Return measurements, a group with gaps in one of them, and weights that go with both."""
    frame, draw = measured().select("kg", "score"), np.random.default_rng(3)
    kg = frame["kg"].to_numpy().clip(40, 110)
    group = draw.choice(["north", "south", "west"], N_ROWS, p=[0.5, 0.3, 0.2])
    gone = draw.random(N_ROWS) < 0.05
    weights = np.exp(0.02 * (kg - 70) + 0.4 * draw.normal(size=N_ROWS)) * 40
    return frame.with_columns(
        pl.Series("kg", np.where(gone, np.nan, kg), nan_to_null=True),
        pl.Series("score", frame["score"].to_numpy().clip(-4, 4)),
        pl.Series("group", group),
        pl.Series("weight", weights),
    )


@pytest.mark.parametrize(
    ("options", "choices", "design"),
    [({}, {}, {}), ({"mask": "permute"}, {"keep": ("group",)}, {"raking": False})],
    ids=["raked", "reordered, not raked"],
)
def test_weights_are_masked_and_raked(
    tmp_path: Path, options: dict[str, Any], choices: dict[str, Any], design: dict[str, Any]
):
    frame, design = survey(), {"weight": "weight", **design}
    wanted = anonymize(frame, random_state=1, **options, **choices, **design)
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(
        table, tmp_path / "scratch", leaves=5, options=options, design=design, **choices
    )
    require_the_same(found, wanted)
    if design.get("raking", True):
        totals = [(t["weight"] * t["score"]).sum() for t in (frame, found[0])]
        assert totals[0] == pytest.approx(totals[1], abs=1e-4 * frame["weight"].sum())


def test_weights_of_a_long_table_are_raked_as_those_of_a_short_one():
    draw = np.random.default_rng(1)
    values = np.column_stack([np.ones(N_ROWS), draw.normal(size=(N_ROWS, 2))])
    weights = np.exp(0.3 * draw.normal(size=N_ROWS))
    wanted = weighted_totals(weights * np.exp(0.1 * values[:, 1]), values)
    assert wanted == pytest.approx((weights * np.exp(0.1 * values[:, 1])) @ values, rel=1e-12)
    found, off = raked(weights, values, wanted)
    assert off < 1e-8
    assert found @ values == pytest.approx(wanted, rel=1e-7)
    # They are moved by the slope that makes the totals, and by nothing else.
    assert found == pytest.approx(weights * np.exp(0.1 * values[:, 1]), rel=1e-6)


def test_weights_that_are_not_positive_are_refused(tmp_path: Path):
    frame = survey().with_columns(weight=pl.col("weight") - pl.col("weight").min())
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(InputError, match=rf"'weight' .* 1 of {N_ROWS} are not positive"):
        released_in_blocks(table, tmp_path / "a", design={"weight": "weight"})
