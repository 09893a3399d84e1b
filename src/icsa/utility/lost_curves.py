"""Curves that a release lost: squares and products of columns whose effect on another is weaker.

With z the columns standardised by the original and held within 2.5, the curve of a term z_i z_j in
a column y is the partial correlation r of both given z_i and z_j, taken in both tables. With a and
b what is left of both, of variance 1, its standard error is that of the mean of
a b - r (a^2 + b^2)/2, whatever the law. A release that is another sample of the same people gives a
difference of chance, which every listed curve exceeds, all terms considered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from icsa.comparison.column_pairs import ColumnPair
from icsa.correlations import mad_scale
from icsa.matrices import Matrix, Vector

__all__ = ["Curve", "CurveScreen", "LostCurve", "curve_differences", "curves_of", "lost_curves"]

# Robust standard deviations that numbers count as at most: nobody who stands out makes a curve.
_REACH = 2.5
# Rows of either table that are looked at, at most, a fixed sample: partial correlations of as many
# have a standard error of .02. And columns, those with most values: terms are as many as pairs.
_ROWS = 2_000
_COLUMNS = 40
# Partial correlations below this are no curves that people would fit.
_LEAST = 0.1
# What is left of a lost curve, at most, as a share.
_LEFT = 2.0 / 3.0
# Chance that any of all terms is listed for another sample of the same people.
_CHANCE = 0.05
# With 150 rows one table in eight had a lost curve by chance, with 400 one in forty.
_FEWEST_ROWS = 200
# So many times what chance gives is as much as counts.
_MOST_DIFFERENCE = 10.0
# Share of a column or term that must be left by lines for it to be looked at.
_FLAT = 1e-6
# Of the least partial correlation that counts, what a first look must find.
_MAY_BE = 0.8


class Curve(NamedTuple):
    """A square or product of columns that acts on another one.

    Attributes
    ----------
    column : str
        What it acts on.
    first, second : str
        Its factors; the same column for a square.
    """

    column: str
    first: str
    second: str


@dataclass(frozen=True)
class LostCurve:
    """A square or product whose effect is weaker in the release.

    Attributes
    ----------
    column : str
        What it acts on.
    first, second : str
        Its factors; the same column for a square.
    original, released : float
        Partial correlations.
    limit : float
        What another sample moves it by at most, all terms considered.
    chance : float
        That a difference as large comes up in any of all terms in another sample.

    Examples
    --------
    >>> LostCurve("wage", "years", "years", -0.41, 0.02, 0.11, 1e-9).describe()
    'wage on years^2: partial correlation -0.41 in the original, 0.02 in the release'
    """

    column: str
    first: str
    second: str
    original: float
    released: float
    limit: float
    chance: float

    @property
    def term(self) -> str:
        """The square or product, in words."""
        square = self.first == self.second
        return f"{self.first}^2" if square else f"{self.first} * {self.second}"

    def describe(self) -> str:
        """Return the curve and what is left of it, in words."""
        return (
            f"{self.column} on {self.term}: partial correlation {self.original:.2f} in the "
            f"original, {self.released:.2f} in the release"
        )


@dataclass(frozen=True)
class CurveScreen:
    """All squares and products of two tables, compared.

    Attributes
    ----------
    lost : tuple of LostCurve
        Those that chance does not explain, the largest loss first.
    n_terms : int
        How many effects were compared.
    n_curves : int
        How many of them are curves in the original, beyond chance.
    n_columns, n_left_out : int
        How many columns were looked at, and how many that could be were not.
    """

    lost: tuple[LostCurve, ...]
    n_terms: int
    n_curves: int
    n_columns: int = 0
    n_left_out: int = 0


def lost_curves(columns: Sequence[ColumnPair]) -> CurveScreen:
    """Return which squares and products of columns lost their effect on another in a release.

    Parameters
    ----------
    columns : sequence of ColumnPair
        Numbers, and columns of two levels; others are left out.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> y = x**2 + noise
    >>> found = lost_curves([numeric_column("x", x, x), numeric_column("y", y, y[::-1])])
    >>> [(curve.column, curve.first, curve.second) for curve in found.lost]
    [('y', 'x', 'x')]
    """
    names, original, released, n_left_out = _standardised(columns)
    terms, n_terms = _terms_that_may_be_curves(original)
    lost: list[LostCurve] = []
    n_curves = 0
    farthest = _farthest(n_terms)
    for i, j, target in terms:
        r, error = _partial(original, i, j, target)
        if not abs(r) >= _LEAST:  # or it is not known
            continue
        n_curves += abs(r) > farthest * error
        s, other = _partial(released, i, j, target)
        apart = math.hypot(error, other)
        if abs(r - s) > farthest * apart and s * math.copysign(1.0, r) < _LEFT * abs(r):
            chance = min(1.0, n_terms * math.erfc(abs(r - s) / apart / math.sqrt(2.0)))
            curve = LostCurve(names[target], names[i], names[j], r, s, farthest * apart, chance)
            lost.append(curve)
    lost.sort(key=lambda curve: -abs(curve.original - curve.released))
    return CurveScreen(tuple(lost), n_terms, n_curves, len(names), n_left_out)


def curves_of(columns: Sequence[ColumnPair], most: int = 20) -> tuple[Curve, ...]:
    """Return the curves of the original, the strongest first; what is released does not matter.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> y = x**2 + noise
    >>> curves_of([numeric_column("x", x, x), numeric_column("y", y, y)])
    (Curve(column='y', first='x', second='x'),)
    """
    names, original, _, _ = _standardised(columns)
    terms, n_terms = _terms_that_may_be_curves(original)
    farthest = _farthest(n_terms)
    effects = [(term, *_partial(original, *term)) for term in terms]
    curves = [
        (abs(r), Curve(names[target], names[i], names[j]))
        for (i, j, target), r, error in effects
        if abs(r) >= _LEAST and abs(r) > farthest * error
    ]
    return tuple(curve for _, curve in sorted(curves, key=lambda one: -one[0])[:most])


def curve_differences(columns: Sequence[ColumnPair], curves: Sequence[Curve]) -> list[float]:
    """Return how much each curve changed, over what another sample would change it by; at most 10.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> y = x**2 + noise
    >>> both = [numeric_column("x", x, x), numeric_column("y", y, y)]
    >>> curve_differences(both, curves_of(both))
    [0.0]
    """
    needed = {name for curve in curves for name in curve}
    names, original, released, _ = _standardised([one for one in columns if one.name in needed])
    places = {name: place for place, name in enumerate(names)}
    found = []
    for curve in curves:
        if not set(curve) <= places.keys():
            found.append(_MOST_DIFFERENCE)
            continue
        target, i, j = (places[name] for name in curve)
        (r, error), (s, other) = (_partial(z, i, j, target) for z in (original, released))
        if math.isnan(r):
            continue
        by_chance = math.sqrt(2.0 / math.pi) * math.hypot(error, error if math.isnan(s) else other)
        difference = abs(r) if math.isnan(s) else abs(r - s)
        found.append(min(_MOST_DIFFERENCE, difference / by_chance))
    return found


def _farthest(n_terms: int) -> float:
    """Return the standard errors that none of so many terms exceeds by chance."""
    return float(ndtri(1.0 - 0.5 * _CHANCE / max(1, n_terms)))


def _terms_that_may_be_curves(z: Matrix) -> tuple[list[tuple[int, int, int]], int]:
    """Return factors and columns of strong partial correlations, missing cells at the middle.

    And how many terms there are of which anything is known.
    """
    p = z.shape[1]
    if p == 0:
        return [], 0
    there = (~np.isnan(z)).astype(np.float32)
    filled = np.nan_to_num(z)
    filled = filled - filled.mean(axis=0)
    found, n_terms = [], 0
    for i in range(p):
        for j in range(i, p):
            x = filled[:, sorted({i, j})]
            enough = (there[:, i] * there[:, j]) @ there >= _FEWEST_ROWS
            enough[[i, j]] = False
            term = filled[:, i] * filled[:, j]
            term = term - term.mean()
            left = term - x @ np.linalg.lstsq(x, term, rcond=None)[0]
            if float(left @ left) <= _FLAT * float(term @ term):
                continue
            n_terms += int(enough.sum())
            y = filled[:, enough]
            inside = np.linalg.qr(x)[0].T @ y
            lengths = np.maximum((y**2).sum(axis=0) - (inside**2).sum(axis=0), 1e-300)
            r = np.abs(left @ y) / np.sqrt(float(left @ left) * lengths)
            # Gaps at the middle make a correlation weaker.
            strong = np.flatnonzero(enough)[r >= _MAY_BE * there.mean(axis=0)[enough] * _LEAST]
            found += [(i, j, int(target)) for target in strong]
    return found, n_terms


def _partial(z: Matrix, i: int, j: int, target: int) -> tuple[float, float]:
    """Return the partial correlation of a column and a term given its factors, and its error.

    NaN where too few rows have all, or nothing is left of the column or the term.
    """
    given = z[:, sorted({i, j})]
    both = np.column_stack([z[:, target], z[:, i] * z[:, j]])
    rows = ~np.isnan(both).any(axis=1)
    n = int(rows.sum())
    if n < _FEWEST_ROWS:
        return math.nan, math.nan
    both, x = both[rows] - both[rows].mean(axis=0), given[rows] - given[rows].mean(axis=0)
    left = both - x @ np.linalg.lstsq(x, both, rcond=None)[0]
    sizes = (left**2).sum(axis=0)
    if (sizes <= _FLAT * np.maximum((both**2).sum(axis=0), 1e-300)).any():
        return math.nan, math.nan
    a, b = (left / np.sqrt(sizes / n)).T
    r = float(a @ b) / n
    error = float(np.std(a * b - 0.5 * r * (a**2 + b**2))) / math.sqrt(n)
    return (r, error) if error > 0.0 else (math.nan, math.nan)


def _standardised(columns: Sequence[ColumnPair]) -> tuple[list[str], Matrix, Matrix, int]:
    """Return names, both tables standardised by the original and held, and how many more."""
    found: list[tuple[int, str, Vector, Vector]] = []
    for column in columns:
        if column.levels is not None and len(column.levels) != 2:
            continue
        pair = [_some_rows(np.asarray(c, dtype=float)) for c in (column.original, column.released)]
        if column.levels is not None:
            pair = [np.where(cells < 0, np.nan, cells) for cells in pair]
        known = pair[0][~np.isnan(pair[0])]
        if known.size < _FEWEST_ROWS:
            continue
        middle = float(np.median(known)) if column.levels is None else float(known.mean())
        unit = (mad_scale(known, middle) if column.levels is None else 0.0) or float(known.std())
        if unit > 0.0:
            held = [np.clip((cells - middle) / unit, -_REACH, _REACH) for cells in pair]
            found.append((np.unique(known).size, column.name, held[0], held[1]))
    chosen = sorted(range(len(found)), key=lambda k: -found[k][0])[:_COLUMNS]
    kept = [found[k] for k in sorted(chosen)]
    if not kept:
        return [], np.empty((0, 0)), np.empty((0, 0)), 0
    _, names, before, after = zip(*kept, strict=True)
    return list(names), np.column_stack(before), np.column_stack(after), len(found) - len(kept)


def _some_rows(cells: Vector) -> Vector:
    """Return a fixed sample of cells; the same rows of every column."""
    if cells.size <= _ROWS:
        return cells
    rows = np.random.default_rng(cells.size).choice(cells.size, _ROWS, replace=False)
    return np.asarray(cells[rows])
