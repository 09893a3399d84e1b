"""Columns as rules see them: numbers, what a word stands for, and which numbers may be there."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from icsa.columns import Column, storage_of
from icsa.columns.declared import Flags
from icsa.columns.storage import Storage
from icsa.constraints.grammar import Rule
from icsa.constraints.written import Word
from icsa.errors import InputError
from icsa.lattice import Lattice
from icsa.matrices import Vector

__all__ = ["Domain", "Flags", "Sheet", "sheet_of_columns", "sheet_of_frame", "unsuited"]

_DAY = 86_400.0
_WORDS: dict[type[pl.DataType], str] = {
    pl.Boolean: "true and false",
    pl.Date: "dates",
    pl.Datetime: "dates with a time",
    pl.Duration: "durations",
    pl.Time: "times of day",
}
_MOMENTS: dict[Any, type[dt.date | dt.time]] = {
    pl.Date: dt.date,
    pl.Datetime: dt.datetime,
    pl.Time: dt.time,
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Domain:
    """What the numbers of a column mean, and which of them it may have.

    A *quantity* is what rules compare: a number, the days of a date, the seconds of a time, the
    place of a text among all. The number of a column of levels is a place among these, of
    others the quantity itself.

    Attributes
    ----------
    name : str
    dtype : polars data type
        Of the cells.
    lattice : Lattice, optional
        Quantities are moved to its points.
    levels : ndarray, optional
        Quantity of each level.
    allowed : function, optional
        From quantities to one boolean each: whether the column may have it.
    texts : mapping of str to int
        Place of every text that the columns and rules of a table have.
    """

    name: str
    dtype: pl.DataType
    lattice: Lattice | None = None
    levels: Vector | None = None
    allowed: Callable[[Vector], Flags] | None = None
    texts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def storage(self) -> Storage | None:
        """How cells hold numbers; None for text, true and false, and what cannot be compared."""
        return storage_of(self.dtype)

    @property
    def is_text(self) -> bool:
        """Whether cells are text or categories."""
        return isinstance(self.dtype, pl.String | pl.Categorical | pl.Enum)

    @property
    def holds(self) -> str:
        """What cells are, in words; parameters of a type can be values of cells."""
        if self.is_text:
            return "text"
        if self.dtype.is_numeric():
            return "numbers"
        return _WORDS.get(type(self.dtype), type(self.dtype).__name__)

    def is_compared_by_day(self, other: Domain) -> bool:
        """Return whether one column holds dates and the other dates with a time."""
        return {type(self.dtype), type(other.dtype)} == {pl.Date, pl.Datetime}

    def days(self, quantities: Vector) -> Vector:
        """Return the days of dates, by the clock on the wall where they have a time."""
        return np.floor(quantities / _DAY) if isinstance(self.dtype, pl.Datetime) else quantities

    def on_days(self, quantities: Vector, days: Vector) -> Vector:
        """Return dates moved to other days; those with a time keep it."""
        if not isinstance(self.dtype, pl.Datetime):
            return days
        return self.held(quantities + (days - self.days(quantities)) * _DAY)

    def by_day(self) -> Domain:
        """Return the domain of the days alone."""
        if not isinstance(self.dtype, pl.Datetime):
            return Domain(name=self.name, dtype=self.dtype, lattice=self.lattice)
        apart = 1 if self.lattice is None else math.ceil(self.lattice.width / _DAY)
        return Domain(name=self.name, dtype=pl.Date(), lattice=Lattice(Fraction(apart)))

    def quantities(self, numbers: Vector) -> Vector:
        """Return what numbers stand for, NaN where missing."""
        if self.levels is None:
            return numbers
        there = ~np.isnan(numbers)
        found = np.full(numbers.size, np.nan)
        found[there] = self.levels[numbers[there].astype(np.intp)]
        return found

    def numbers(self, quantities: Vector) -> Vector:
        """Return the numbers of quantities, NaN for what is no level."""
        if self.levels is None:
            return quantities
        if not self.levels.size:  # of a column without any value
            return np.full(quantities.size, np.nan)
        order = np.argsort(self.levels, kind="stable")
        places = np.minimum(np.searchsorted(self.levels[order], quantities), order.size - 1)
        known = self.levels[order[places]] == quantities
        return np.where(known, order[places], np.nan)

    def cells(self, quantities: Vector) -> pl.Series:
        """Return cells of the column's type, null where missing or where the type has none such."""
        if self.storage is not None:
            return self.storage.cells(quantities, self.dtype, self.name)
        places = pl.Series(self.name, quantities, nan_to_null=True)
        if not self.is_text:
            return places.cast(self.dtype)
        texts = pl.Series(self.name, list(self.texts), dtype=pl.String)
        return texts.gather(places.cast(pl.UInt32)).cast(self.dtype, strict=False)

    def held(self, quantities: Vector) -> Vector:
        """Return quantities as cells hold them: in narrower floats, and not in a skipped hour."""
        zoned = getattr(self.dtype, "time_zone", None) is not None
        narrow = self.dtype.is_float() and self.dtype != pl.Float64
        if self.storage is None or self.levels is not None or not (zoned or narrow):
            return quantities
        return self.storage.numbers(self.cells(quantities))

    def admits(self, quantities: Vector) -> Flags:
        """Return whether a release of the column may have each; what is missing it may."""
        found = np.ones(quantities.size, dtype=bool)
        if self.storage is not None:
            lowest, highest = self.storage.natural_range(self.dtype)
            found &= ~((quantities < lowest) | (quantities > highest))
            if self.dtype.is_integer():
                found &= ~(quantities != np.rint(quantities))
        if self.allowed is not None:
            found &= self.allowed(quantities)
        return found | np.isnan(quantities)

    def next_to(self, bounds: Vector, operator: str) -> Vector:
        """Return the quantity nearest to each bound that keeps it; on the lattice, if there is."""
        if self.lattice is not None:
            return self.lattice.next_to(bounds, operator)
        if operator in ("<=", ">="):
            return bounds
        return np.nextafter(bounds, np.inf if operator == ">" else -np.inf)

    def quantity_of(self, rule: Rule, word: Word) -> float:
        """Return the quantity that a word of a rule stands for.

        Raises
        ------
        InputError
            When a number is compared with a date and the like.
        """
        value = _value_of(self, rule, word)
        if self.is_text:
            return float(self.texts[value])
        if isinstance(value, bool) or self.storage is None:
            return float(value)
        return self.storage.declared_number(value, self.dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Sheet:
    """Numbers of columns, one vector each, NaN where missing, and what they mean."""

    domains: Mapping[str, Domain]
    columns: Mapping[str, Vector]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return next(iter(self.columns.values())).size if self.columns else 0

    def quantities(self, name: str) -> Vector:
        """Return what rules compare of a column."""
        return self.domains[name].quantities(self.columns[name])

    def with_quantities(self, changed: Mapping[str, Vector]) -> Sheet:
        """Return the sheet with other quantities in some columns."""
        numbers = {name: self.domains[name].numbers(found) for name, found in changed.items()}
        return Sheet(self.domains, {**self.columns, **numbers})

    def changed(self, other: Sheet, name: str) -> Flags:
        """Return the rows in which a column has another number than in another sheet."""
        mine, theirs = self.columns[name], other.columns[name]
        apart: Flags = (mine != theirs) & ~(np.isnan(mine) & np.isnan(theirs))
        return apart


def unsuited(rule: Rule, domain: Domain, what: str) -> InputError:
    """Return the error for a rule that does not go with the type of its column."""
    return InputError(
        f"Rule {rule.text!r}: column {domain.name!r} holds {domain.holds}, which goes only with "
        f"{what}. Change the rule, or the column's type."
    )


def sheet_of_columns(
    columns: Mapping[str, Column], numbers: Mapping[str, Vector], rules: Iterable[Rule]
) -> Sheet:
    """Return the sheet of fitted columns, of which a release may have what the original could."""
    levels = {name: column.values for name, column in columns.items()}
    texts = _places(rules, (values for values in levels.values() if values is not None))
    known = {name: _quantities(v, texts) for name, v in levels.items() if v is not None}
    domains = {
        name: Domain(
            name=name,
            dtype=column.dtype,
            lattice=column.lattice or _finest(column.dtype),
            levels=known.get(name),
            allowed=partial(_among, known[name]) if name in known else column.admits,
            texts=texts,
        )
        for name, column in columns.items()
    }
    return Sheet(domains, {name: domains[name].held(found) for name, found in numbers.items()})


def sheet_of_frame(
    frame: pl.DataFrame,
    rules: Iterable[Rule],
    names: Iterable[str],
    lattices: Mapping[str, Lattice] = MappingProxyType({}),
    allowed: Mapping[str, Callable[[Vector], Flags]] = MappingProxyType({}),
) -> Sheet:
    """Return the sheet of some columns of any table."""
    types = {name: frame.schema[name] for name in names}
    texts = _places(rules, (frame[name] for name in types))
    known = {
        name: partial(_among, _quantities(pl.Series(dtype.categories), texts))
        for name, dtype in types.items()
        if isinstance(dtype, pl.Enum)
    }
    domains = {
        name: Domain(
            name=name,
            dtype=dtype,
            lattice=lattices.get(name) or _finest(dtype),
            allowed=allowed.get(name, known.get(name)),
            texts=texts,
        )
        for name, dtype in types.items()
    }
    return Sheet(domains, {name: _quantities(frame[name], texts) for name in types})


def _among(known: Vector, quantities: Vector) -> Flags:
    return np.isin(quantities, known)


def _finest(dtype: pl.DataType) -> Lattice | None:
    """Return the lattice that a type itself has."""
    storage = storage_of(dtype)
    if storage is None:
        return Lattice(Fraction(1)) if isinstance(dtype, pl.Boolean) else None
    step = storage.finest_step(dtype)
    return None if step is None else Lattice(step)


def _places(rules: Iterable[Rule], columns: Iterable[pl.Series]) -> Mapping[str, int]:
    """Return the place of every text in columns, their types and rules among all, sorted."""
    claims = (claim for rule in rules for claim in (rule.then, rule.when) if claim is not None)
    found = {word.text for claim in claims for word in claim.values}
    for cells in columns:
        if isinstance(cells.dtype, pl.Enum):
            found.update(cells.dtype.categories.to_list())
        elif isinstance(cells.dtype, pl.String | pl.Categorical):
            found.update(cells.cast(pl.String).drop_nulls().unique().to_list())
    return {text: place for place, text in enumerate(sorted(found))}


def _quantities(cells: pl.Series, texts: Mapping[str, int]) -> Vector:
    """Return one number a cell that rules can compare, NaN where missing."""
    if isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum):
        places = pl.Series(list(texts.values()), dtype=pl.Float64)
        found = cells.cast(pl.String).replace_strict(list(texts), places, return_dtype=pl.Float64)
        return found.to_numpy()
    storage = storage_of(cells.dtype)
    if storage is not None:
        return storage.numbers(cells)
    if isinstance(cells.dtype, pl.Boolean):
        return cells.cast(pl.Float64).to_numpy()
    return np.where(cells.is_null().to_numpy(), np.nan, 0.0)


def _value_of(domain: Domain, rule: Rule, word: Word) -> Any:
    """Return a word of a rule in the type of its column."""
    dtype = domain.dtype
    try:
        if domain.is_text and word.sort in ("double", "single", "number", "moment"):
            return word.text
        if dtype.is_numeric() and word.sort == "number" and math.isfinite(float(word.text)):
            return float(word.text)
        if isinstance(dtype, pl.Boolean):
            return _TRUTH[word.text.lower()]
        if isinstance(dtype, pl.Duration) and word.sort == "number":
            return dt.timedelta(seconds=float(word.text))
        if type(dtype) in _MOMENTS and word.sort == "moment":
            return _MOMENTS[type(dtype)].fromisoformat(word.text)
    except (KeyError, ValueError, OverflowError):
        pass
    raise unsuited(rule, domain, "values of that type (text in quotes, ISO dates)")
