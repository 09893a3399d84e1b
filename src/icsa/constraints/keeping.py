"""The last step of a release in numbers: rules, bounds, orders and sums hold in the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns import Column, ColumnSpec
from icsa.columns.declared import without_codes
from icsa.constraints.checking import broken
from icsa.constraints.computing import differs, recompute
from icsa.constraints.derivation import Derivation
from icsa.constraints.domains import Domain, Flags, Sheet, sheet_of_columns, sheet_of_frame
from icsa.constraints.enforcing import Latitude, mend, require_kept
from icsa.constraints.grammar import Claim, Rule, parse_rule
from icsa.constraints.limits import LIMITS
from icsa.matrices import Vector

__all__ = ["Bonds", "joined", "keep_rules", "mended_columns", "rules_of"]

Places: TypeAlias = npt.NDArray[np.intp]


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
    fixed : set of str
        Columns whose cells are not moved: those of a unit, in rules on its rows.
    """

    columns: Mapping[str, Column]
    derivation: Derivation
    groups: Mapping[str, int | None]
    fixed: frozenset[str] = frozenset()

    def rounded(self, name: str, numbers: Vector) -> Vector:
        """Return numbers of a column on its lattice."""
        lattice = self.columns[name].lattice
        return numbers if lattice is None else lattice.round(numbers)

    def hold(self, name: str, numbers: Vector) -> Vector:
        """Return numbers on a column's lattice, within declared bounds and what dates can be.

        Other types that are too narrow are an error when cells are made: a wider one is at hand.
        """
        calendar = self.columns[name].calendar
        found = self.rounded(name, numbers)
        if calendar is not None:
            found = np.clip(found, *calendar)
        return np.clip(found, *self.declared_limits(name))

    def declared_limits(self, name: str) -> tuple[float, float]:
        """Return the declared bounds of a column's numbers, infinite where there are none."""
        column = self.columns[name]
        return (
            -np.inf if column.spec.lower is None else column.lower,
            np.inf if column.spec.upper is None else column.upper,
        )

    @property
    def related(self) -> list[frozenset[str]]:
        """Names of columns that belong together by what follows from what."""
        found = self.derivation
        return [one.columns for one in found.computed] + [gap.columns for gap in found.gaps]

    @property
    def missing_together(self) -> tuple[tuple[str, ...], ...]:
        """Columns that are missing in the same rows, with what is computed."""
        groups = {name: group for name, group in self.groups.items() if name in self.columns}
        for one in self.derivation.computed:
            among = {groups.get(name) for name in one.sources} - {None}
            follows = len(among) == 1 and not one.missing
            groups[one.target] = among.pop() if follows else None
        found: dict[int, list[str]] = {}
        for name, group in groups.items():
            if group is not None:
                found.setdefault(group, []).append(name)
        return tuple(tuple(names) for names in found.values())

    @property
    def orders(self) -> tuple[Rule, ...]:
        """Orders that gaps keep, as rules."""
        gaps = (gap for gap in self.derivation.gaps if gap.ordered)
        return tuple(
            Rule(f"{base} <= {gap.other}", Claim(base, "<=", gap.other))
            for gap in gaps
            for base in gap.bases
            if _are_alike(self.columns[base], self.columns[gap.other])
        )


def rules_of(texts: Iterable[str], frame: pl.DataFrame, specs: Iterable[ColumnSpec]) -> list[Rule]:
    """Return declared rules, in which a value that is a missing code means missing.

    Examples
    --------
    >>> spec = ColumnSpec(name="weeks", kind="integer", missing_codes=(99,))
    >>> rules_of(["weeks = 99"], pl.DataFrame({"weeks": [99]}), [spec])[0].then.operator
    'missing'
    """
    rules = [parse_rule(text, frame.columns) for text in texts]
    coded = {spec.name: spec for spec in specs if spec.missing_codes}
    domains = sheet_of_frame(frame.head(0), rules, coded).domains

    def meant(rule: Rule, claim: Claim) -> Claim:
        if claim.column not in coded or claim.operator not in ("=", "!=", "in") or claim.other:
            return claim
        domain = domains[claim.column]
        values = (domain.quantity_of(rule, word) for word in claim.values)
        if not all(_is_code(coded[claim.column], domain, value) for value in values):
            return claim
        return Claim(claim.column, "present" if claim.operator == "!=" else "missing")

    return [
        replace(
            rule,
            then=meant(rule, rule.then),
            when=None if rule.when is None else meant(rule, rule.when),
        )
        for rule in rules
    ]


