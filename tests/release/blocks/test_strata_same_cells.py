"""Strata from files: the cells and the account of a release in memory, whatever fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import as_key
from icsa.release import Release, anonymize
from icsa.release.blocks import Ground, Passes, Scratch, release_in_blocks
from icsa.release.blocks.strata.split_tables import pieces_of
from icsa.schema import with_design
from icsa.tables import from_frame

from .tables import measured, released_in_blocks, require_the_same, stored
from .unit_tables import visits_of_many

# A stratum of so many rows goes through blocks, and shorter ones fit.
N_LARGE = LONG + 900
MEMORY = 1.002 * 3.9 * 8 * LONG


def towns(sizes: dict[str, int], seed: int = 0) -> pl.DataFrame:
    """Return people of towns in no order: numbers, levels, gaps, ids, and weights."""
    n = sum(sizes.values())
    frame, draw = measured(seed, n).select("kg", "age"), np.random.default_rng(seed + 1)
    town = np.repeat(list(sizes), list(sizes.values()))[draw.permutation(n)]
    gone = draw.random(n) < 0.04
    return frame.with_columns(
        pl.Series("kg", np.where(gone, np.nan, frame["kg"].to_numpy()), nan_to_null=True),
        town=pl.Series(town),
        person=pl.format("P{}", pl.int_range(n) * 3 + 1_000_000),
        group=pl.Series(draw.choice(["low", "mid", "high"], n, p=[0.5, 0.3, 0.2])),
        w=pl.Series(np.exp(0.4 * draw.normal(size=n)) * 40),
    )


def memory_for(frame: pl.DataFrame) -> float:
    """Return what lets strata of up to 200,000 rows fit, and no longer ones."""
    return MEMORY * frame.width


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    sizes = {f"small {number}": 400 + number for number in range(6)}
    return towns({"even": 700, "large": N_LARGE, **sizes})


def require_the_same_strata(found: tuple[pl.DataFrame, Release], wanted: Release) -> None:
    """Hold cells and account of a release from files against those of one in memory."""
    require_the_same(found, wanted)
    assert found[1].units == wanted.units
    assert found[1].n_rows == found[0].height
    assert found[1].reproducible


@pytest.mark.parametrize(
    ("options", "choices", "even", "workers"),
    [
        ({}, {}, None, 2),
        ({"mask": "permute"}, {"keep": ("group",), "drop": ("w",)}, None, 1),
        ({}, {"drop": ("person",)}, "even", 1),
        ({}, {"drop": ("person", "age")}, "large", 1),
    ],
    ids=["plain", "permute", "weights", "a large stratum with one weight"],
)
def test_a_large_stratum_and_small_ones(
    tmp_path: Path,
    frame: pl.DataFrame,
    options: Any,
    choices: Any,
    even: str | None,
    workers: int,
):
    design = {"strata": ("town",), "weight": None if even is None else "w"}
    if even is not None:
        one = pl.when(pl.col("town") == even).then(12.5).otherwise("w")
        frame = frame.with_columns(w=one)
    wanted = anonymize(frame, random_state=1, **options, **choices, **design)
    table = stored(frame, tmp_path / "parts", [90_000])
    found = released_in_blocks(
        table,
        tmp_path / "scratch",
        leaves=3,
        workers=workers,
        memory=memory_for(frame),
        options=options,
        design=design,
        **choices,
    )
    require_the_same_strata(found, wanted)
    sizes = frame["town"].value_counts()["count"].to_list()
    pieces = pieces_of(sizes, Ground(table, LEAF_ROWS, memory_for(frame)))
    assert [piece.sizes for piece in pieces if not piece.fits] == [(N_LARGE,)]
    left = {path.name for path in (tmp_path / "scratch").iterdir()}
    assert left == {"found", "put together"}


def test_strata_that_all_fit(tmp_path: Path):
    frame = towns({f"town {number}": 67_000 + 7 * number for number in range(3)})
    design = {"strata": ("town", "group"), "weight": "w"}
    wanted = anonymize(frame, random_state=1, **design)
    table = stored(frame, tmp_path / "parts", [10])
    found = released_in_blocks(table, tmp_path / "scratch", workers=2, design=design)
    require_the_same_strata(found, wanted)


def test_a_schema_of_a_table_with_strata(tmp_path: Path, frame: pl.DataFrame):
    guessed = guess_schema(from_frame(frame.drop("w")))
    schema = with_design(guessed, strata=("town",))
    wanted = anonymize(frame.drop("w"), random_state=1, schema=schema, recipe="topcode")
    table = stored(frame.drop("w"), tmp_path / "parts")
    found = released_in_blocks(table, tmp_path / "scratch", schema=schema, recipe="topcode")
    require_the_same_strata(found, wanted)


def test_a_run_that_stops_anywhere_ends_with_the_same_cells(tmp_path: Path, frame: pl.DataFrame):
    frame = frame.drop("w")
    table = stored(frame, tmp_path / "parts")
    wanted = anonymize(frame, random_state=1, strata="town")
    (tmp_path / "scratch").mkdir()
    shares = [("splitting strata", 0.5), *(("releasing strata", k / 10) for k in range(1, 10))]
    shares += [("putting strata together", 0.5), ("putting strata together", 1.0)]
    shares += [("", 2.0), ("", 2.0)]  # the second time as if it had been stopped while writing
    stopped = 0
    for stop, least in shares:

        def told(name: str, share: float, stop: str = stop, least: float = least) -> None:
            if name == stop and share >= least:
                raise KeyboardInterrupt

        passes = Passes(Scratch(tmp_path / "scratch", table.n_rows), told=told)
        ground = Ground(table, 4 * LEAF_ROWS, memory_for(frame))
        choices = {"design": {"strata": ("town",)}}
        try:
            made = release_in_blocks(passes, ground, as_key(1), choices=choices, options={})
        except KeyboardInterrupt:
            stopped += 1
    assert stopped == len(shares) - 2
    cells = pl.concat(list(made.cells.blocks(0, made.cells.n_rows)))
    require_the_same_strata((cells, made.release), wanted)


@pytest.mark.parametrize("weight", [None, "w"])
def test_units_stay_whole_in_their_strata(tmp_path: Path, weight: str | None):
    names = ["patient", "day", "kg", "crp", "ward"]
    patient, far = pl.col("patient"), pl.col("patient") // 7 % 90 == 0
    # What grades are is seen in the whole table, and not in the large stratum.
    frame = visits_of_many(32_500).select(
        *names,
        w=(patient % 13 + 2.5) ** 2,
        site=pl.when(far).then(pl.lit("far")).otherwise(pl.lit("near")),
        grade=pl.when(far).then(patient / 13).otherwise(patient % 4 + 0.0),
    )
    assert LONG * 1.002 < (frame["site"] == "near").sum() < frame.height
    design = {"unit": "patient", "time": "day", "strata": ("site",), "weight": weight}
    wanted = anonymize(frame, random_state=1, **design)
    table = stored(frame, tmp_path / "parts", [1_000])
    found = released_in_blocks(table, tmp_path / "scratch", memory=memory_for(frame), design=design)
    require_the_same_strata(found, wanted)
    assert found[0]["patient"].rle().len() == frame["patient"].n_unique()


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (pl.col("town").replace("even", None), r"'town' is a stratum: 700 missing"),
        (
            pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("x")).otherwise("town").alias("town"),
            r"Stratum number \d+ of 9 has 1 rows and cannot be released for itself: .* Merge",
        ),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, frame: pl.DataFrame, cells: Any, match: str):
    table = stored(frame.with_columns(cells), tmp_path / "parts")
    with pytest.raises(InputError, match=match):
        released_in_blocks(table, tmp_path / "scratch", design={"strata": ("town",)})


def test_strata_are_taken_together_up_to_what_fits(tmp_path: Path):
    table = stored(pl.DataFrame({"a": [1.0, 2.0]}), tmp_path / "parts")
    ground = Ground(table, LEAF_ROWS, 3.9 * 8 * 1000)
    pieces = pieces_of([600, 400, 1, 300_000, 999, 2], ground)
    assert [(piece.first, piece.sizes, piece.fits) for piece in pieces] == [
        (0, (600, 400), True),
        (2, (1,), True),
        (3, (300_000,), False),
        (4, (999,), True),
        (5, (2,), True),
    ]
    with pytest.raises(InputError, match=r"Stratum number 2 of 2, with 1,001 rows, would take"):
        pieces_of([5, 1001], ground)
