"""Person by person: how alone somebody is, how near the release comes, and how likely by chance.

For a person k among n originals and n* released rows, under each lens::

    d_org  distance to the nearest other original       how alone
    d_rel  distance to the nearest released row         how near the release comes
    rho    d_rel / d_org
    p      chance of so small a rho with fresh rows     `icsa.privacy.chances`

P = w min(p over the lenses) corrects for three lenses and m people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.privacy.chances import NEIGHBOURS, Chances, chances_of, ratios
from icsa.privacy.equal_cells import Agreement, most_equal_cells
from icsa.privacy.lenses import Lenses, LensName
from icsa.privacy.neighbours import MISMATCH, Neighbours, nearest
from icsa.privacy.rarity import equal_weights
from icsa.privacy.standing_out import StandingOut

__all__ = [
    "LENSES",
    "Nearness",
    "Surroundings",
    "corrected_chances",
    "match_shares",
    "measure_nearness",
    "measure_surroundings",
    "person_weights",
    "standing_out_parts",
]

LENSES: tuple[LensName, ...] = ("E", "M", "A")

# Up to this P it is asked whether one column alone brings a person near.
_DOUBTFUL = 0.1
# The nearest other row is a twin when it is as near as this share of twins by chance, over all m.
_TWIN_LEVEL = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Surroundings:
    """What the original alone says about the people who stand out; the same for every release.

    Attributes
    ----------
    people : StandingOut
    d_org : mapping of lens to ndarray of shape (m,)
        Distance to the nearest other original; A's is E's.
    chances : mapping of lens to Chances
        D of each person, and what turns rho into p.
    has_near_twin : ndarray of shape (m,), bool
        Whether the nearest other original is unusually near: (r1/r2)^D <= .05/m under E, with r1
        and r2 the distances to the two nearest.
    agreement : Agreement
        The control of h: cells in common with one other original.
    weights : ndarray of shape (m,)
        What a person's p is multiplied by; those who are most alone have the smallest.
    nearest : ndarray of shape (m, k)
        Row numbers of the nearest other originals under lens E.
    """

    people: StandingOut
    d_org: Mapping[LensName, Vector]
    chances: Mapping[LensName, Chances]
    has_near_twin: np.ndarray
    agreement: Agreement
    weights: Vector
    nearest: RowNumbers

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Surroundings: {self.people.rows.size} people>"


@dataclass(frozen=True, eq=False, repr=False)
class Nearness:
    """How near one release comes to the people who stand out; vectors over the m people.

    Attributes
    ----------
    d_rel, rho, p : mapping of lens to ndarray of shape (m,)
    released_rows : mapping of lens to ndarray of shape (m,)
        The nearest released row.
    worst : tuple of lens
        The lens with the smallest p.
    corrected : ndarray of shape (m,)
        P = min(1, w min p), w as in `corrected_chances`.
    agreement : Agreement
        h: cells in common with one released row.
    rest : ndarray of shape (m,)
        rho without the column in which the person stands out most, under A where that is the worst
        lens and else under E, for those with a small P; infinite for the others. Whoever stands
        out in one column alone is near every row that has its extreme value, whosever the other
        cells are.
    fresh_share : float
        How often fresh rows would come nearer than another original: n*/(n* + n - 1).
    """

    d_rel: Mapping[LensName, Vector]
    rho: Mapping[LensName, Vector]
    p: Mapping[LensName, Vector]
    released_rows: Mapping[LensName, RowNumbers]
    worst: tuple[LensName, ...]
    corrected: Vector
    agreement: Agreement
    rest: Vector
    fresh_share: float

    @property
    def worst_rho(self) -> Vector:
        """Each person's rho under the worst lens."""
        return np.array([self.rho[lens][k] for k, lens in enumerate(self.worst)])

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Nearness: {len(self.worst)} people>"


def measure_surroundings(lenses: Lenses, people: StandingOut, *, threads: int = 1) -> Surroundings:
    """Return how alone the people are, and the dimension of their surroundings.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.standing_out import named_people
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])  # median 2, scale 1.4826
    >>> lenses = fit_lenses(as_features(x, x))
    >>> alone = measure_surroundings(lenses, named_people(lenses, [4]))
    >>> round(float(alone.d_org["E"][0]), 4)  # 7 / 1.4826
    4.7214
    """
    if lenses.original.shape[1] < 3:
        raise InputError("How alone somebody is needs three rows or more in the original.")
    d_org: dict[LensName, Vector] = {}
    chances: dict[LensName, Chances] = {}
    near: dict[LensName, Neighbours] = {}
    rows, k = people.rows, min(NEIGHBOURS, lenses.original.shape[1] - 1)
    observed = _observed_shares(lenses, rows)
    under: tuple[LensName, LensName] = ("E", "M")
    for lens in under:
        points = lenses.originals(lens)
        found = nearest(points.rows(rows), points, k=k, own=rows, threads=threads)
        near[lens], d_org[lens] = found, found.distances[:, 0].copy()
        chances[lens] = chances_of(points, rows, found, lenses.n_varying, observed, threads)
    twins = _near_twins(near["E"].distances[:, :2], chances["E"].overall)
    d_org["A"], chances["A"] = d_org["E"], chances["E"]
    original = lenses.features.original
    equal = most_equal_cells(lenses, rows, original, rows, threads)
    weights = person_weights(people.isolations)
    return Surroundings(people, d_org, chances, twins, equal, weights, near["E"].rows)