def keep_rules(
    numbers: Mapping[str, Vector], bonds: Bonds, rules: Sequence[Rule]
) -> tuple[dict[str, Vector], Mapping[str, int]]:
    """Return a release's numbers moved until the rules hold, and how many cells each rule moved.

    Sums that were found stay exact, orders that were found hold too, and numbers stay what their
    columns may have: where moving single ones does not do, those of another row are taken.
    """
    mended, moved = mended_columns(numbers, bonds, rules)
    return {**numbers, **mended}, moved


def mended_columns(
    numbers: Mapping[str, Vector], bonds: Bonds, rules: Sequence[Rule]
) -> tuple[Mapping[str, Vector], Mapping[str, int]]:
    """Return what `keep_rules` does of the columns alone that rules and relations are about."""
    if not rules and not _has_bounds(bonds):
        return {}, MappingProxyType({})
    names = {name for rule in rules for name in rule.columns}.union(*bonds.related)
    names = names.union(*bonds.missing_together)
    columns = {name: column for name, column in bonds.columns.items() if name in names}
    plain = sheet_of_columns(columns, {name: numbers[name] for name in columns}, rules)
    orders = bonds.orders
    counted = frozenset(name for name, domain in plain.domains.items() if domain.levels is not None)
    latitude = Latitude(
        counted=counted, together=bonds.missing_together, orders=orders, fixed=bonds.fixed
    )
    mended, moves = mend(rules, plain, latitude)
    found = recompute(bonds.derivation.computed, mended.columns, bonds.hold)
    mended = Sheet(mended.domains, found)
    for place, rule in enumerate(rules):
        moves.by_row[broken(rule, mended)] = place
    mended = _with_cells_of_other_rows(mended, bonds, (*rules, *orders), moves.by_row >= 0)
    require_kept(rules, mended)
    for name in columns:
        changed = plain.changed(mended, name)
        if name in moves.by_cell:
            changed &= moves.by_cell[name] < 0
        moves.note(name, changed, None)
    return mended.columns, moves.counts(rules, plain, mended)


def _is_code(spec: ColumnSpec, domain: Domain, value: float) -> bool:
    """Return whether one value of a rule stands for missing; one that no cell can have does not."""
    if not domain.admits(np.array([value])).all():
        return False
    cell = domain.cells(np.array([value]))
    return cell.null_count() == 0 and without_codes(cell, spec).null_count() > 0


def _are_alike(one: Column, other: Column) -> bool:
    return bool(one.dtype == other.dtype or (one.dtype.is_numeric() and other.dtype.is_numeric()))


def _has_bounds(bonds: Bonds) -> bool:
    """Return whether a column that belongs to others has declared bounds, so that it was held."""
    names = frozenset().union(*bonds.related)
    specs = (bonds.columns[name].spec for name in names)
    return any(spec.lower is not None or spec.upper is not None for spec in specs)


def _with_cells_of_other_rows(
    sheet: Sheet, bonds: Bonds, rules: Sequence[Rule], touched: Flags
) -> Sheet:
    """Return the release with the rows mended in which something does not hold.

    They get the cells of all columns that belong together from a row of the same release in which
    everything holds. First those of a sum and what follows it, then those of its rules as well. A
    row for which there is none stays as it is.

    Parameters
    ----------
    sheet : Sheet
    bonds : Bonds
    rules : sequence of Rule
    touched : array of bool
        Rows in which a rule moved cells: what was computed anew has to be where it can be.
    """
    found = bonds.related
    wider = [*found, *(frozenset(rule.columns) for rule in rules)]
    for names in (*joined(found), *joined(wider)):
        bad = _failing(sheet, bonds, rules, touched)
        if not bad.any():
            break
        own = _failing(sheet, bonds, rules, touched, names)
        sheet = _mended(sheet, bonds, rules, names, own, ~bad)
    return sheet


