"""Columns that follow from one or two others, found: ages, flags, classes, levels, logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.columns import kind_of
from icsa.columns.levels import FEWEST_HOLDERS
from icsa.constraints.computing import in_order, reaches
from icsa.constraints.derived_columns import (
    ColumnFacts,
    Derived,
    fit_derived,
    is_computable,
    rounding_slack,
)
from icsa.constraints.derived_expressions import MOST_SIGNS
from icsa.constraints.derived_functions import (
    hour_of,
    month_of,
    months_between,
    weekday_of,
    year_of,
    years_between,
)
from icsa.constraints.limits import LIMITS
from icsa.constraints.products import ProductRelation
from icsa.constraints.written import quoted_name
from icsa.matrices import Vector

__all__ = ["find_classes", "find_ratios", "find_spans", "find_transforms", "roundest"]

Codes: TypeAlias = npt.NDArray[np.intp]

# Days of years, months and weeks as people divide by them.
_DAYS_OF_SPANS = (365.25, 365.0, 30.4375, 7.0)
_HALF = 0.5 * (1.0 + 1e-9)
_PARTS: Mapping[str, Callable[[Vector], Vector]] = {
    "year": year_of,
    "month": month_of,
    "weekday": weekday_of,
    "hour": hour_of,
}
# Functions of one column as analysts add them, the more usual first.
_TRANSFORMS: Mapping[str, Callable[[Vector], Vector]] = {
    "log({})": np.log,
    "{}^2": np.square,
    "log10({})": np.log10,
    "log({} + 1)": np.log1p,
    "sqrt({})": np.sqrt,
    "log({}) / log(2)": np.log2,
    "log({} + 0.5)": lambda x: np.log(x + 0.5),
    "log({} + 0.1)": lambda x: np.log(x + 0.1),
    "log({} + 0.01)": lambda x: np.log(x + 0.01),
    "log10({} + 1)": lambda x: np.log10(x + 1.0),
    "{}^3": lambda x: x**3,
    "exp({})": np.exp,
}


@dataclass(frozen=True, eq=False, repr=False)
class _Look:
    """The columns of a table and a sample of their rows.

    `values` are what expressions compute with, `codes` which of the different values a row has, -1
    where missing.
    """

    facts: Mapping[str, ColumnFacts]
    numbers: Mapping[str, Vector]
    values: Mapping[str, Vector]
    codes: Mapping[str, Codes] = field(default_factory=dict)

    def n_different(self, name: str) -> int:
        return int(self.codes[name].max(initial=-1)) + 1


@dataclass(frozen=True, order=True)
class _Candidate:
    """A column that may follow by an expression; better ones sort first."""

    rank: tuple[float, ...]
    target: str
    text: str


def find_spans(
    numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts], fixed: Iterable[str] = ()
) -> tuple[Derived, ...]:
    """Return the columns that are times between two dates, or dates, times or parts of one.

    Completed years and months, and days divided by those of a year, month or week. It must hold in
    every row with all cells, and chance must not explain it: were the cells of the column in
    random order, one table in a million would have such a column.

    Parameters
    ----------
    numbers : mapping of str to ndarray
        One vector a column, NaN where missing; positions of levels for discrete kinds.
    facts : mapping of str to ColumnFacts
        Of the same columns.
    fixed : iterable of str
        Columns that are not looked for.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> born, later = rng.integers(-20_000, 0, 60), rng.integers(15_000, 16_000, 60)
    >>> table = {"born": born * 1.0, "seen": later * 1.0}
    >>> table["age"] = years_between(table["born"], table["seen"])
    >>> facts = {"born": ColumnFacts("date", 1.0), "seen": ColumnFacts("date", 1.0)}
    >>> [found.describe() for found in find_spans(
    ...     table, {**facts, "age": ColumnFacts("integer", 1.0)})]
    ['age = years(born, seen) in all rows']
    """
    look = _look(numbers, facts)
    if look is None:
        return ()
    candidates = sorted((*_spans(look), *_days(look)))
    return _confirmed(candidates, look, {name: set() for name in fixed})


def find_transforms(
    numbers: Mapping[str, Vector],
    facts: Mapping[str, ColumnFacts],
    needs: Mapping[str, Set[str]] = MappingProxyType({}),
) -> tuple[Derived, ...]:
    """Return the columns that are logarithms, powers, roots or exponentials of another one.

    As for `find_spans` it must hold in every row, and chance must not explain it.

    Parameters
    ----------
    numbers, facts : mapping
        As for `find_spans`.
    needs : mapping of str to set of str
        Columns that are computed already, and what from.

    Examples
    --------
    >>> wage = np.random.default_rng(1).integers(200, 9000, 60) / 100.0
    >>> table = {"wage": wage, "lwage": np.log(wage).round(4)}
    >>> facts = {"wage": ColumnFacts("continuous", 0.01), "lwage": ColumnFacts("continuous", 1e-4)}
    >>> [found.describe() for found in find_transforms(table, facts)]
    ['lwage = log(wage), rounded, in all rows']
    """
    look = _look(numbers, facts)
    if look is None:
        return ()
    taken = {name: set(sources) for name, sources in needs.items()}
    return _confirmed(sorted(_transforms(look)), look, taken)


def find_classes(
    numbers: Mapping[str, Vector],
    facts: Mapping[str, ColumnFacts],
    needs: Mapping[str, Set[str]] = MappingProxyType({}),
) -> tuple[Derived, ...]:
    """Return flags and classes that bounds of a number give, and levels that follow from others.

    As for `find_spans` it must hold in every row, and chance must not explain it. Where bounds
    divide classes, people must be near one of them.

    Parameters
    ----------
    numbers, facts : mapping by str
        As for `find_spans`.
    needs : mapping of str to set of str
        Columns that are computed already, and from which: none of them is found again, and nothing
        that they need is computed from them.

    Examples
    --------
    >>> age = np.random.default_rng(1).integers(18, 90, 200) * 1.0
    >>> table = {"age": age, "group": np.digitize(age, [40.0, 60.0]) * 1.0}
    >>> facts = {"age": ColumnFacts("integer", 1.0)}
    >>> facts["group"] = ColumnFacts("category", None, ("18-39", "40-59", "60+"))
    >>> [found.describe() for found in find_classes(table, facts)]
    ['group = cut(age, 40, 60) in all rows']
    """
    look = _look(numbers, facts)
    if look is None:
        return ()
    candidates = sorted((*_thresholds(look), *_levels(look)))
    return _confirmed(candidates, look, {name: set(sources) for name, sources in needs.items()})


def find_ratios(
    numbers: Mapping[str, Vector],
    facts: Mapping[str, ColumnFacts],
    products: Iterable[ProductRelation],
    needs: Mapping[str, Set[str]] = MappingProxyType({}),
) -> tuple[Derived, ...]:
    """Return products and ratios that a release can compute, such as the body mass index.

    With a constant of three digits it must hold in 98% of the rows, with another in all.
    """
    look = _look(numbers, facts)
    if look is None:
        return ()
    candidates = [
        _Candidate((float(place),), product.target, _product_text(product))
        for place, product in enumerate(products)
    ]
    simple = {one.target for one in products if one.constant == float(f"{one.constant:.3g}")}
    taken = {name: set(sources) for name, sources in needs.items()}
    return _confirmed(candidates, look, taken, simple)


def _product_text(product: ProductRelation) -> str:
    """Return a product as an expression.

    Examples
    --------
    >>> _product_text(ProductRelation("bmi", (("kg", 1.0), ("cm", -2.0)), 1e4, 1.0))
    '10000 * kg / cm^2'
    """
    powers = {1.0: "{}", 2.0: "{}^2", 0.5: "sqrt({})"}
    above, below = (
        [
            powers[abs(power)].format(quoted_name(name))
            for name, power in product.factors
            if (power > 0) == wanted
        ]
        for wanted in (True, False)
    )
    if product.constant != 1.0 or not above:
        above.insert(0, f"{product.constant:.15g}")
    return " / ".join([" * ".join(above), *below])


def _confirmed(
    candidates: Iterable[_Candidate],
    look: _Look,
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


def roundest(low: float, high: float) -> float:
    """Return the number with the fewest digits that is above `low` and not above `high`.

    Examples
    --------
    >>> roundest(2495.0, 2523.0), roundest(39.0, 40.0), roundest(0.12, 0.21), roundest(-3.0, 4.0)
    (2500.0, 40.0, 0.2, 0.0)
    """
    if low < 0.0 <= high:
        return 0.0
    size = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    for power in range(size, size - 17, -1):
        for multiple in (1.0, 0.5):
            step = multiple * 10.0**power
            found = float(f"{math.floor(high / step) * step:.15g}")
            if low < found <= high:
                return found
    return high


def _look(numbers: Mapping[str, Vector], facts: Mapping[str, ColumnFacts]) -> _Look | None:
    """Return the table with a sample of its rows; None where there are too few."""
    n_rows = next((vector.size for vector in numbers.values()), 0)
    if n_rows < LIMITS.derived_rows or len(numbers) < 2:
        return None
    rng = np.random.default_rng(LIMITS.seed)
    rows = np.sort(rng.choice(n_rows, min(n_rows, LIMITS.order_rows), replace=False))
    values = {name: facts[name].operand.read(vector[rows]) for name, vector in numbers.items()}
    return _Look(facts, numbers, values, {name: _codes(found) for name, found in values.items()})


def _codes(values: Vector) -> Codes:
    there = ~np.isnan(values)
    codes = np.full(values.size, -1, dtype=np.intp)
    codes[there] = np.unique(values[there], return_inverse=True)[1]
    return codes


def _class_targets(look: _Look) -> list[str]:
    """Return the columns that may be flags, classes or levels of something."""
    return [
        name
        for name, fact in look.facts.items()
        if look.n_different(name) >= 2
        and (
            fact.levels is not None
            or (fact.kind == "integer" and look.n_different(name) <= LIMITS.most_codes)
        )
    ]


def _spans(look: _Look) -> Iterator[_Candidate]:
    """Yield numbers that are years, months or weeks between two dates, or parts of a date."""
    dates = [name for name, fact in look.facts.items() if fact.is_date]
    numeric = [
        name
        for name, fact in look.facts.items()
        if kind_of(fact.kind).is_number or (fact.operand.values and fact.kind != "binary")
    ]
    if not dates or not numeric:
        return
    targets = np.array([look.values[name] for name in numeric])
    steps = np.array([[look.facts[name].step or 0.0] for name in numeric])
    for rank, (text, computed) in enumerate(_span_texts(dates, look.values)):
        with np.errstate(invalid="ignore"):
            broken = (np.abs(targets - computed) > steps * _HALF + 1e-9).any(axis=1)
        for place in np.flatnonzero(~broken):
            yield _Candidate((float(rank),), numeric[place], text)


def _transforms(look: _Look) -> Iterator[_Candidate]:
    """Yield numbers that are a usual function of other numbers in a sample of the rows."""
    sources = [
        name
        for name, fact in look.facts.items()
        if not fact.is_date
        and (kind_of(fact.kind).is_number or fact.operand.values)
        and look.n_different(name) >= LIMITS.transformed_values
    ]
    targets = [name for name in sources if _is_fine(look.values[name], look.facts[name].step)]
    if not targets:
        return
    y = np.array([look.values[name] for name in targets])
    slack = np.array([rounding_slack(look.values[name], look.facts[name].step) for name in targets])
    few = slice(0, LIMITS.small_set_rows)  # settles nearly all of many columns
    for rank, (text, transform) in enumerate(_TRANSFORMS.items()):
        for source in sources:
            with np.errstate(all="ignore"):
                x = transform(look.values[source])
                left = np.flatnonzero(~(np.abs(y[:, few] - x[few]) > slack[:, few]).any(axis=1))
                left = left[~(np.abs(y[left] - x) > slack[left]).any(axis=1)]
            for place in left:
                if targets[place] != source:
                    words = text.format(quoted_name(source))
                    yield _Candidate((float(rank),), targets[place], words)


def _is_fine(values: Vector, step: float | None) -> bool:
    """Return whether numbers are rounded so little that no other function of a column fits."""
    return step is None or bool(np.nanstd(values) >= LIMITS.transformed_steps * step)


def _days(look: _Look) -> Iterator[_Candidate]:
    """Yield dates and times of day that are those of dates with a time."""
    kinds = {name: fact.kind for name, fact in look.facts.items()}
    for moment in (name for name, kind in kinds.items() if kind == "datetime"):
        name, values = quoted_name(moment), look.values[moment]
        days = np.floor(values)
        parts = {"date": (f"date({name})", days), "time": (f"{name} - date({name})", values - days)}
        for target, kind in kinds.items():
            text, part = parts.get(kind, ("", values))
            if text and not (np.abs(look.values[target] - part) > 1e-9).any():
                yield _Candidate((0.0,), target, text)


def _span_texts(dates: list[str], values: Mapping[str, Vector]) -> Iterator[tuple[str, Vector]]:
    """Yield expressions of dates and what they give, the more usual first."""
    pairs = [(first, second) for first in dates for second in dates if first != second]
    for function in (years_between, months_between):
        for first, second in pairs:
            name = function.__name__.removesuffix("_between")
            both = f"{quoted_name(first)}, {quoted_name(second)}"
            yield f"{name}({both})", function(values[first], values[second])
    for days in _DAYS_OF_SPANS:
        for first, second in pairs:
            text = f"({quoted_name(second)} - {quoted_name(first)}) / {days:g}"
            spans = (values[second] - values[first]) / days
            yield f"floor({text})", np.floor(spans)
            yield text, spans
    for name in dates:
        for part, find in _PARTS.items():
            yield f"{part}({quoted_name(name)})", find(values[name])


def _thresholds(look: _Look) -> Iterator[_Candidate]:
    """Yield columns whose levels are one interval each of a number or a date."""
    targets = _class_targets(look)
    if not targets:
        return
    codes = np.array([look.codes[name] for name in targets])
    for place, (source, fact) in enumerate(look.facts.items()):
        n_values = look.n_different(source)
        if fact.levels is not None or n_values < 3:
            continue
        x = look.values[source]
        order = np.argsort(x, kind="stable")[: int(np.sum(~np.isnan(x)))]
        for target, levels in zip(targets, codes[:, order], strict=True):
            fewer = 2 <= look.n_different(target) < n_values
            seen = levels[levels >= 0]
            if (
                target == source
                or not fewer
                or np.sum(seen[1:] != seen[:-1]) >= np.unique(seen).size
            ):
                continue
            text = _threshold_text(source, look, target)
            # Without levels the name of a column means its numbers, not classes of them.
            if text and (look.facts[target].levels or text != quoted_name(source)):
                yield _Candidate((1.0, float(place)), target, text)


def _threshold_text(source: str, look: _Look, target: str) -> str | None:
    """Return the classes of a number that give a column; None where they are no intervals."""
    x = look.facts[source].operand.read(look.numbers[source])
    y = look.numbers[target]
    both = ~np.isnan(x) & ~np.isnan(y)
    values, first, holders = np.unique(x[both], return_index=True, return_counts=True)
    levels = y[both][first]
    changes = np.flatnonzero(np.diff(levels)) + 1
    if changes.size >= np.unique(levels).size or not changes.size:
        return None
    if not _is_dense(values, holders, changes, look.facts[source].step):
        return None
    name = quoted_name(source)
    if look.facts[source].is_date:
        return _date_bounds(name, values, holders, changes)
    return _bounds(name, values, holders, levels, changes, look.facts[source].step)


def _bounds(
    name: str, values: Vector, holders: Codes, levels: Vector, changes: Codes, step: float | None
) -> str:
    above = levels[-1] > levels[0]
    if changes.size == 1 and values[changes[0] - 1] == 0.0:
        return f"{name} > 0" if above else f"{name} <= 0"
    # A bound that is a cell of few people is not written down, unless it is a round one.
    bounds = [roundest(float(values[at - 1]), float(values[at])) for at in changes]
    for bound, at in zip(bounds, changes, strict=True):
        steps = bound / (LIMITS.round_bound * step) if step else 0.5
        is_round = abs(steps - round(steps)) < 1e-9
        if bound == values[at] and holders[at] < FEWEST_HOLDERS and not is_round:
            return name
    texts = [f"{bound:.15g}" for bound in bounds]
    if len(texts) > 1:
        return f"cut({name}, {', '.join(texts)})"
    return f"{name} {'>=' if above else '<'} {texts[0]}"


def _date_bounds(name: str, values: Vector, holders: Codes, changes: Codes) -> str:
    texts = []
    for at in changes:
        day = _first_day(float(values[at - 1]), float(values[at]))
        if day is None or (day.day != 1 and holders[at] < FEWEST_HOLDERS):
            return name
        texts.append(str(day))
    return f"{name} >= {texts[0]}" if len(texts) == 1 else f"cut({name}, {', '.join(texts)})"


def _first_day(low: float, high: float) -> date | None:
    """Return the first day of a year or month, or any day, above `low` and not above `high`."""
    try:
        last = date(1970, 1, 1) + timedelta(days=math.floor(high))
    except OverflowError:
        return None
    for day in (last.replace(month=1, day=1), last.replace(day=1), last):
        if low < (day - date(1970, 1, 1)).days:
            return day
    return None


def _is_dense(values: Vector, holders: Codes, changes: Codes, step: float | None) -> bool:
    """Return whether people are near one of the bounds, so that it tells neighbours apart.

    Groups that lie apart are told apart by any number between them.
    """
    low, high = np.quantile(np.repeat(values, holders), (0.25, 0.75))
    # A quarter of the rows are within .674 standard deviations of a normal column's middle.
    near = max(LIMITS.near_bound * float(high - low) / (2 * 0.674), step or 0.0)
    ends = {0: holders[0], values.size - 2: holders[-1]}
    bounds = (values[changes - 1] + values[changes]) / 2.0
    beside = [int(holders[np.abs(values - bound) <= near].sum()) for bound in bounds]
    spikes = [int(ends.get(int(change) - 1, 0)) for change in changes]
    return max(*beside, *spikes) >= LIMITS.bound_neighbours


def _levels(look: _Look) -> Iterator[_Candidate]:
    """Yield columns whose level is always the same for the same level of another."""
    targets = _class_targets(look)
    order = {name: place for place, name in enumerate(look.facts)}
    for source, text, groups in _groupings(look):
        n_groups = int(groups.max(initial=-1)) + 1
        if not 2 <= n_groups <= LIMITS.most_groups:
            continue
        for target in targets:
            n_levels = look.n_different(target)
            if target == source or n_levels > n_groups:
                continue
            both = (groups >= 0) & (look.codes[target] >= 0)
            pairs = np.unique(groups[both] * n_levels + look.codes[target][both])
            if np.unique(pairs // n_levels).size < pairs.size:
                continue
            # Of two columns that say the same, the later one repeats the earlier.
            if n_levels == n_groups and order[target] < order[source]:
                continue
            yield _Candidate((2.0, float(n_groups), float(order[source])), target, text)


def _groupings(look: _Look) -> Iterator[tuple[str, str, Codes]]:
    """Yield columns, and parts of dates, with few different values: where from, text, codes."""
    for name, fact in look.facts.items():
        quoted = quoted_name(name)
        if fact.levels is not None or fact.kind == "integer":
            yield name, quoted, look.codes[name]
        if fact.is_date:
            for part, find in _PARTS.items():
                yield name, f"{part}({quoted})", _codes(find(look.values[name]))
