"""Numbers that follow from one or two other columns, found: ages, parts of dates, ratios, logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType

import numpy as np

from icsa.columns import kind_of
from icsa.constraints.derived_candidates import Candidate, Look, confirmed, look_at
from icsa.constraints.derived_columns import ColumnFacts, Derived, rounding_slack
from icsa.constraints.derived_functions import PARTS, months_between, years_between
from icsa.constraints.limits import LIMITS
from icsa.constraints.products import ProductRelation
from icsa.constraints.written import quoted_name
from icsa.matrices import Vector

__all__ = ["find_ratios", "find_spans", "find_transforms"]

# Days of years, months and weeks as people divide by them.
_DAYS_OF_SPANS = (365.25, 365.0, 30.4375, 7.0)
_HALF = 0.5 * (1.0 + 1e-9)
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
    look = look_at(numbers, facts)
    if look is None:
        return ()
    candidates = sorted((*_spans(look), *_days(look)))
    return confirmed(candidates, look, {name: set() for name in fixed})


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
    look = look_at(numbers, facts)
    if look is None:
        return ()
    taken = {name: set(sources) for name, sources in needs.items()}
    return confirmed(sorted(_transforms(look)), look, taken)


def find_ratios(
    numbers: Mapping[str, Vector],
    facts: Mapping[str, ColumnFacts],
    products: Iterable[ProductRelation],
    needs: Mapping[str, Set[str]] = MappingProxyType({}),
) -> tuple[Derived, ...]:
    """Return products and ratios that a release can compute, such as the body mass index.

    With a constant of three digits it must hold in 98% of the rows, with another in all.
    """
    look = look_at(numbers, facts)
    if look is None:
        return ()
    candidates = [
        Candidate((float(place),), product.target, _product_text(product))
        for place, product in enumerate(products)
    ]
    simple = {one.target for one in products if one.constant == float(f"{one.constant:.3g}")}
    taken = {name: set(sources) for name, sources in needs.items()}
    return confirmed(candidates, look, taken, simple)


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


def _spans(look: Look) -> Iterator[Candidate]:
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
            yield Candidate((float(rank),), numeric[place], text)


def _days(look: Look) -> Iterator[Candidate]:
    """Yield dates and times of day that are those of dates with a time."""
    kinds = {name: fact.kind for name, fact in look.facts.items()}
    for moment in (name for name, kind in kinds.items() if kind == "datetime"):
        name, values = quoted_name(moment), look.values[moment]
        days = np.floor(values)
        parts = {"date": (f"date({name})", days), "time": (f"{name} - date({name})", values - days)}
        for target, kind in kinds.items():
            text, part = parts.get(kind, ("", values))
            if text and not (np.abs(look.values[target] - part) > 1e-9).any():
                yield Candidate((0.0,), target, text)


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
        for part, find in PARTS.items():
            yield f"{part}({quoted_name(name)})", find(values[name])


def _transforms(look: Look) -> Iterator[Candidate]:
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
                    yield Candidate((float(rank),), targets[place], words)


def _is_fine(values: Vector, step: float | None) -> bool:
    """Return whether numbers are rounded so little that no other function of a column fits."""
    return step is None or bool(np.nanstd(values) >= LIMITS.transformed_steps * step)