def measure_nearness(lenses: Lenses, around: Surroundings, *, threads: int = 1) -> Nearness:
    """Return how near the lenses' release comes to each person, and how likely by chance.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.standing_out import named_people
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    >>> released = np.array([[-1.0], [0.5], [1.5], [4.5], [6.5]])
    >>> lenses = fit_lenses(as_features(x, released))
    >>> near = measure_nearness(lenses, measure_surroundings(lenses, named_people(lenses, [4])))
    >>> float(near.rho["E"][0]), round(float(near.p["E"][0]), 4)  # 3.5/7; .5/(.5 + 5/5)
    (0.5, 0.3333)
    """
    rows = around.people.rows
    n, n_released = lenses.original.shape[1], lenses.released.shape[1]
    d_rel: dict[LensName, Vector] = {}
    rho: dict[LensName, Vector] = {}
    p: dict[LensName, Vector] = {}
    released_rows: dict[LensName, RowNumbers] = {}
    for lens in LENSES:
        people = lenses.originals(lens).rows(rows)
        found = nearest(people, lenses.releases(lens), threads=threads)
        d_rel[lens], released_rows[lens] = found.distances[:, 0], found.rows[:, 0]
        rho[lens] = ratios(d_rel[lens], around.d_org[lens])
        p[lens] = around.chances[lens].of(rho[lens], n, n_released)
    same = np.flatnonzero(np.any([rho[lens] == 0.0 for lens in LENSES], axis=0))
    if same.size:
        by_chance = _equal_by_chance(lenses.features.original, rows[same], n_released)
        for lens in LENSES:
            equal_here = rho[lens][same] == 0.0
            p[lens][same] = np.maximum(p[lens][same], np.where(equal_here, by_chance, 0.0))
    stacked = np.array([p[lens] for lens in LENSES])
    worst = tuple(LENSES[j] for j in np.argmin(stacked, axis=0))
    equal = most_equal_cells(lenses, rows, lenses.features.released, None, threads)
    corrected = corrected_chances(stacked, around.weights)
    rest = np.full(rows.size, np.inf)
    near = np.flatnonzero(corrected <= _DOUBTFUL)
    under: tuple[LensName, LensName] = ("E", "A")
    for lens in under:
        by_this = near[[(worst[k] == "A") == (lens == "A") for k in near]]
        rest[by_this] = _ratios_without_top_column(lenses, lens, rows[by_this], threads)
    share = n_released / (n_released + n - 1)
    return Nearness(d_rel, rho, p, released_rows, worst, corrected, equal, rest, share)


def _equal_by_chance(original: FeatureTable, rows: RowNumbers, n_released: int) -> Vector:
    """Return the chance that a release of shuffled columns has a row that is equal in every cell.

    Distances between rows of few levels do not tell it: most have doubles, and the one who has
    none is infinitely far from others by their measure.
    """
    shares = np.exp(-equal_weights(original, rows).sum(axis=1))
    return np.asarray(np.minimum(1.0, n_released * shares))


def _ratios_without_top_column(
    lenses: Lenses, lens: LensName, rows: RowNumbers, threads: int
) -> Vector:
    """Return rho under E or A without the column that adds most to each one's standing out."""
    top = np.argmax(standing_out_parts(lenses, rows), axis=1)
    found = np.empty(rows.size)
    for column in np.unique(top):
        who = np.flatnonzero(top == column)
        original = _without(lenses.originals("E"), int(column))
        released = _without(lenses.releases(lens), int(column))
        people = _without(lenses.originals("E").rows(rows[who]), int(column))
        alone = nearest(people, original, own=rows[who], threads=threads).distances[:, 0]
        found[who] = ratios(nearest(people, released, threads=threads).distances[:, 0], alone)
    return found


def _without(points: FeatureTable, column: int) -> FeatureTable:
    """Return the points without one column, numeric ones counted first; numbers are not copied."""
    n_numbers = points.numbers.shape[0]
    if column >= n_numbers:
        codes = points.codes[np.arange(points.codes.shape[0]) != column - n_numbers]
        return replace(points, codes=codes)

    return replace(points, change=_Without(points.change, column))


