"""Columns that may follow from others: what is looked at, and which candidates are believed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.constraints.computing import in_order, reaches
from icsa.constraints.derived_columns import ColumnFacts, Derived, fit_derived, is_computable
from icsa.constraints.derived_expressions import MOST_SIGNS
from icsa.constraints.limits import LIMITS
from icsa.matrices import Vector

__all__ = ["Candidate", "Codes", "Look", "codes_of", "confirmed", "look_at"]

Codes: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Look:
    """The columns of a table and a sample of their rows.

    `values` are what expressions compute with, `codes` which of the different values a row has, -1
    where missing.
    """

    facts: Mapping[str, ColumnFacts]
    numbers: Mapping[str, Vector]
    values: Mapping[str, Vector]
    codes: Mapping[str, Codes] = field(default_factory=dict)

    def n_different(self, name: str) -> int:
        """Return how many different values a column has in the sample."""
        return int(self.codes[name].max(initial=-1)) + 1


@dataclass(frozen=True, order=True)
class Candidate:
    """A column that may follow by an expression; better ones sort first."""

    rank: tuple[float, ...]
    target: str
    text: str


def look_at(numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts]) -> Look | None:
    """Return the table with a sample of its rows; None where there are too few."""
    n_rows = next((vector.size for vector in numbers.values()), 0)
    if n_rows < LIMITS.derived_rows or len(numbers) < 2:
        return None
    rng = np.random.default_rng(LIMITS.seed)
    rows = np.sort(rng.choice(n_rows, min(n_rows, LIMITS.order_rows), replace=False))
    values = {name: facts[name].operand.read(vector[rows]) for name, vector in numbers.items()}
    return Look(facts, numbers, values, {name: codes_of(found) for name, found in values.items()})


def codes_of(values: Vector) -> Codes:
    """Return which of the different values each is, -1 where missing."""
    there = ~np.isnan(values)
    codes = np.full(values.size, -1, dtype=np.intp)
    codes[there] = np.unique(values[there], return_inverse=True)[1]
    return codes


def confirmed(
    candidates: Iterable[Candidate],
    look: Look,
    taken: dict[str, set[str]],
    simple: Set[str] = frozenset(),
) -> tuple[Derived, ...]:
    """Return what holds in all rows beyond chance, one a target and no circles, in order."""
    least = LIMITS.derived_surprise + math.log(len(look.facts) ** 2)
    found: list[Derived] = []
    for one in candidates:
        if one.target in taken or len(one.text) > MOST_SIGNS:
            continue
        derived = fit_derived(one.target, one.text, look.numbers, look.facts)
        if derived is None or derived.surprise < least:
            continue
        circular = reaches(taken, derived.sources, one.target)
        share = LIMITS.least_share if one.target in simple else 1.0
        if derived.share >= share and not circular and is_computable(derived, look.numbers):
            taken[one.target] = set(derived.sources)
            found.append(derived)
    return in_order(found, lambda one: one.target, lambda one: one.sources)
