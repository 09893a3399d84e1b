"""The passes over a large table in words: what each does, reads and writes, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from icsa.inspection.unit_rows import UNIT_LEAF_ROWS

__all__ = [
    "FOREST_PASSES",
    "PASSES",
    "ROW_BY_ROW",
    "STRATA_PASSES",
    "TEXT_PASSES",
    "UNIT_PASSES",
    "HowFar",
    "Pass",
    "Ways",
    "explained",
    "share_of_all",
]


class Pass(NamedTuple):
    """A pass: what its tasks are on, what they do, and in tables what is read and written.

    The share of the time was measured on a table of 10,000,000 rows and 20 columns of numbers.
    """

    name: str
    each: str
    does: str
    reads: float
    writes: float
    share: float


# Before the others, for text files; shares are of the time that those take, measured likewise.
TEXT_PASSES = (
    Pass("reading", "file", "text to strings and numbers, in one stream", 1, 1, 0.3),
    Pass("typing", "column", "strings to what all cells of a column are", 1, 1, 0.1),
)
PASSES = (
    Pass("looking at columns", "column", "what it is: kind, bounds", 1, 0, 0.05),
    Pass("fitting columns", "column", "scale, quantiles, levels; cells to numbers", 1, 1, 0.3),
    Pass("relations", "table", "what follows from what: found in a sample", 0.1, 0, 0.02),
    Pass("judging rows", "block", "who stands out, by an MCD of a sample", 1, 0, 0.03),
    Pass("encoding", "column", "numbers to scores, gaps filled", 1, 1, 0.06),
    Pass("scaling", "column", "mean 0, standard deviation 1", 1, 1, 0.04),
    Pass("means of scores", "block", "sums", 1, 0, 0.02),
    Pass("products of scores", "block", "sums, hence both scatters", 1, 0, 0.04),
    Pass("to coordinates", "block", "scores to coordinates", 1, 1, 0.06),
    Pass("masking", "coordinate", "masked whole, by the key's own stream", 1, 1, 0.1),
    Pass("back to scores", "block", "coordinates to scores, calibrated", 1, 1, 0.08),
    Pass("decoding", "column", "quantiles and counts regained; scores to numbers", 1, 1, 0.1),
    Pass("computing", "table", "computed columns and rules", 0.1, 0.1, 0.01),
    Pass("counting", "column", "the account", 1, 0, 0.02),
    Pass("writing", "block", "numbers to cells", 1, 1, 0.07),
)
# The same by forests in place of coordinates. Where it is they that are taken by themselves, rows
# are judged besides.
_OF_COORDINATES = {
    *("judging rows", "means of scores", "products of scores", "to coordinates", "masking"),
}
_WITHOUT = [one for one in PASSES if one.name not in _OF_COORDINATES]
_SCALED = [one.name for one in _WITHOUT].index("scaling") + 1
FOREST_PASSES = (
    *_WITHOUT[:_SCALED],
    Pass("growing forests", "table", "laws of all scores, from a sample", 0, 0, 0.13),
    Pass("places in laws", "column", "random places of all rows", 0, 1, 1.0),
    Pass("drawing", "column", "drawn by blocks, given those before; hence cells", 1, 1, 4.4),
    *_WITHOUT[_SCALED:],
)
# The same of several rows a person, measured on a table of 1,000,000 rows and 15 columns, of which
# 100,000 people have five.
UNIT_PASSES = (
    Pass("looking at columns", "column", "what it is: kind, bounds", 1, 0, 0.04),
    Pass("finding units", "table", "the order of rows by unit and time", 0.2, 0.1, 0.04),
    Pass("whose columns are", "column", "whether it belongs to units or rows", 1, 0, 0.05),
    Pass("times of units", "table", "when and how often rows are", 0.1, 0.1, 0.03),
    Pass("fitting columns", "column", "scale, quantiles, levels; cells to numbers", 1, 1, 0.08),
    Pass("relations", "table", "what follows from what: found in a sample", 0.5, 0.3, 0.06),
    Pass("encoding", "column", "numbers to scores", 1, 1, 0.04),
    Pass("effects of units", "table", "the law of levels and slopes, from a sample", 0.1, 0, 0.07),
    Pass("drawing effects", "leaf", "levels and slopes of units, errors of rows", 1, 1, 0.12),
    Pass("scaling", "column", "what is new in each row", 1, 1, 0.02),
    Pass("judging rows", "block", "who stands out, by an MCD of a sample", 1, 0, 0.02),
    Pass("products of scores", "block", "sums, hence both scatters", 2, 0, 0.02),
    Pass("masking units", "table", "a row a unit, released as any table", 0.3, 0.2, 0.12),
    Pass("times of rows", "table", "when and how often released rows are", 0.2, 0.2, 0.04),
    Pass("to coordinates", "block", "errors to coordinates", 1, 1, 0.01),
    Pass("masking", "coordinate", "masked whole, by the key's own stream", 1, 1, 0.03),
    Pass("back to scores", "block", "coordinates to errors", 1, 1, 0.01),
    Pass("regaining quantiles", "column", "quantiles regained, rows shuffled", 1, 1, 0.03),
    Pass("putting together", "leaf", "units and rows to scores, calibrated", 1, 1, 0.07),
    Pass("decoding", "column", "quantiles and counts regained; scores to numbers", 1, 1, 0.03),
    Pass("computing", "table", "computed columns and rules", 0.1, 0.1, 0.01),
    Pass("counting", "column", "the account", 1, 0, 0.01),
    Pass("writing", "block", "numbers to cells", 1, 1, 0.05),
)
# The same where the rows of a unit stand side by side: those of one row a unit, between others.
# Measured on a table of 1,200,000 rows and 9 columns, four rows each.
_ROWS_OF_UNITS = {
    "looking at columns": 0.08,
    "finding units": 0.04,
    "whose columns are": 0.04,
}
_TO_SIDE_BY_SIDE = (
    *(one._replace(share=_ROWS_OF_UNITS[one.name]) for one in UNIT_PASSES[:3]),
    Pass("places of rows", "table", "which row every unit has in each place", 0.2, 0.1, 0.01),
)
_LAID_LONG = (
    Pass("laying long", "block", "which units have which rows, and their gaps", 0.5, 0, 0.08),
    Pass("writing", "block", "units to rows, numbers to cells", 1, 1, 0.12),
)
# The same of strata; those that do not fit in memory go through all passes of a table. Shares are
# chosen.
STRATA_PASSES = (
    Pass("looking at columns", "column", "what it is: kind, bounds", 1, 0, 0.08),
    Pass("finding strata", "table", "which rows each has", 0.1, 0.1, 0.02),
    Pass("splitting strata", "column", "cells stratum by stratum", 1, 1, 0.1),
    Pass("releasing strata", "stratum", "in memory where it fits, or as a table here", 1, 1, 0.63),
    Pass("putting strata together", "column", "cells of all, in one random order", 1, 1, 0.1),
    Pass("writing", "block", "cells as they are", 1, 1, 0.07),
)
# Passes that belong to another one in what people see.
_PARTS = {
    "people named": "looking at columns",
    "rules declared": "looking at columns",
    "judges": "judging rows",
    "sight": "encoding",
    "filling": "encoding",
    "correlations": "encoding",
    "curves": "scaling",
    "units of columns": "scaling",
    "own units": "scaling",
    "looking at who": "products of scores",
    "sampling scores": "products of scores",
    "calibrating": "back to scores",
    "cells of": "drawing",
    "keeping rules": "computing",
    "rules kept": "computing",
    "order of rows": "writing",
    "making cells": "writing",
    "weights of": "writing",
    "weights": "looking at columns",
    "totals": "writing",
    "sum of weights": "writing",
    "raking": "writing",
    "looking at cells": "writing",
}


_SEVERAL = {"leaf": "leaves of units"}
_UNIT_PARTS = {
    **_PARTS,
    "rules declared": "looking at columns",
    "columns as rows have them": "fitting columns",
    "order of units": "writing",
    "what units have of rows": "relations",
    "scores of units": "encoding",
    "what units and rows have in common": "encoding",
    "columns of times": "encoding",
    "what rows remember": "drawing effects",
    "way of units": "fitting columns",
    "slopes in levels": "drawing effects",
    "means of scores": "products of scores",
    "correlations": "products of scores",
    "calibrating": "putting together",
    "order of rows": "regaining quantiles",
    "what units have of released rows": "computing",
}
_WIDE_PARTS = {
    **_PARTS,
    "side by side": "whose columns are",
    "columns as rows have them": "fitting columns",
    "order of units": "writing",
    "patterns": "relations",
    "masking units": "masking",
    "making cells": "counting",
    "order of rows": "counting",
}


_STRATA_PARTS = {
    "people named": "looking at columns",
    "rules declared": "looking at columns",
    "finding units": "looking at columns",
    "whose columns are": "looking at columns",
    "weights": "looking at columns",
    "identifiers": "splitting strata",
    "order of all rows": "putting strata together",
    "looking at cells": "writing",
}


class Ways(NamedTuple):
    """Which way a table goes.

    Several rows a unit, these side by side, strata each for itself, scores drawn by forests.
    """

    of_units: bool = False
    side_by_side: bool = False
    of_strata: bool = False
    by_forests: bool = False

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes over the table."""
        if self.of_strata:
            return STRATA_PASSES
        if self.of_units and not self.side_by_side:
            return UNIT_PASSES
        of_rows = FOREST_PASSES if self.by_forests else PASSES
        return (*_TO_SIDE_BY_SIDE, *of_rows[1:-1], *_LAID_LONG) if self.side_by_side else of_rows

    @property
    def scratch_tables(self) -> float:
        """How many tables scratch takes at its largest; measured with two rows a unit."""
        if self.of_strata:
            return 3.5
        return 3.0 if self.of_units and not self.side_by_side else 2.5

    @property
    def parts(self) -> Mapping[str, str]:
        """Which others belong to them."""
        if self.of_strata:
            return _STRATA_PARTS
        if self.side_by_side:
            return _WIDE_PARTS
        return _UNIT_PARTS if self.of_units else _PARTS


