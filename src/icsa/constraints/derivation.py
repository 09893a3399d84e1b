"""Which columns of a table follow from others: one search for all who ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from icsa.columns import Column, Kind, kind_of
from icsa.constraints.bearing_out import gap_in_all, relation_in_all
from icsa.constraints.computing import (
    Computed,
    Hold,
    compute,
    differs,
    in_order,
    own_missing,
    reaches,
)
from icsa.constraints.derived_classes import find_classes
from icsa.constraints.derived_columns import ColumnFacts, declared_derived
from icsa.constraints.derived_numbers import find_ratios, find_spans, find_transforms
from icsa.constraints.gaps import Gap, find_gaps
from icsa.constraints.limits import LIMITS
from icsa.constraints.linear import LinearRelation, find_relations
from icsa.constraints.orders import Order, find_unkept_orders
from icsa.constraints.products import ProductRelation, find_products
from icsa.constraints.words import never_below
from icsa.errors import InputError
from icsa.limits import LONG
from icsa.matrices import Vector

__all__ = ["Derivation", "find_derivation"]


@dataclass(frozen=True)
class Derivation:
    """Which columns follow from others.

    Attributes
    ----------
    computed : tuple of Computed
        Their targets are left out and computed from the other columns of the release, each after
        those that it needs; of those with missing cells of their own, these are coded.
    gaps : tuple of Gap
        Their second columns are coded as what they are more than the first, in the order in which
        they are to be added up again. Those with cells in rows without the first are coded too.
    products : tuple of ProductRelation
        Found, but not kept.
    unkept : tuple of LinearRelation or Gap
        Found, but not kept: cells are there that could not be computed.
    orders : tuple of Order
        Found, but not kept: a rule can.
    """

    computed: tuple[Computed, ...] = ()
    gaps: tuple[Gap, ...] = ()
    products: tuple[ProductRelation, ...] = ()
    unkept: tuple[LinearRelation | Gap, ...] = ()
    orders: tuple[Order, ...] = ()

    def reduce(self, numbers: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the numbers without targets, and with gaps by their names.

        In the place of a target with missing cells of its own is where these are.
        """
        targets = {one.target: one for one in self.computed}
        reduced = {}
        for name, values in numbers.items():
            if name not in targets:
                reduced[name] = values
            elif targets[name].missing:
                reduced[name] = own_missing(targets[name], numbers)
        return reduced | {gap.name: gap.forward(numbers) for gap in self.gaps}

    def restore(
        self,
        numbers: Mapping[str, Vector],
        gap_columns: Mapping[str, Column],
        hold: Hold,
    ) -> dict[str, Vector]:
        """Return the numbers of all columns.

        Parameters
        ----------
        numbers : mapping of str to ndarray
            As `reduce` gives them, after masking. Gaps beside second columns are nowhere missing,
            and of targets with missing cells of their own, those with the highest numbers are.
        gap_columns : mapping of str to Column
            What gaps are coded by.
        hold : function
            From the name and the numbers of a column to numbers on its lattice and within its
            bounds. What follows from a column is computed from what is held.
        """
        restored = dict(numbers)
        for gap in self.gaps:
            # A gap with two values is coded as binary, so its number need not be its value.
            values = gap_columns[gap.name].cells(numbers[gap.name]).to_numpy()
            found = gap.back(gap.start(restored), values)
            if gap.name != gap.other:
                del restored[gap.name]
                own = numbers[gap.other]
                found = np.where(np.isnan(own) | np.isnan(found), own, found)
            restored[gap.other] = hold(gap.other, found)
        return compute(self.computed, restored, hold)

    @property
    def goes_by_row(self) -> bool:
        """Whether a row of `restore` depends on that row only, not on who is missing elsewhere."""
        return not any(one.missing for one in self.computed)

    def with_missing(self, moved: Callable[[Computed], int]) -> Derivation:
        """Return the derivation with other numbers of missing cells of targets, at least one.

        Parameters
        ----------
        moved : function
            From what has missing cells of its own to how many there are to be.
        """
        return replace(
            self,
            computed=tuple(
                _replaced(found, missing=max(1, moved(found))) if found.missing else found
                for found in self.computed
            ),
        )

    def describe_in(self, numbers: Mapping[str, Vector], rounded: Hold) -> tuple[str, ...]:
        """Return in words how far the relations hold in a release.

        Parameters
        ----------
        numbers : mapping of str to ndarray
        rounded : function
            From the name and the numbers of a column to numbers on its lattice.
        """
        words = []
        for one in self.computed:
            wanted = rounded(one.target, one.predict(numbers))
            found = numbers[one.target]
            off = differs(found, wanted)[~np.isnan(found - wanted)]
            share = 1.0 - float(off.mean()) if off.size else 1.0
            words.append(_replaced(one, share=share).describe())
        for following in self.gaps:
            rest = following.forward(numbers)
            if following.ordered and not np.any(rest < 0.0):
                words.append(never_below(following.other, following.bases))
        return tuple(words)