def joined(sets: Iterable[Iterable[str]]) -> list[frozenset[str]]:
    """Return the sets with those joined that have names in common."""
    found: list[frozenset[str]] = []
    for names in sets:
        whole = frozenset(names)
        apart = [other for other in found if whole.isdisjoint(other)]
        found = [*apart, whole.union(*(other for other in found if other not in apart))]
    return found


def _failing(
    sheet: Sheet,
    bonds: Bonds,
    rules: Sequence[Rule],
    touched: Flags,
    names: frozenset[str] | None = None,
) -> Flags:
    """Return the rows in which a rule, a sum or a bound of it does not hold, of some columns."""
    found = _breaking(sheet, rules, names)
    for one in bonds.derivation.computed:
        if names is not None and one.target not in names:
            continue
        here = sheet.columns[one.target]
        wanted = bonds.rounded(one.target, one.predict(sheet.columns))
        found |= np.isnan(wanted) & ~np.isnan(here)
        if not one.missing:
            found |= np.isnan(here) & ~np.isnan(wanted)
        found |= differs(here, wanted)
        column = bonds.columns[one.target]
        usual = column.lower, column.upper
        for limits, rows in ((bonds.declared_limits(one.target), True), (usual, touched)):
            found |= ((here < limits[0]) | (here > limits[1])) & rows
    return found


def _breaking(sheet: Sheet, rules: Sequence[Rule], names: frozenset[str] | None) -> Flags:
    found = np.zeros(sheet.n_rows, dtype=bool)
    for rule in rules:
        if names is None or not names.isdisjoint(rule.columns):
            found |= broken(rule, sheet)
    return found


def _mended(
    sheet: Sheet,
    bonds: Bonds,
    rules: Sequence[Rule],
    names: frozenset[str],
    bad: Flags,
    good: Flags,
) -> Sheet:
    """Return the release with bad rows mended from good ones with the same cells missing."""
    chosen = [name for name in sheet.columns if name in names and name not in bonds.fixed]
    if not chosen:
        return sheet
    gone = np.isnan(np.column_stack([sheet.columns[name] for name in chosen]))
    key = np.nan_to_num(sheet.columns[_key(bonds, chosen)])
    giver = np.arange(sheet.n_rows)
    for pattern in np.unique(gone[bad], axis=0):
        alike = np.all(gone == pattern, axis=1)
        waiting, ready = np.flatnonzero(bad & alike), np.flatnonzero(good & alike)
        ready = ready[np.argsort(key[ready], kind="stable")]
        left = np.ones(waiting.size, dtype=bool)
        for places in _tried(key[waiting], key[ready]):
            takers, givers = waiting[left], ready[places[left]]
            fits = ~_breaking(_taken(sheet, chosen, takers, givers), rules, names)
            giver[takers[fits]] = givers[fits]
            left[left] = ~fits
            if not left.any():
                break
    taken = {name: sheet.columns[name][giver] for name in chosen}
    return Sheet(sheet.domains, {**sheet.columns, **taken})


def _taken(sheet: Sheet, chosen: Sequence[str], takers: Places, givers: Places) -> Sheet:
    """Return the rows of takers with the chosen cells of givers."""
    rows = {name: givers if name in chosen else takers for name in sheet.columns}
    return Sheet(sheet.domains, {name: sheet.columns[name][at] for name, at in rows.items()})


def _key(bonds: Bonds, names: Sequence[str]) -> str:
    """Return the column by which rows are near: one that is computed, or the first."""
    targets = [one.target for one in bonds.derivation.computed if one.target in names]
    others = [gap.other for gap in bonds.derivation.gaps if gap.other in names]
    return [*targets, *others, *names][0]


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
    for shift in range(LIMITS.donors):
        away = (shift + 1) // 2 * (1 if shift % 2 else -1)
        yield (start + away) % n_ready
    for shift in np.linspace(0, n_ready, LIMITS.donors, endpoint=False):
        yield (start + int(shift)) % n_ready
