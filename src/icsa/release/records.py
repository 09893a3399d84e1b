"""What a release is: the table, and what was done to every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from icsa.randomness import Key
from icsa.recipes import Recipe

__all__ = ["ColumnChange", "Release"]


@dataclass(frozen=True, kw_only=True)
class ColumnChange:
    """What was done to one column.

    Attributes
    ----------
    name, kind : str
    action : str
        "masked", "recomputed", "replaced", "dropped", "kept" or "constant".
    how : str
        The same in a few words, without any cell.
    type_before, type_after : str
        Data types in plain words; empty for a column that is gone.
    decimals : int, optional
        Digits after the decimal mark, where all cells are rounded to as many.
    labels : bool
        Whether the column has a label or labels of values, which are carried over.
    missing_before, missing_after : int
        Cells without a value.
    """

    name: str
    kind: str
    action: str
    how: str
    type_before: str
    type_after: str
    decimals: int | None
    labels: bool
    missing_before: int
    missing_after: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release:
    """An anonymized table with an account of how it was made. It holds nothing of the original.

    Attributes
    ----------
    table : data frame or Table
        Of the kind that was given.
    columns : tuple of ColumnChange
        One for each column of the original.
    warnings : tuple of str
        What to look at before the table is handed out.
    relations : tuple of str
        Relations between columns that were found and hold in the release.
    moved_cells : mapping of str to int
        For each declared rule, how many cells were moved so that it holds.
    method : "icsa" or "sa"
    scatters : pair of str
    mask : str
    recipe : Recipe
    n_components : int
        Coordinates that were masked.
    reproducible : bool
        Whether the key came from a seed: such a release is for tests, not to be handed out.
    key : Key, optional
        Only when it was asked for: whoever has it can repeat every draw.
    """

    table: Any
    columns: tuple[ColumnChange, ...]
    warnings: tuple[str, ...]
    relations: tuple[str, ...]
    moved_cells: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    method: str
    scatters: tuple[str, str]
    mask: str
    recipe: Recipe
    n_components: int
    reproducible: bool
    key: Key | None = None

    def __repr__(self) -> str:
        """Show how it was made, not what is in it."""
        note = ", reproducible: not for release" if self.reproducible else ""
        return (
            f"<Release by {self.method}, recipe {self.recipe.describe()}, mask {self.mask}{note}>"
        )
