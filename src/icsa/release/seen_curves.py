"""Curves seen before a release: which columns other columns explain by more than straight lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from icsa.constraints.coded_columns import coded_columns, derivation_of
from icsa.errors import ICSAError
from icsa.forests.beyond_lines import ROWS_LOOKED_AT, STRONG, curved_shares, rows_to_look_at
from icsa.inspection import Inspection
from icsa.matrices import Matrix, Vector
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.limits import LIMITS
from icsa.release.preparing import prepare_rows
from icsa.release.scores import fill_missing_scores, standardize
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import one_linear_algebra_thread

__all__ = [
    "Sight",
    "curve_notes",
    "explained_by_curves",
    "seen_curves",
    "strong_curves",
    "with_seen_curves",
]

Flags = npt.NDArray[np.bool_]
# Columns that a note names; of others it says how many there are.
_NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Sight:
    """The rows that are looked at, and what is not there in them.

    Attributes
    ----------
    encoding : Encoding
    rows : ndarray of int64
    undefined : ndarray of bool, shape (rows.size, n_scores)
        Where scores stand for cells that are not there.
    """

    encoding: Encoding
    rows: npt.NDArray[np.int64]
    undefined: Flags

    @classmethod
    def of(
        cls, encoding: Encoding, numbers: Mapping[str, Vector], scores: Matrix, most: int
    ) -> Self:
        """Return the sight of so many rows at most, a fixed sample; scores still have gaps.

        A gap between two columns that nobody sees where one of them is missing counts as there:
        it is drawn in every row.
        """
        rows = rows_to_look_at(scores.shape[0], most)
        names = [part.column.name for part in encoding.parts]
        return cls.among(
            encoding, rows, {name: numbers[name][rows] for name in names}, scores[rows]
        )

    @classmethod
    def among(
        cls,
        encoding: Encoding,
        rows: npt.NDArray[np.int64],
        numbers: Mapping[str, Vector],
        scores: Matrix,
    ) -> Self:
        """Return the sight of some rows from what is in these rows alone."""
        undefined = np.isnan(scores)
        for part in encoding.parts:
            undefined[:, part.place] &= ~np.isinf(numbers[part.column.name])[:, None]
        return cls(encoding, rows, undefined)

    def curves_in(self, scores: Matrix) -> dict[str, float]:
        """Return by column what curves explain beyond lines; nothing for levels without an order.

        Of standardised scores without gaps, the first rows of the sight.
        """
        return self.curves_among(scores[self.first_rows, : self.encoding.n_columns_scores])

    @property
    def first_rows(self) -> npt.NDArray[np.int64]:
        """The rows that curves are looked for in."""
        return self.rows[:ROWS_LOOKED_AT]

    def curves_among(self, looked: Matrix) -> dict[str, float]:
        """Return what `curves_in` does from the columns' scores in the first rows alone."""
        gone = self.undefined[:ROWS_LOOKED_AT]
        if looked.size == 0:  # no rows, or constants with gaps alone
            return {}
        parts = [part for part in self.encoding.parts if part.column.without_dummy is None]
        blocks = [range(part.place.start, part.place.stop) for part in parts]
        shares = curved_shares(looked, gone, blocks)
        return dict(zip((part.column.name for part in parts), shares, strict=True))


def seen_curves(table: Table, schema: Schema) -> dict[str, float]:
    """Return by column what curves explain beyond straight lines, as shares of its variance.

    Only columns in which that is much. Encoded as by the recipe "mixed", on 1,500 rows at most;
    none for tables that are too small to be released.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.inspection import guess_schema
    >>> x = np.random.default_rng(0).normal(size=(400, 2)).round(3)
    >>> frame = pl.DataFrame({"dose": x[:, 0], "effect": x[:, 0] ** 2 + x[:, 1]})
    >>> table = Table(frame)
    >>> list(seen_curves(table, guess_schema(table)))
    ['effect']
    """
    rows = np.sort(rows_to_look_at(table.frame.height, ROWS_LOOKED_AT))
    if rows.size < LIMITS.fewest_rows or all(s.action != "mask" for s in schema.columns.values()):
        return {}
    prepared = prepare_rows(table.with_frame(table.frame[rows]), schema)
    recipe, columns, numbers = prepared.recipe, prepared.columns, prepared.take_numbers()
    with one_linear_algebra_thread():
        derivation = derivation_of(columns, numbers, search=recipe.find_relations)
        coded, reduced = coded_columns(
            columns, numbers, derivation, scale=recipe.scale, split_zeros=recipe.split_zeros
        )
        encoding = encoding_of(coded, reduced)
        scores = encoding.room(rows.size)
        encoding.encode(reduced, scores)
        sight = Sight.of(encoding, reduced, scores, ROWS_LOOKED_AT)
        fill_missing_scores(scores)
        standardize(scores, 1)
        return strong_curves(sight.curves_in(scores))


def with_seen_curves(inspection: Inspection, table: Table) -> Inspection:
    """Return the inspection with a note on every column that has curves, if it can be released."""
    try:
        seen = seen_curves(table, inspection.schema)
    except ICSAError:  # told when the release is made
        return inspection
    return replace(
        inspection,
        columns=tuple(
            replace(
                column,
                notes=(
                    *column.notes,
                    f"curves, thresholds or products of other columns explain {share:.0%} of it "
                    "beyond straight lines; --method forest keeps them",
                ),
            )
            if (share := seen.get(column.name, 0.0))
            else column
            for column in inspection.columns
        ),
    )


def strong_curves(shares: Mapping[str, float]) -> dict[str, float]:
    """Return the columns of which curves explain much, the largest share first."""
    strong = {name: share for name, share in shares.items() if share >= STRONG}
    return dict(sorted(strong.items(), key=lambda item: -item[1]))


def explained_by_curves(strong: Mapping[str, float]) -> str:
    """Return what curves explain of which columns, in words.

    Examples
    --------
    >>> explained_by_curves({"wage": 0.08, "age": 0.04})
    'curves explain 8% of wage (and some of age)'
    """
    first, *others = strong
    more = others[: _NAMED - 1]
    left = len(others) - len(more)
    named = ", ".join(more) + (f" and {left} more" if left else "")
    return f"curves explain {strong[first]:.0%} of {first}" + (
        f" (and some of {named})" if named else ""
    )


def curve_notes(shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return a note on the columns whose curves are lost in a release that keeps lines.

    Examples
    --------
    >>> (note,) = curve_notes({"wage": 0.08, "age": 0.01})
    >>> print(note[:57])
    Curves explain 8% of wage beyond straight lines, and this
    """
    strong = strong_curves(shares)
    if not strong:
        return ()
    return (
        f"C{explained_by_curves(strong)[1:]} beyond straight lines, and this method keeps straight "
        "lines: such effects come out too weak. Compare with --method forest, which keeps them and "
        "hides people slightly less well.",
    )