ROW_BY_ROW = Ways()


def share_of_all(
    name: str,
    share: float,
    *,
    is_text: bool = False,
    ways: Ways = ROW_BY_ROW,
) -> tuple[str, float]:
    """Return the pass that people see, and the share of all work that is done before.

    Text files have two passes more.

    Examples
    --------
    >>> share_of_all("filling", 0.0)
    ('encoding', 0.4)
    """
    known = next((whole for part, whole in ways.parts.items() if name.startswith(part)), name)
    passes = (*TEXT_PASSES, *ways.passes) if is_text else ways.passes
    before, all_shares = 0.0, sum(one.share for one in passes)
    for one in passes:
        if known.startswith(one.name):
            own = share if known == name else 0.0
            return one.name, round((before + own * one.share) / all_shares, 6)
        before += one.share
    return known, 0.0


class HowFar:
    """Who tells how far all passes are, which never goes back; ways may turn out on the way."""

    def __init__(self, told: Callable[[str, float], None], *, is_text: bool) -> None:
        self.ways = ROW_BY_ROW
        self._told, self._is_text = told, is_text
        self._farthest, self._squeezed = 0.0, 1.0

    def tell(self, name: str, share: float) -> None:
        """Tell of a pass, and how much of it is done."""
        if name == "places of rows":  # times may be the same for all
            self.ways = self.ways._replace(side_by_side=True)
        if name == "growing forests" and not self.ways.by_forests:  # curves may be strong
            self.ways = self.ways._replace(by_forests=True)
            passed = self._share(name, 0.0)[1]
            # All that comes goes into what is left.
            self._squeezed = (1.0 - self._farthest) / (1.0 - passed)
        shown, done = self._share(name, share)
        if self._squeezed != 1.0:
            done = 1.0 - self._squeezed * (1.0 - done)
        self._farthest = max(self._farthest, done)  # passes may come in rounds
        self._told(shown, self._farthest)

    def _share(self, name: str, share: float) -> tuple[str, float]:
        return share_of_all(name, share, is_text=self._is_text, ways=self.ways)


