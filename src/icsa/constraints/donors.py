"""Rows in which a rule, a bound and a sum cannot all hold get cells of other released rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns.base import Column
from icsa.constraints.checking import broken
from icsa.constraints.computing import differs
from icsa.constraints.derivation import Derivation
from icsa.constraints.extents import declared_limits, on_lattice, usual_limits
from icsa.constraints.grammar import Rule
from icsa.matrices import Vector

__all__ = ["Bonds", "related_numbers", "with_cells_of_other_rows"]

Flags: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.intp]

# Other rows that are tried for one: the nearest, and as many from all over the table.
_MOST_NEAR = 24


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Bonds:
    """What holds the columns of a release together.

    Attributes
    ----------
    columns : mapping of str to Column
        Every column that is masked or computed.
    derivation : Derivation
        What follows from what.
    groups : mapping of str to int or None
        Columns with the same number are missing in the same rows.
    """

    columns: Mapping[str, Column]
    derivation: Derivation
    groups: Mapping[str, int | None]


def with_cells_of_other_rows(
    frame: pl.DataFrame, bonds: Bonds, rules: Sequence[Rule], touched: Flags
) -> pl.DataFrame:
    """Return the table with the rows mended in which something does not hold.

    They get the cells of all columns that belong together from a row of the same release in which
    everything holds. First those of a sum and what follows it, then those of its rules as well. A
    row for which there is none stays as it is.

    Parameters
    ----------
    frame : polars.DataFrame
        The release, null where missing.
    bonds : Bonds
    rules : sequence of Rule
    touched : array of bool
        Rows in which a rule moved cells: what was computed anew has to be where it can be.
    """
    derivation = bonds.derivation
    found = [one.columns for one in derivation.computed]
    found += [one.columns for one in derivation.gaps]
    wider = [*found, *(frozenset(rule.columns) for rule in rules)]
    for names in (*_joined(found), *_joined(wider)):
        bad = _failing(frame, bonds, rules, touched)
        if not bad.any():
            break
        own = _failing(frame, bonds, rules, touched, names)
        frame = _mended(frame, bonds, rules, names, own, ~bad)
    return frame


def related_numbers(frame: pl.DataFrame, bonds: Bonds) -> dict[str, Vector]:
    """Return the numbers of a release's columns that are computed from others, and of these."""
    names = {name for relation in bonds.derivation.computed for name in relation.columns}
    return {name: bonds.columns[name].numbers(frame[name]) for name in names}


def _joined(sets: Iterable[Iterable[str]]) -> list[frozenset[str]]:
    """Return the sets with those joined that have names in common."""
    joined: list[frozenset[str]] = []
    for names in sets:
        whole = frozenset(names)
        apart = [other for other in joined if whole.isdisjoint(other)]
        joined = [*apart, whole.union(*(other for other in joined if other not in apart))]
    return joined


def _failing(
    frame: pl.DataFrame,
    bonds: Bonds,
    rules: Sequence[Rule],
    touched: Flags,
    names: frozenset[str] | None = None,
) -> Flags:
    """Return the rows in which a rule, a sum or a bound of it does not hold, of some columns."""
    found = _breaking(frame, rules, names)
    numbers = related_numbers(frame, bonds)
    for relation in bonds.derivation.computed:
        if names is not None and relation.target not in names:
            continue
        column = bonds.columns[relation.target]
        wanted = on_lattice(column, relation.predict(numbers))
        here = numbers[relation.target]
        found |= np.isnan(wanted) & ~np.isnan(here)
        if not relation.missing:
            found |= np.isnan(here) & ~np.isnan(wanted)
        found |= differs(here, wanted)
        with np.errstate(invalid="ignore"):
            for limits, rows in ((declared_limits(column), True), (usual_limits(column), touched)):
                found |= ((here < limits[0]) | (here > limits[1])) & rows
    return found


def _breaking(frame: pl.DataFrame, rules: Sequence[Rule], names: frozenset[str] | None) -> Flags:
    found = np.zeros(frame.height, dtype=bool)
    for rule in rules:
        if names is None or not names.isdisjoint(rule.columns):
            found |= broken(rule, frame).to_numpy()
    return found


def _mended(
    frame: pl.DataFrame,
    bonds: Bonds,
    rules: Sequence[Rule],
    names: frozenset[str],
    bad: Flags,
    good: Flags,
) -> pl.DataFrame:
    """Return the table with bad rows mended from good ones with the same cells missing."""
    chosen = [name for name in frame.columns if name in names]
    gone = frame.select(pl.col(chosen).is_null()).to_numpy()
    key = _key(frame, bonds, chosen)
    takers: list[Places] = []
    givers: list[Places] = []
    for pattern in np.unique(gone[bad], axis=0):
        alike = np.all(gone == pattern, axis=1)
        waiting, ready = np.flatnonzero(bad & alike), np.flatnonzero(good & alike)
        ready = ready[np.argsort(key[ready], kind="stable")]
        for places in _tried(key[waiting], key[ready]):
            if not waiting.size:
                break
            places = places[np.isin(np.flatnonzero(bad & alike), waiting)]
            trial = frame[waiting].with_columns(frame[ready[places]].select(chosen))
            fits = ~_breaking(trial, rules, names)
            takers.append(waiting[fits])
            givers.append(ready[places[fits]])
            waiting = waiting[~fits]
    if not takers:
        return frame
    rows = np.arange(frame.height)
    rows[np.concatenate(takers)] = np.concatenate(givers)
    return frame.with_columns(frame.select(chosen)[rows])


def _key(frame: pl.DataFrame, bonds: Bonds, names: Sequence[str]) -> Vector:
    """Return numbers by which rows are near: those that are computed, or of the first column."""
    targets = [r.target for r in bonds.derivation.computed if r.target in names]
    others = [gap.other for gap in bonds.derivation.gaps if gap.other in names]
    name = [*targets, *others, *names][0]
    return np.nan_to_num(bonds.columns[name].numbers(frame[name]))


def _tried(wanted: Vector, ordered: Vector) -> Iterator[Places]:
    """Yield places among sorted numbers to try for each wanted one: near first, then all over.

    Numbers beyond all others get different places, so that no row is given to everybody.
    """
    n_ready = ordered.size
    if not n_ready:
        return
    start = np.searchsorted(ordered, wanted)
    beyond, before = start >= n_ready, wanted < ordered[0]
    start[beyond] = n_ready - 1 - np.arange(np.count_nonzero(beyond))
    start[before] = np.arange(np.count_nonzero(before))
    for shift in range(_MOST_NEAR):
        away = (shift + 1) // 2 * (1 if shift % 2 else -1)
        yield (start + away) % n_ready
    for shift in np.linspace(0, n_ready, _MOST_NEAR, endpoint=False):
        yield (start + int(shift)) % n_ready
