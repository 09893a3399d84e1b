"""The rows of all units as scores, with what follows from what among them and their units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from icsa.columns import Column
from icsa.constraints import Derivation
from icsa.constraints.coded_columns import coded_columns, derivation_of
from icsa.matrices import Matrix, Vector
from icsa.recipes import Recipe
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.preparing import Extent, PreparedOnce
from icsa.schema import Schema
from icsa.tables import Table
from icsa.threads import threads_for

__all__ = ["RowLevel", "row_derivation", "row_level", "score_moments"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowLevel:
    """The rows of all units: what an account and a release ask of a plan.

    Attributes
    ----------
    schema : Schema
        Of the columns that belong to rows, without the time, and rules on these alone.
    spare : Table
        Their cells, in the order of units and times.
    encoding : Encoding
    centre, spread : ndarray of shape (n_scores,)
        What the scores are standardised by.
    rules : tuple of str
        All that speak of rows, and maybe of their units, too.
    """

    schema: Schema
    spare: Table
    recipe: Recipe
    columns: Mapping[str, Column]
    extents: Mapping[str, Extent]
    derivation: Derivation
    notes: tuple[str, ...]
    encoding: Encoding
    centre: Vector
    spread: Vector
    rules: tuple[str, ...] = ()

    def decoded(self, scores: Matrix, encoding: Encoding | None = None) -> dict[str, Vector]:
        """Return the numbers of standardised scores, which are used up.

        What follows from them is not computed yet.
        """
        scores *= self.spread
        scores += self.centre
        return (encoding or self.encoding).decode(scores, threads_for(scores.size, None))

    def view(self, scores: Matrix) -> Matrix:
        """Return what calibration compares of standardised scores, which are used up."""
        return self.encoding.view(self.decoded(scores))

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<RowLevel: {len(self.columns)} columns, {self.encoding.n_scores} scores>"


def row_level(
    prepared: PreparedOnce, above: Mapping[str, Vector], of_units: Mapping[str, Column]
) -> tuple[RowLevel, dict[str, Vector], dict[str, Vector], Matrix]:
    """Return the level of rows, numbers of its columns, those that are encoded, and scores.

    Parameters
    ----------
    prepared : PreparedOnce
        The columns that belong to rows, which are used up.
    above : mapping of str to ndarray
        Numbers of units and of the time, one a row: what rows may follow from.
    of_units : mapping of str to Column
        Their columns.
    """
    recipe, columns = prepared.recipe, prepared.columns
    numbers = prepared.take_numbers()
    both, whole = {**of_units, **columns}, {**above, **numbers}
    derivation = row_derivation(columns, both, whole, prepared.schema, search=recipe.find_relations)
    coded, reduced = coded_columns(
        both, whole, derivation, scale=recipe.scale, split_zeros=recipe.split_zeros
    )
    coded = {name: column for name, column in coded.items() if name not in above}
    reduced = {name: reduced[name] for name in coded}
    encoding = encoding_of(coded, reduced, keep_quantiles=recipe.keep_quantiles)
    scores = encoding.room(next(iter(numbers.values())).size)
    encoding.encode(reduced, scores)
    centre, spread = np.array([score_moments(column) for column in scores.T]).reshape(-1, 2).T
    scores = np.ascontiguousarray(scores)
    scores -= centre
    scores /= spread
    level = RowLevel(
        schema=prepared.schema,
        spare=prepared.spare,
        recipe=recipe,
        columns=columns,
        extents=prepared.extents,
        derivation=derivation,
        notes=prepared.notes,
        encoding=encoding,
        centre=centre,
        spread=spread,
    )
    return level, numbers, reduced, scores


def row_derivation(
    columns: Mapping[str, Column],
    both: Mapping[str, Column],
    numbers: Mapping[str, Vector],
    schema: Schema,
    *,
    search: bool,
) -> Derivation:
    """Return what of rows follows from others of them, or from their unit and time.

    Parameters
    ----------
    columns : mapping of str to Column
        Those that belong to rows.
    both : mapping of str to Column
        With those of units and the time, which follow from nothing.
    numbers : mapping of str to ndarray
        Of both, one a row.
    schema : Schema
    search : bool
        Whether to look for more than is declared.
    """
    above = [name for name in both if name not in columns]
    said = {name: schema.columns[name].derive for name in columns}
    declared = {name: text for name, text in said.items() if text is not None}
    declared |= dict.fromkeys(above, "")
    found = derivation_of(both, numbers, declared, search=search)
    return replace(
        found,
        computed=tuple(one for one in found.computed if one.target in columns),
        gaps=tuple(gap for gap in found.gaps if gap.other in columns),  # coded by rows
        products=tuple(one for one in found.products if one.columns.isdisjoint(above)),
        unkept=tuple(one for one in found.unkept if one.columns <= columns.keys()),
        orders=tuple(one for one in found.orders if one.columns <= columns.keys()),
    )


def score_moments(column: Vector) -> tuple[float, float]:
    """Return mean and deviation of what is there of a score; 1 where it does not vary."""
    there = ~np.isnan(column)
    count = max(int(there.sum()), 1)
    centre = float(np.where(there, column, 0.0).sum() / count)
    squares = np.where(there, column - centre, 0.0) ** 2
    spread = float(np.sqrt(squares.sum() / count))
    return centre, spread if spread > 1e-12 * (1.0 + abs(centre)) else 1.0