class _Some(Mapping[str, Vector]):
    """Some columns of a table, each asked for when it is needed: it may come from a disk."""

    def __init__(self, numbers: Mapping[str, Vector], names: tuple[str, ...]) -> None:
        self._numbers, self._names = numbers, names

    def __getitem__(self, name: str) -> Vector:
        if name not in self._names:
            raise KeyError(name)
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def find_derivation(
    numbers: Mapping[str, Vector],
    steps: Mapping[str, float | None],
    kinds: Mapping[str, Kind],
    levels: Mapping[str, tuple[object, ...]] = MappingProxyType({}),
    declared: Mapping[str, str] = MappingProxyType({}),
    *,
    search: bool = True,
) -> Derivation:
    """Return what follows from what among columns that hold quantities or levels.

    Parameters
    ----------
    numbers : mapping of str to ndarray
        One vector a column, NaN where missing, positions of levels; columns of other kinds are
        not looked at.
    steps : mapping of str to float or None
        Lattice step of each column; None or absent for none.
    kinds : mapping of str to str
        Kind of each column.
    levels : mapping of str to tuple
        Values of the levels of discrete columns. Without them a column is not looked at.
    declared : mapping of str to str
        Expressions that give columns; empty for columns that follow from nothing.
    search : bool
        Whether to look for more than is declared.

    Raises
    ------
    InputError
        A declared expression cannot be read, or does not give the column.

    Examples
    --------
    The days between two dates are computed from the dates, which stay in order:

    >>> rng = np.random.default_rng(1)
    >>> first, days = rng.integers(0, 900, (2, 60)).astype(float)
    >>> table = {"ill": first, "days": days, "well": first + days}
    >>> kinds = {"ill": "date", "days": "integer", "well": "date"}
    >>> found = find_derivation(table, dict.fromkeys(table, 1.0), kinds)
    >>> [one.describe() for one in (*found.computed, *found.gaps)]
    ['days = well - ill in all rows', 'well is never below ill; equal in no row']
    """
    facts = {
        name: ColumnFacts(kinds[name], steps.get(name), levels.get(name))
        for name in numbers
        if kind_of(kinds[name]).quantity or name in levels
    }
    said = tuple(
        declared_derived(name, text, numbers, facts) for name, text in declared.items() if text
    )
    fixed: dict[str, set[str]] = {name: set() for name in declared} | _needs(said)
    _require_no_circle(fixed)
    if len(facts) < 2 or not search:
        return Derivation(computed=_ordered(said))
    looked = _Some(numbers, tuple(facts))
    n_rows = numbers[next(iter(facts))].size
    if n_rows > 2 * LIMITS.sampled_rows:
        # What holds in nearly all rows holds in nearly all of a sample; most tables have nothing.
        rows = np.sort(
            np.random.default_rng(n_rows).choice(n_rows, LIMITS.sampled_rows, replace=False)
        )
        sample = {name: values[rows] for name, values in looked.items()}
        found = _found_among(sample, facts, fixed, kinds.keys())
        if replace(found, orders=()) == Derivation():
            quantities = _Some(numbers, tuple(n for n in facts if kind_of(kinds[n]).quantity))
            if n_rows > LONG:
                orders = tuple(one for one in found.orders if one.holds_in(numbers, kinds))
            else:
                orders = find_unkept_orders(quantities, kinds, (), ()) if found.orders else ()
            return Derivation(computed=_ordered(said), orders=orders)
        if n_rows > LONG:
            rows = np.sort(np.random.default_rng(n_rows).choice(n_rows, LONG, replace=False))
            sample = {name: values[rows] for name, values in looked.items()}
            found = _found_among(sample, facts, fixed, kinds.keys())
            found = _borne_out(found, looked, facts)
            return replace(found, computed=_ordered((*said, *found.computed)))
    found = _found_among(looked, facts, fixed, kinds.keys())
    return replace(found, computed=_ordered((*said, *found.computed)))


