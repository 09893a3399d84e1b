"""Exact linear relations between columns, such as total = a + b or died = diagnosed + days."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from icsa.columns import Kind, kind_of
from icsa.constraints.computing import in_order, reaches
from icsa.constraints.fitting import Fit, fit_target, tolerances
from icsa.constraints.limits import LIMITS
from icsa.constraints.search import (
    Block,
    Suspicion,
    blocks,
    suspected_long,
    suspected_pairs,
    suspected_triples,
)
from icsa.constraints.words import in_rows, sum_of
from icsa.correlations import varies
from icsa.matrices import Matrix, Vector

__all__ = ["LinearRelation", "find_relations"]


@dataclass(frozen=True)
class LinearRelation:
    """A column that is a constant plus multiples of others.

    Attributes
    ----------
    target : str
        The column that can be computed from the others.
    terms : tuple of (str, float)
        The others with their coefficients.
    constant : float
    share : float
        Share of the rows with all of them present in which it holds.
    covered : float
        Share of the target's cells for which all terms are present. Below 1, cells of the target
        exist that cannot be computed, and need another way.
    rounded : bool
        Whether the target is that sum only after rounding to its own lattice.
    missing : int
        Number of cells of the target that are missing, where it is missing in rows in which all
        terms are present; otherwise 0.

    Examples
    --------
    >>> relation = LinearRelation("total", (("a", 1.0), ("b", 1.0)), 0.0, 1.0)
    >>> relation.predict({"a": np.array([1.0, 2.0]), "b": np.array([5.0, np.nan])})
    array([ 6., nan])
    >>> relation.describe()
    'total = a + b in all rows'
    """

    target: str
    terms: tuple[tuple[str, float], ...]
    constant: float
    share: float
    covered: float = 1.0
    rounded: bool = False
    missing: int = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the terms."""
        return tuple(name for name, _ in self.terms)

    @property
    def columns(self) -> frozenset[str]:
        """Names of the target and of the terms."""
        return frozenset((self.target, *self.sources))

    def predict(self, numbers: Mapping[str, Vector]) -> Vector:
        """Return the target computed from the others, NaN where one of them is missing."""
        first, *_ = self.terms
        total = np.full(numbers[first[0]].shape, self.constant)
        for name, coefficient in self.terms:
            total += coefficient * numbers[name]
        return total

    def describe(self) -> str:
        """Return the relation in words, without any cell."""
        rounding = ", rounded," if self.rounded else ""
        return (
            f"{self.target} = {sum_of(self.terms, self.constant)}{rounding} {in_rows(self.share)}"
        )


def find_relations(
    numbers: Mapping[str, Vector],
    steps: Mapping[str, float | None],
    kinds: Mapping[str, Kind] | None = None,
    fixed: Set[str] = frozenset(),
) -> tuple[LinearRelation, ...]:
    """Return the linear relations among columns, in an order in which targets can be recomputed.

    Pairs and triples are looked at exhaustively (correlations and partial correlations of one, in
    one large and several small sets of rows, so that 1% of wrong rows do not hide a relation),
    longer ones through the null space of the standardised columns. A relation counts when it holds
    in 98% of the rows within half a lattice step, and when every column explains rows that the
    others do not; with coefficients that are not simple numbers it must hold in every row.

    The target is the column that is a sum of the others with positive coefficients where there is
    one, so that what was not negative stays so; of dates never the earliest. A column is the target
    of one relation at most. Where a term is itself a target, its relation comes first.

    Columns that are `fixed` are no targets.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.integers(0, 50, (2, 40)).astype(float)
    >>> found = find_relations({"sum": a + b, "a": a, "b": b}, {"sum": 1.0, "a": 1.0, "b": 1.0})
    >>> [relation.describe() for relation in found]
    ['sum = a + b in all rows']
    """
    names = [name for name in numbers if _usable(numbers[name])]
    table = _Table(
        tuple(names),
        tuple(np.where(np.isfinite(numbers[name]), numbers[name], np.nan) for name in names),
        np.array([steps.get(name) or 0.0 for name in names]),
        tuple((kinds or {}).get(name) for name in names),
        frozenset(fixed),
    )
    found: list[LinearRelation] = []
    for search in (_pairs, _triples, _longer):
        for _ in range(LIMITS.most_rounds):
            rest = table.without({relation.target for relation in found})
            options = list(search(rest))
            if not options:
                break
            found += _select_pairs(rest, options) if search is _pairs else _select(rest, options)
            if search is _triples:
                break
    return in_order(found, lambda one: one.target, lambda one: one.sources)


