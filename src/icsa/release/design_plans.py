"""Releases around releases (units, weights, strata): the same three verbs for who makes one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Unpack

from icsa.columns import Column
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.methods import MethodOptions
from icsa.schema import Schema
from icsa.tables import Table

if TYPE_CHECKING:
    from icsa.release.planning import Plan
    from icsa.release.releasing import Release

__all__ = ["DesignPlan", "PreparedDesign", "UnitAccount"]


@dataclass(frozen=True, kw_only=True)
class UnitAccount:
    """How units were released.

    Attributes
    ----------
    unit : str
        The column that names them.
    way : "wide" or "two levels"
        All rows of a unit as one, or units and rows each on their own level.
    n_units : int
        As many as in the original.
    rows_before, rows_after : int
    """

    unit: str
    way: Literal["wide", "two levels"]
    n_units: int
    rows_before: int
    rows_after: int

    def describe(self) -> str:
        """Return it in a sentence.

        Examples
        --------
        >>> account = UnitAccount(
        ...     unit="id", way="two levels", n_units=312, rows_before=1945, rows_after=1930
        ... )
        >>> account.describe()
        "312 units of 'id' as before, by two levels; 1,945 rows became 1,930"
        """
        same = self.rows_before == self.rows_after
        rows = "as many rows" if same else f"{self.rows_before:,} rows became {self.rows_after:,}"
        return f"{self.n_units:,} units of {self.unit!r} as before, by {self.way}; {rows}"


class PreparedDesign(ABC):
    """A table of whose rows something is said, ready to be planned, once.

    Attributes
    ----------
    schema : Schema
        Of the whole table.
    recipe : Recipe
    spare : Table
        What a release still needs of the original.
    """

    schema: Schema
    recipe: Recipe
    spare: Table

    @abstractmethod
    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> DesignPlan:
        """Return the plan, with options of `icsa.release.methods.method_of`."""

    def weigh_by(self, name: str) -> None:
        """Have units counted by a column of theirs that holds the logarithms of weights."""
        raise NotImplementedError(f"{type(self).__name__} has no units to be weighted by {name}.")


class DesignPlan(ABC):
    """A plan made of others: of units, weights or strata. It holds the original.

    Attributes
    ----------
    schema : Schema
        Of the whole table; its design has the unit.
    spare : Table
    columns : mapping of str to Column
        Of the plan within: of units, of the wide table, of the first stratum.
    """

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]

    @property
    @abstractmethod
    def within(self) -> Plan:
        """One of the plans that it is made of: method, mask, scatters and recipe are its."""

    @abstractmethod
    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the release that the plan gives with a key."""