def _borne_out(
    found: Derivation, numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts]
) -> Derivation:
    """Return what was found in a sample with what all rows say of it, and what they do not."""
    relations = [(one, relation_in_all(one, numbers, facts)) for one in found.computed]
    gaps = [(one, gap_in_all(one, numbers)) for one in found.gaps]
    lost = [one for one, kept in (*relations, *gaps) if kept is None]
    kinds = {name: fact.kind for name, fact in facts.items()}
    return replace(
        found,
        computed=tuple(kept for _, kept in relations if kept is not None),
        gaps=tuple(kept for _, kept in gaps if kept is not None),
        unkept=(
            *found.unkept,
            *(one for one in lost if isinstance(one, LinearRelation | Gap)),
        ),
        orders=tuple(one for one in found.orders if one.holds_in(numbers, kinds)),
    )


def _found_among(
    numbers: Mapping[str, Vector],
    facts: Mapping[str, ColumnFacts],
    fixed: Mapping[str, Set[str]],
    names: Set[str],
) -> Derivation:
    """Return what is found, besides columns that are fixed: those declared, and their sources.

    Gaps do not take the names of columns.
    """
    quantities = {name: v for name, v in numbers.items() if kind_of(facts[name].kind).quantity}
    kinds = {name: fact.kind for name, fact in facts.items()}
    steps = {name: fact.step for name, fact in facts.items()}
    # Before the sums: rounded, an age is nearly a multiple of days.
    spans = find_spans(numbers, facts, fixed)
    transforms = find_transforms(numbers, facts, {**fixed, **_needs(spans)})
    computed: list[Computed] = [*spans, *transforms]
    # In order with others as the moments are whose days they are.
    days = [
        LinearRelation(one.target, ((one.sources[0], 1.0 / facts[one.sources[0]].unit),), 0.0, 1.0)
        for one in spans
        if facts[one.target].is_date
    ]
    taken = {**fixed, **_needs(computed)}
    linear = find_relations(quantities, steps, kinds, taken.keys())
    relations = _in_order(
        replace(relation, missing=_missing(relation, quantities))
        for relation in _with_spans_as_targets(linear, quantities, kinds, taken.keys())
        if _is_computable(relation, quantities)
        and not reaches(taken, relation.sources, relation.target)
    )
    computed += relations
    computed += find_classes(numbers, facts, {**taken, **_needs(computed)})
    taken = {**taken, **_needs(computed)}
    left = {name: values for name, values in quantities.items() if name not in taken}
    products = find_products(left, steps)
    ratios = find_ratios(numbers, facts, products, taken)
    computed += ratios
    targets = {one.target for one in ratios}
    left = {name: values for name, values in left.items() if name not in targets}
    gaps = find_gaps(left, kinds)
    kept = tuple(gap for gap in gaps if gap.name == gap.other or gap.name not in names)
    columns = {relation.columns for relation in relations}
    lost = [
        relation
        for relation in linear
        if relation.columns not in columns and not _is_said(relation, fixed)
    ]
    return Derivation(
        tuple(computed),
        kept,
        tuple(product for product in products if product.target not in targets),
        (*lost, *(gap for gap in gaps if gap not in kept)),
        find_unkept_orders(quantities, kinds, gaps, (*days, *relations), lost),
    )