@dataclass(frozen=True, eq=False, repr=False)
class _Without:
    """A change of coordinates that leaves one column out."""

    change: Callable[[Matrix], Matrix] | None
    column: int

    def __call__(self, block: Matrix) -> Matrix:
        """Return the coordinates of a block of rows."""
        changed = block.copy() if self.change is None else self.change(block)
        changed[self.column] = 0.0
        return changed


def corrected_chances(chances: Matrix, weights: Vector) -> Vector:
    """Return P = min(1, w min over the lenses), from a row of chances for each lens.

    1 / w sums to 1/3 over the people, for three lenses: half of it is the same for all, half goes
    by who is most alone, 1 / (rank H), H = 1 + 1/2 + ... + 1/m. Whoever is most alone has most to
    lose, and is found by whoever looks.

    Examples
    --------
    >>> corrected_chances(np.array([[0.01, 0.5], [0.02, 0.4], [0.3, 0.3]]), np.array([6.0, 6.0]))
    array([0.06, 1.  ])
    """
    return np.asarray(np.minimum(1.0, weights * chances.min(axis=0)))


def person_weights(isolations: Vector) -> Vector:
    """Return w of each person, from their distances to the 5th neighbour.

    Examples
    --------
    >>> person_weights(np.array([5.0]))
    array([3.])
    >>> weights = person_weights(np.array([2.0, 9.0]))  # 3 / (1/4 + 1/(4 * 1.5)), 3 / (1/4 + 1/3)
    >>> weights.round(2), round(float(np.sum(1 / weights)), 3)
    (array([7.2 , 5.14]), 0.333)
    """
    m = isolations.size
    if not m:
        return np.empty(0)
    ranks = np.empty(m)
    ranks[np.argsort(-isolations, kind="stable")] = np.arange(1.0, m + 1.0)
    harmonic = float(np.sum(1.0 / np.arange(1.0, m + 1.0)))
    return np.asarray(len(LENSES) / (0.5 / m + 0.5 / (ranks * harmonic)))


def standing_out_parts(lenses: Lenses, rows: RowNumbers) -> Matrix:
    """Return what each column adds to a person's standing out, shape (m, n_columns).

    Squared robust units from the median for numbers; for a category 2 (1 - f), f being its share of
    the rows: what it adds to the squared distance to a random row. Missing counts as a category.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [12.0]])
    >>> codes = np.array([[0], [0], [0], [0], [1]])
    >>> both = as_features(x, x, original_codes=codes, released_codes=codes)
    >>> standing_out_parts(fit_lenses(both), np.array([4])).round(2)  # (10/1.4826)^2; 2 (1 - 1/5)
    array([[45.49,  1.6 ]])
    """
    numbers = lenses.original[:, rows]
    missing = np.isnan(numbers)
    rarity = 1.0 - lenses.missing_shares
    squares = np.where(missing, MISMATCH * rarity[:, None], np.nan_to_num(numbers) ** 2)
    codes = lenses.features.original.codes
    levels = np.empty((codes.shape[0], rows.size))
    for j, column in enumerate(codes):
        counts = np.bincount(column + 1)
        levels[j] = 1.0 - counts[column[rows] + 1] / column.size
    return np.vstack([squares, MISMATCH * levels]).T


def match_shares(parts: Vector, gaps: Vector) -> Vector:
    """Return each column's share of what a released row repeats of a person's standing out.

    Parameters
    ----------
    parts : ndarray of shape (n_columns,)
        What each column adds to the person's standing out.
    gaps : ndarray of shape (n_columns,)
        Squared differences to the nearest released row.

    Returns
    -------
    ndarray of shape (n_columns,)
        They sum to 1; all 0 where the released row repeats nothing.

    Examples
    --------
    >>> match_shares(np.array([9.0, 4.0, 1.0]), np.array([0.0, 1.0, 5.0]))
    array([0.75, 0.25, 0.  ])
    """
    repeated = np.maximum(parts - gaps, 0.0)
    total = float(repeated.sum())
    return repeated / total if total > 0.0 else repeated


def _observed_shares(lenses: Lenses, rows: RowNumbers) -> Vector:
    """Return each person's share of cells that are not missing, of the columns that vary."""
    table = lenses.features.original
    known = np.vstack([~np.isnan(table.numbers[:, rows]), table.codes[:, rows] >= 0])
    return np.asarray(known[lenses.varying].sum(axis=0) / max(1, lenses.n_varying))


def _near_twins(distances: Matrix, dimension: Vector) -> np.ndarray:
    """Return who has a twin: (r1/r2)^D is uniform where rows lie as a Poisson process."""
    farther = np.where(distances[:, 1] > 0.0, distances[:, 1], 1.0)
    uniform = (distances[:, 0] / farther) ** dimension
    return np.asarray(uniform <= _TWIN_LEVEL / max(1, distances.shape[0]))
