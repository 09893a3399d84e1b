"""Releases by forests from files: the cells and the account of one in memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release, anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks

from .tables import (
    N_ROWS,
    measured,
    of_all_kinds,
    related,
    released_in_blocks,
    require_the_same,
    stored,
)
from .test_units_same_cells import require_the_same_units
from .test_weighted_same_cells import survey
from .wide_tables import waves

FORESTS = {"method": "forest"}


def curved() -> pl.DataFrame:
    """Return a curve, and of each way of drawing one: numbers, one of two, levels, gaps, zeros.

    Of the curve, one column says where it is missing; a constant has gaps of its own.
    """
    draw, frame = np.random.default_rng(7), measured().select("dose", "score")
    x = frame["score"].to_numpy()
    effect = x**2 + 0.3 * draw.normal(size=N_ROWS)
    gone = draw.random(N_ROWS) < 0.1
    return frame.with_columns(
        pl.Series("effect", np.where(gone, np.nan, effect), nan_to_null=True),
        pl.Series("measured", ~gone),
        pl.Series("unit", np.where(draw.random(N_ROWS) < 0.2, None, "mg"), dtype=pl.String),
        pl.Series("group", np.where(np.abs(x) > 1, "far", draw.choice(["a", "b"], N_ROWS))),
        pl.Series("ill", x + draw.normal(size=N_ROWS) > 0.0),
        pl.Series("visits", np.where(x > 0.2, np.rint(4 + 2 * x), 0.0)),
    )


@pytest.fixture(scope="module")
def in_memory() -> Release:
    return anonymize(curved(), random_state=1)


@given(
    edges=st.lists(st.integers(1, N_ROWS - 1), max_size=3, unique=True), leaves=st.integers(1, 13)
)
@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
def test_whatever_the_edges_of_files_and_blocks(in_memory: Release, edges: list[int], leaves: int):
    with TemporaryDirectory() as folder:
        table = stored(curved(), Path(folder) / "parts", edges)
        found = released_in_blocks(table, Path(folder) / "scratch", leaves=leaves)
    require_the_same(found, in_memory)
    assert "forest was taken by itself: curves explain" in found[1].why


def test_a_run_that_stops_anywhere_and_has_two_workers_then(tmp_path: Path, in_memory: Release):
    table = stored(curved(), tmp_path / "parts", [50_000])
    (tmp_path / "scratch").mkdir()
    stops = ["growing forests", "places in laws", "drawing", "back to scores", "decoding"]
    reached: list[str] = []

    def told(name: str, share: float) -> None:
        if stops and name == stops[0] and share >= 0.3 * (name == "drawing"):
            reached.append(stops.pop(0))
            raise KeyboardInterrupt

    made = None
    while made is None:
        workers = 1 if stops else 2
        passes = Passes(Scratch(tmp_path / "scratch", N_ROWS), workers=workers, told=told)
        ground = Ground(table, 5 * LEAF_ROWS)
        try:
            made = release_in_blocks(
                passes, ground, as_key(1), choices={}, options={"method": "auto"}
            )
        except KeyboardInterrupt:
            continue
    assert len(reached) == 5
    require_the_same((pl.concat(made.cells.blocks(0, N_ROWS)), made.release), in_memory)


@pytest.mark.parametrize(
    ("frame", "choices"),
    [
        (of_all_kinds, {"keep": ("pain",), "drop": ("dose", "kg", "low"), "recipe": "topcode"}),
        (related, {}),
        (measured, {"recipe": "paper"}),
        (survey, {"design": {"weight": "weight"}}),
    ],
)
def test_columns_of_all_kinds_relations_recipes_and_weights(
    tmp_path: Path, frame: Any, choices: dict[str, Any]
):
    table = stored(frame(), tmp_path / "parts", [10, N_ROWS - 5_000])
    found = released_in_blocks(table, tmp_path / "scratch", options=FORESTS, **choices)
    design = choices.get("design", {})
    said = {key: value for key, value in choices.items() if key != "design"}
    wanted = anonymize(frame(), random_state=1, **FORESTS, **said, **design)
    require_the_same(found, wanted)
    assert found[1].method == "forest"


def test_rows_side_by_side(tmp_path: Path):
    frame = waves(N_ROWS, 2).select("person", "wave", "born", "mood", "at_work")
    design = {"unit": "person", "time": "wave"}
    table = stored(frame, tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", options=FORESTS, design=design)
    require_the_same_units(found, anonymize(frame, random_state=1, **FORESTS, **design))
