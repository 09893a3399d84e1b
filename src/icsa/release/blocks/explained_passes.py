"""The passes over a large table in words: what each does, reads and writes, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["PASSES", "TEXT_PASSES", "Pass", "explained", "share_of_all"]


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
# Passes that belong to another one in what people see.
_PARTS = {
    "people named": "looking at columns",
    "judges": "judging rows",
    "sight": "encoding",
    "filling": "encoding",
    "correlations": "encoding",
    "curves": "scaling",
    "units of columns": "scaling",
    "own units": "scaling",
    "looking at who": "products of scores",
    "calibrating": "back to scores",
    "keeping rules": "computing",
    "rules kept": "computing",
    "order of rows": "writing",
    "making cells": "writing",
    "looking at cells": "writing",
}


def share_of_all(name: str, share: float, *, is_text: bool = False) -> tuple[str, float]:
    """Return the pass that people see, and the share of all work that is done before.

    Text files have two passes more.

    Examples
    --------
    >>> share_of_all("filling", 0.0)
    ('encoding', 0.4)
    """
    known = next((whole for part, whole in _PARTS.items() if name.startswith(part)), name)
    passes = (*TEXT_PASSES, *PASSES) if is_text else PASSES
    before, all_shares = 0.0, sum(one.share for one in passes)
    for one in passes:
        if known.startswith(one.name):
            own = share if known == name else 0.0
            return one.name, round((before + own * one.share) / all_shares, 6)
        before += one.share
    return known, 0.0


def explained(
    n_rows: int, n_columns: int, block_rows: int, *, is_text: bool = False
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
        "table": lambda: 1,
        "file": lambda: 1,
    }
    for one in (*TEXT_PASSES, *PASSES) if is_text else PASSES:
        count = tasks[one.each]()
        yield (
            one.name,
            f"{count:,} {one.each}{'s' * (count != 1)}",
            one.does,
            f"{one.reads * table:.3g}",
            f"{one.writes * table:.3g}",
        )