def explained(
    n_rows: int,
    n_columns: int,
    block_rows: int,
    *,
    is_text: bool = False,
    ways: Ways = ROW_BY_ROW,
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each pass: name, tasks, what it does, gigabytes read and written.

    Scores are taken to be as many as columns; categories have one a level but one.

    Examples
    --------
    >>> next(explained(50_000_000, 20, 262_144))[:2]
    ('looking at columns', '20 columns')
    """
    table = 8e-9 * n_rows * n_columns
    tasks: dict[str, Callable[[], int]] = {
        "column": lambda: n_columns,
        "coordinate": lambda: n_columns,
        "block": lambda: -(-n_rows // block_rows),
        "leaf": lambda: -(-n_rows // UNIT_LEAF_ROWS),
        "table": lambda: 1,
        "file": lambda: 1,
    }
    for one in (*TEXT_PASSES, *ways.passes) if is_text else ways.passes:
        number = "each stratum"  # how many there are is not known yet
        if one.each != "stratum":
            count = tasks[one.each]()
            several = _SEVERAL.get(one.each, f"{one.each}s")
            number = f"{count:,} {one.each if count == 1 else several}"
        yield (
            one.name,
            number,
            one.does,
            f"{one.reads * table:.3g}",
            f"{one.writes * table:.3g}",
        )
