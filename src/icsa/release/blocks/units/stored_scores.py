"""The columns of many units as standardised scores, one after the other, as in memory."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from icsa.columns import Column
from icsa.release.blocks.block_filling import fill_in_blocks
from icsa.release.blocks.block_planning import encode_column
from icsa.release.blocks.scratch import Scratch, StoredNumbers
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.scores import standardize_column
from icsa.release.units.unit_scores import UnitScores

__all__ = ["fit_unit_scores", "write_unit_scores"]


def fit_unit_scores(
    scratch: Scratch, columns: Mapping[str, Column], numbers: StoredNumbers
) -> UnitScores:
    """Write the scores of units as "x"; return how they are made, as `unit_scores` does."""
    encoding = encoding_of(columns, numbers)
    _encode(scratch, encoding, numbers)
    moments = [standardize_column(scratch.loaded("raw", j)) for j in range(encoding.n_scores)]
    centre, spread = np.array(moments).reshape(-1, 2).T
    found = UnitScores(encoding, centre, spread)
    _scale(scratch, found, "x")
    return found


def write_unit_scores(
    scratch: Scratch, scores: UnitScores, numbers: StoredNumbers, what: str
) -> None:
    """Write the scores of released units, as `UnitScores.of` returns them."""
    _encode(scratch, scores.encoding, numbers)
    _scale(scratch, scores, what)


def _encode(scratch: Scratch, encoding: Encoding, numbers: StoredNumbers) -> None:
    """Write scores without gaps, in their own units."""
    places, gaps = numbers.places(), dict[int, bool]()
    for part, indicator in encoding.indicated:
        gaps |= encode_column(scratch, part, places[part.column.name], indicator)
    fill_in_blocks(scratch, encoding.n_scores, gaps)
    scratch.drop("gaps")


def _scale(scratch: Scratch, scores: UnitScores, what: str) -> None:
    """Write scores as multiples of the spread that the original's have around their centre."""
    for j in range(scores.width):
        found = (scratch.loaded("raw", j) - scores.centre[j]) / scores.spread[j]
        scratch.write(what, j, found)
    scratch.drop("raw")