@dataclass(frozen=True, eq=False, repr=False)
class _Table:
    """Columns by position, with step 0 for no lattice."""

    names: tuple[str, ...]
    columns: tuple[Vector, ...]
    steps: Vector
    kinds: tuple[Kind | None, ...]
    fixed: frozenset[str]

    def without(self, left_out: set[str]) -> _Table:
        kept = [place for place, name in enumerate(self.names) if name not in left_out]
        return _Table(
            tuple(self.names[place] for place in kept),
            tuple(self.columns[place] for place in kept),
            self.steps[kept],
            tuple(self.kinds[place] for place in kept),
            self.fixed,
        )

    def per_day(self, place: int) -> float:
        kind = self.kinds[place]
        return 0.0 if kind is None else kind_of(kind).per_day

    def step(self, place: int) -> float | None:
        return float(self.steps[place]) or None


def _usable(column: Vector) -> bool:
    present = column[np.isfinite(column)]
    if not varies(present):
        return False
    spread = float(present.max()) / 2 - float(present.min()) / 2
    return LIMITS.smallest < spread and float(np.abs(present).max()) < LIMITS.largest


def _pairs(table: _Table) -> Iterator[tuple[LinearRelation, ...]]:
    linked: set[int] = set()
    rng = np.random.default_rng(LIMITS.seed)
    for block in blocks(table.columns, rng):
        for suspicion in suspected_pairs(block, table.steps, rng):
            if linked.isdisjoint(suspicion.columns):
                options = _options(table, block, suspicion)
                # What follows another in every row needs no second source.
                if len(options) == 2 and options[0].share == 1.0 and not options[0].rounded:
                    linked.add(table.names.index(options[0].target))
                if options:
                    yield options


def _triples(table: _Table) -> Iterator[tuple[LinearRelation, ...]]:
    rng = np.random.default_rng(LIMITS.seed)
    known: set[tuple[int, ...]] = set()
    for block in blocks(table.columns, rng):
        for suspicion in suspected_triples(block, table.steps, rng):
            if suspicion.columns not in known and (found := _options(table, block, suspicion)):
                known.add(suspicion.columns)
                yield found


def _longer(table: _Table) -> Iterator[tuple[LinearRelation, ...]]:
    rng = np.random.default_rng(LIMITS.seed)
    known: set[tuple[int, ...]] = set()
    for block in _affordable(blocks(table.columns, rng)):
        for together in suspected_long(block, rng):
            for suspicion in together:
                short = (
                    len(suspicion.columns) <= LIMITS.most_terms + 1
                    and suspicion.columns not in known
                )
                if short and (found := _options(table, block, suspicion)):
                    known.add(suspicion.columns)
                    yield found
            # An exact relation draws other starts to itself; others show once its target is gone.
            if any(suspicion.columns in known for suspicion in together):
                break


