"""Flags, classes and levels that follow from one other column, found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from datetime import date, timedelta
from types import MappingProxyType

import numpy as np

from icsa.columns.levels import FEWEST_HOLDERS
from icsa.constraints.derived_candidates import (
    Candidate,
    Codes,
    Look,
    codes_of,
    confirmed,
    look_at,
)
from icsa.constraints.derived_columns import ColumnFacts, Derived
from icsa.constraints.derived_functions import PARTS
from icsa.constraints.limits import LIMITS
from icsa.constraints.written import quoted_name
from icsa.matrices import Vector

__all__ = ["find_classes", "roundest"]


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
    look = look_at(numbers, facts)
    if look is None:
        return ()
    candidates = sorted((*_thresholds(look), *_levels(look)))
    return confirmed(candidates, look, {name: set(sources) for name, sources in needs.items()})


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


def _class_targets(look: Look) -> list[str]:
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


def _thresholds(look: Look) -> Iterator[Candidate]:
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
                yield Candidate((1.0, float(place)), target, text)


def _threshold_text(source: str, look: Look, target: str) -> str | None:
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


def _levels(look: Look) -> Iterator[Candidate]:
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
            yield Candidate((2.0, float(n_groups), float(order[source])), target, text)


def _groupings(look: Look) -> Iterator[tuple[str, str, Codes]]:
    """Yield columns, and parts of dates, with few different values: where from, text, codes."""
    for name, fact in look.facts.items():
        quoted = quoted_name(name)
        if fact.levels is not None or fact.kind == "integer":
            yield name, quoted, look.codes[name]
        if fact.is_date:
            for part, find in PARTS.items():
                yield name, f"{part}({quoted})", codes_of(find(look.values[name]))
