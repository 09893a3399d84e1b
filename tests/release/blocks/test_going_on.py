"""A run that was interrupted is gone on with, whatever it may use by then; how far it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.randomness import as_key
from icsa.release import anonymize
from icsa.release.blocks import MadeInBlocks, Passes
from icsa.release.blocks.explained_passes import share_of_all
from icsa.release.blocks.ground import Resources
from icsa.release.blocks.large_runs import anonymize_stored, write_file
from icsa.release.blocks.scratch_runs import Run
from icsa.tables.stored import StoredTable

from .tables import measured, stored

OVER_BLOCKS = ("judging rows", "means of scores", "to coordinates", "back to scores")
# Of all work, what is done before each of them.
BEFORE = {name: share_of_all(name, 0.0)[1] for name in OVER_BLOCKS}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return measured()


@pytest.fixture(scope="module")
def wanted(frame: pl.DataFrame) -> pl.DataFrame:
    return anonymize(frame, random_state=1).table


def interrupted(until: str, name: str, share: float) -> None:
    """Be Ctrl-C after the first tasks of a pass."""
    if name.startswith(until) and share > BEFORE[until]:
        raise KeyboardInterrupt


def released(
    table: StoredTable,
    folder: Path,
    memory: int,
    told: Callable[[str, float], None],
    **choices: Any,
) -> Path:
    target = folder / "out.parquet"

    def write(_: Passes, __: StoredTable, made: MadeInBlocks) -> None:
        write_file(made.cells, target, lambda _share: None)

    key = as_key(1)
    anonymize_stored(
        table,
        key,
        write,
        Resources(memory=memory, scratch=folder, resume=True),
        Run({"input": "a table"}, key, resumable=True),
        schema=None,
        choices=choices,
        options={},
        told=told,
    )
    return target


@pytest.mark.parametrize("until", OVER_BLOCKS)
@pytest.mark.parametrize(("before", "after"), [(12, 60), (30, 12)])
def test_with_other_memory(
    tmp_path: Path,
    frame: pl.DataFrame,
    wanted: pl.DataFrame,
    until: str,
    before: int,
    after: int,
):
    table = stored(frame, tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        released(table, tmp_path, before * 10**6, partial(interrupted, until))
    (scratch,) = tmp_path.glob(".icsa-scratch-*")
    assert list((scratch / "found").glob(f"{until.replace(' ', '_')}*-0"))
    target = released(table, tmp_path, after * 10**6, lambda _name, _share: None)
    assert pl.read_parquet(target).equals(wanted)
    assert not list(tmp_path.glob(".icsa-scratch-*"))


def test_how_far_it_is_never_goes_back(tmp_path: Path, frame: pl.DataFrame):
    weighted = frame.select("kg", "score", weight=pl.col("dose") + 0.5)
    shares: list[float] = []
    released(
        stored(weighted, tmp_path / "parts"),
        tmp_path,
        12 * 10**6,
        lambda _name, share: shares.append(share),
        design={"weight": "weight"},
    )
    assert shares == sorted(shares)


def test_forests_that_are_taken_on_the_way_tell_how_far_they_are(tmp_path: Path):
    told: list[tuple[str, float]] = []
    frame = measured().with_columns(curve=pl.col("score") ** 2 + pl.col("dose").log())
    released(stored(frame, tmp_path / "parts"), tmp_path, 12 * 10**6, lambda *one: told.append(one))
    shares = [share for _, share in told]
    drawing = [share for name, share in told if name == "drawing"]
    assert shares == sorted(shares)
    assert np.diff(drawing).max() < 0.1 < 0.3 < drawing[-1] - drawing[0]
    assert "masking" not in dict(told)