def _is_said(relation: LinearRelation, declared: Mapping[str, Set[str]]) -> bool:
    """Return whether a declared column among them is computed from all the others."""
    return any(
        all(reaches(declared, [name], other) for other in relation.columns)
        for name in relation.columns & declared.keys()
    )


def _needs(computed: Iterable[Computed]) -> dict[str, set[str]]:
    return {one.target: set(one.sources) for one in computed}


def _ordered(computed: Sequence[Computed]) -> tuple[Computed, ...]:
    return in_order(computed, lambda one: one.target, lambda one: one.sources)


def _require_no_circle(needs: Mapping[str, Set[str]]) -> None:
    """Refuse declared columns that follow from themselves."""
    for name, sources in needs.items():
        if reaches(needs, sources, name):
            raise InputError(
                f"Column {name!r}: it is derived from itself by way of {', '.join(sorted(sources))}"
                ". Leave one derive of the circle out."
            )


def _with_spans_as_targets(
    relations: Sequence[LinearRelation],
    numbers: Mapping[str, Vector],
    kinds: Mapping[str, Kind],
    fixed: Set[str],
) -> list[LinearRelation]:
    """Return the relations with the days between two dates computed from the dates, if they can.

    The dates themselves are then coded by gaps, which keeps them in order. Days of people who are
    still followed up have no second date.
    """
    turned = []
    targets = {*fixed, *(relation.target for relation in relations)}
    for relation in relations:
        dates = [name for name, _ in relation.terms if kind_of(kinds[name]).per_day]
        spans = [name for name, _ in relation.terms if name not in dates]
        plain = all(coefficient == 1.0 for _, coefficient in relation.terms)
        of_date = kind_of(kinds[relation.target]).per_day > 0.0
        is_sum = of_date and len(dates) == len(spans) == 1 and plain
        if is_sum and spans[0] not in targets:
            terms = ((relation.target, 1.0), (dates[0], -1.0))
            constant = -relation.constant
            other = replace(relation, target=spans[0], terms=terms, constant=constant)
            if _is_computable(other, numbers):
                targets = targets - {relation.target} | {spans[0]}
                relation = other
        turned.append(relation)
    return turned


def _is_computable(relation: LinearRelation, numbers: Mapping[str, Vector]) -> bool:
    """Return whether all terms are there wherever the target is."""
    lost = np.isnan(relation.predict(numbers)) & ~np.isnan(numbers[relation.target])
    return not np.any(lost)


def _missing(relation: LinearRelation, numbers: Mapping[str, Vector]) -> int:
    """Return how many cells of the target are missing; 0 if only where its terms are."""
    if not own_missing(relation, numbers).any():
        return 0
    return int(np.isnan(numbers[relation.target]).sum())


def _in_order(relations: Iterable[LinearRelation]) -> tuple[LinearRelation, ...]:
    """Return the relations so that each target is computed before it is used."""
    waiting, ordered = list(relations), []
    while waiting:
        targets = {relation.target for relation in waiting}
        ready = [r for r in waiting if not targets & {name for name, _ in r.terms}]
        if not ready:  # a circle cannot be computed from anywhere
            break
        ordered += ready
        waiting = [relation for relation in waiting if relation not in ready]
    return tuple(ordered)


def _replaced(found: Computed, **changes: float) -> Computed:
    """Return what is computed with another share or number of missing cells."""
    changed: Computed = replace(found, **changes)  # type: ignore[type-var]
    return changed
