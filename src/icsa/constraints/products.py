"""Columns that are products or ratios of others, such as the body mass index. Only reported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from icsa.constraints.fitting import densest, tolerances
from icsa.constraints.limits import LIMITS
from icsa.constraints.search import (
    Block,
    Suspicion,
    blocks,
    suspected_pairs,
    suspected_triples,
)
from icsa.constraints.words import in_rows, product_of
from icsa.matrices import Matrix, Vector

__all__ = ["ProductRelation", "find_products"]

_EXPONENTS = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])


@dataclass(frozen=True)
class ProductRelation:
    """A column that is a constant times powers of others.

    Attributes
    ----------
    target : str
    factors : tuple of (str, float)
        The others with their exponents.
    constant : float
    share : float
        Share of the rows with all of them present in which it holds.

    Examples
    --------
    >>> ProductRelation("bmi", (("weight", 1.0), ("height", -2.0)), 1.0, 1.0).describe()
    'bmi is proportional to weight / height^2 in all rows'
    """

    target: str
    factors: tuple[tuple[str, float], ...]
    constant: float
    share: float

    @property
    def columns(self) -> frozenset[str]:
        """Names of the target and of the factors."""
        return frozenset((self.target, *(name for name, _ in self.factors)))

    def describe(self) -> str:
        """Return the relation in words, without any cell."""
        product = product_of(self.factors)
        return f"{self.target} is proportional to {product} {in_rows(self.share)}"


def find_products(
    numbers: Mapping[str, Vector], steps: Mapping[str, float | None]
) -> tuple[ProductRelation, ...]:
    """Return products and ratios of two or three positive columns, one for each target.

    Logarithms of the columns are searched as for linear relations; exponents are 1, 2, .5 or their
    negatives, the constant is free, and the product must be within half a lattice step of the
    target in 98% of the rows. They are for reports: a release does not keep them.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> kilograms, metres = rng.normal(75, 12, 80).round(), rng.normal(1.7, 0.1, 80).round(2)
    >>> table = {"kg": kilograms, "m": metres, "bmi": (kilograms / metres**2).round(1)}
    >>> [found.describe() for found in find_products(table, {"kg": 1.0, "m": 0.01, "bmi": 0.1})]
    ['bmi is proportional to kg / m^2 in all rows']
    """
    names = [name for name in numbers if _positive(numbers[name])]
    columns = [np.where(np.isfinite(numbers[name]), numbers[name], np.nan) for name in names]
    lattice = [steps.get(name) for name in names]
    logs = [np.log(column) for column in columns]
    relative = np.array([s or 0.0 for s in lattice]) / [np.nanmedian(c) for c in columns]
    best: dict[str, ProductRelation] = {}
    covered: set[frozenset[str]] = set()
    for block, suspicion in _suspicions(logs, relative):
        if any({names[place] for place in suspicion.columns} >= known for known in covered):
            continue
        found = _best_target(names, columns, lattice, block, suspicion)
        if found is not None and found.target not in best:
            best[found.target] = found
            covered.add(found.columns)
    return tuple(best.values())


def _positive(column: Vector) -> bool:
    present = column[np.isfinite(column)]
    if (
        present.size < LIMITS.least_product_rows
        or np.unique(present[:5_000]).size < LIMITS.least_distinct
    ):
        return False
    return bool(present.min() > LIMITS.smallest and present.max() < LIMITS.largest)


def _suspicions(logs: list[Vector], relative: Vector) -> Iterator[tuple[Block, Suspicion]]:
    rng = np.random.default_rng(LIMITS.seed)
    for search in (suspected_pairs, suspected_triples):
        for block in blocks(logs, rng):
            for suspicion in search(block, relative, rng):
                yield block, suspicion


def _best_target(
    names: list[str],
    columns: list[Vector],
    steps: list[float | None],
    block: Block,
    suspicion: Suspicion,
) -> ProductRelation | None:
    """Return the product among the suspected columns with the fewest roots and powers."""
    found = []
    for target in suspicion.columns:
        others = [place for place in suspicion.columns if place != target]
        exponents = _exponents(block.values, target, others, suspicion)
        if exponents is None:
            continue
        y = columns[target]
        factors = np.column_stack([columns[place] for place in others])
        complete = ~np.isnan(y) & ~np.isnan(factors).any(axis=1)
        share, constant = _holds(y[complete], factors[complete], exponents, steps[target])
        if share >= LIMITS.least_share:
            powers = zip((names[place] for place in others), map(float, exponents), strict=True)
            relation = ProductRelation(names[target], tuple(powers), constant, share)
            found.append((bool(np.any(np.abs(exponents) == 0.5)), -target, relation))
    return min(found, key=lambda item: item[:2])[2] if found else None


def _exponents(logs: Matrix, target: int, others: list[int], suspicion: Suspicion) -> Vector | None:
    """Return the simple exponents nearest to those of the rows that look clean."""
    rows = suspicion.rows
    design = np.column_stack([np.ones(rows.size), logs[rows][:, others]])
    fitted = np.linalg.lstsq(design, logs[rows, target], rcond=None)[0][1:]
    nearest: Vector = _EXPONENTS[np.abs(fitted[:, None] - _EXPONENTS).argmin(axis=1)]
    if np.any(np.abs(fitted - nearest) > LIMITS.exponent_slack) or np.array_equal(nearest, [1.0]):
        return None
    return nearest


def _holds(
    y: Vector, factors: Matrix, exponents: Vector, step: float | None
) -> tuple[float, float]:
    """Return the share of rows in which the product holds (0 if a shorter does), its constant."""
    if y.size < LIMITS.least_product_rows:
        return 0.0, 1.0
    powers = factors**exponents
    share, constant = _agreement(y, powers.prod(axis=1), step)
    shorter = [powers.prod(axis=1) / powers[:, place] for place in range(powers.shape[1])]
    if any(_agreement(y, product, step)[0] > LIMITS.shorter_product for product in shorter):
        return 0.0, 1.0
    return share, constant


def _agreement(y: Vector, product: Vector, step: float | None) -> tuple[float, float]:
    """Return the share of rows with y = constant * product after rounding, and the constant."""
    tolerance = tolerances(y, (product * np.median(y / product))[:, None], np.ones(1), step)
    # The narrowest window of ratios that rounding allows for, then its middle.
    ratios = np.log(y / product)
    constant, _ = densest(ratios, 2 * float(np.quantile(tolerance / y, 0.25)))
    options = [math.exp(constant), float(np.median(y / product))]
    nice = float(f"{options[1]:.3g}")
    shares = [
        (float(np.mean(np.abs(y - option * product) <= tolerance)), option)
        for option in (nice, *options)
    ]
    return max(shares, key=lambda pair: pair[0])