def _affordable(found: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks until their null spaces have cost enough; those of several columns always."""
    spent = 0.0
    for place, block in enumerate(found):
        if block.pivots.size == 1 and (
            spent > LIMITS.most_operations or place >= LIMITS.most_blocks
        ):
            return
        spent += float(block.columns.size) ** 2 * (block.columns.size + block.complete.size)
        yield block


def _options(table: _Table, block: Block, suspicion: Suspicion) -> tuple[LinearRelation, ...]:
    """Return the relations among the suspected columns, one for each target, best first."""
    values = block.values[:, suspicion.columns]
    complete = ~np.isnan(values).any(axis=1)
    start = np.flatnonzero(np.isin(np.flatnonzero(complete), suspicion.rows))
    values = values[complete]
    n_terms = len(suspicion.columns) - 1
    if len(values) < 8 + 2 * n_terms or start.size <= n_terms:
        return ()
    least_gain_rows = 4 + 2 * math.log10(len(table.names))
    found = []
    for place, target in enumerate(suspicion.columns):
        if table.names[target] in table.fixed:
            continue
        terms = np.delete(values, place, axis=1)
        step = table.step(target)
        fit = fit_target(values[:, place], terms, start, step, least_gain_rows=least_gain_rows)
        if fit is None or (n_terms > LIMITS.most_terms_messy and not fit.simple):
            continue
        others = [column for column in suspicion.columns if column != target]
        relation = _confirmed(table, target, others, fit)
        if relation is not None:
            found.append((_preference(table, target, others, fit, relation), relation))
    if not found:
        return ()
    best = max(relation.share for _, relation in found)
    near = [pair for pair in found if pair[1].share >= best - LIMITS.near_share]
    return tuple(relation for _, relation in sorted(near, key=lambda pair: pair[0]))


def _confirmed(
    table: _Table, target: int, others: Sequence[int], fit: Fit
) -> LinearRelation | None:
    """Return the relation with its share of all rows, None where that is too small."""
    y = table.columns[target]
    terms: Matrix = np.column_stack([table.columns[place] for place in others])
    present = ~np.isnan(y)
    complete = present & ~np.isnan(terms).any(axis=1)
    y, terms = y[complete], terms[complete]
    residuals = y - terms @ fit.coefficients - fit.constant
    tolerance = tolerances(y, terms, fit.coefficients, table.step(target))
    share = float(np.mean(np.abs(residuals) <= tolerance))
    least = LIMITS.least_share if fit.simple else 1.0
    if share < least or not _counts_days(table, target, others, fit):
        return None
    names = (table.names[place] for place in others)
    return LinearRelation(
        table.names[target],
        tuple(zip(names, map(float, fit.coefficients), strict=True)),
        fit.constant,
        share,
        covered=float(complete.sum() / present.sum()),
        rounded=fit.rounded,
    )


def _counts_days(table: _Table, target: int, others: Sequence[int], fit: Fit) -> bool:
    """Return whether the relation would be the same if dates were counted from another day.

    A third of one date less a quarter of another is no length of time, nor a date.
    """
    days = np.array([table.per_day(place) for place in others])
    moved, wanted = float(fit.coefficients @ days), table.per_day(target)
    size = max(wanted, float(np.abs(fit.coefficients) @ days))
    return abs(moved - wanted) <= LIMITS.coefficient_error * size


def _preference(
    table: _Table, target: int, others: Sequence[int], fit: Fit, relation: LinearRelation
) -> tuple[float, ...]:
    """Return what sorts good targets first."""
    dates = [place for place in (target, *others) if table.per_day(place)]
    earliest = min(dates, key=lambda place: float(np.nanmedian(table.columns[place])), default=-1)
    return (
        not fit.simple,
        len(others) == 1 and relation.covered < 1.0,
        bool(dates) and not (target in dates and target != earliest),
        bool(np.any(fit.coefficients < 0)),
        relation.covered < 1.0,
        fit.rounded,
        # Derived columns mostly come after their parts.
        -target,
    )


def _select_pairs(
    table: _Table, found: Iterable[tuple[LinearRelation, ...]]
) -> list[LinearRelation]:
    """Return one relation for each column that follows another, from as few sources as possible."""
    options = [option for several in found for option in several]
    chosen: list[LinearRelation] = []
    order = {name: place for place, name in enumerate(table.names)}
    favoured = {several[0].target for several in found}
    while options:
        counts: dict[str, int] = {}
        for option in options:
            counts[option.terms[0][0]] = counts.get(option.terms[0][0], 0) + 1
        source = min(counts, key=lambda name: (-counts[name], name in favoured, order[name]))
        now = {option.target: option for option in options if option.terms[0][0] == source}
        chosen += now.values()
        gone = {*now, source}
        options = [
            option
            for option in options
            if option.target not in gone and option.terms[0][0] not in now
        ]
    return chosen


def _select(table: _Table, found: Iterable[tuple[LinearRelation, ...]]) -> list[LinearRelation]:
    """Return independent relations with a target each, so that no target needs itself."""
    ranked = sorted(found, key=lambda options: _intricacy(options[0]))
    chosen: list[LinearRelation] = []
    needs: dict[str, set[str]] = {}
    spanned = np.empty((0, len(table.names)))
    for options in ranked:
        wider = np.vstack([spanned, _vector(table, options[0])])
        if np.linalg.matrix_rank(wider, tol=1e-6) < len(wider):
            continue
        for option in options:
            terms = {name for name, _ in option.terms}
            if option.target not in needs and not reaches(needs, terms, option.target):
                chosen.append(option)
                needs[option.target] = terms
                spanned = wider
                break
    return chosen


def _intricacy(relation: LinearRelation) -> tuple[float, ...]:
    """Return what sorts few terms first, then few wrong rows, then whole and small multiples."""
    multiples = [abs(coefficient) for _, coefficient in relation.terms]
    broken = sum(multiple != round(multiple) for multiple in multiples)
    return len(multiples), -relation.share, broken, sum(multiples)


def _vector(table: _Table, relation: LinearRelation) -> Vector:
    """Return the relation's coefficients on columns of unit spread, as a unit vector."""
    order = {name: place for place, name in enumerate(table.names)}
    vector = np.zeros(len(table.names))
    for name, coefficient in ((relation.target, -1.0), *relation.terms):
        vector[order[name]] = coefficient * float(np.nanstd(table.columns[order[name]]))
    unit: Vector = vector / np.linalg.norm(vector)
    return unit
