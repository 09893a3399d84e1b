"""The risk before any key is drawn: how many replicas of a person a release is expected to hold.

Lambda is the expected number of released rows within d_org/2 of a person, over all keys. min(1,
Lambda) bounds the probability that there is one. For a linear recipe with permuted components it
follows from the fitted map: every released row has components that are independent draws from the
components' values, so Lambda is n times the probability of such a draw to land near the person.
(1 - (1 - P)^n would be wrong: a permutation uses each extreme value exactly once.) For any other
recipe fresh releases tell. They also tell how often the rules would alarm: the word of a recipe is
the same for all of its keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from icsa.comparison.features import FeatureTable
from icsa.errors import InputError
from icsa.ics import InvariantCoordinates
from icsa.matrices import Matrix, Vector
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import nearest
from icsa.privacy.people import Surroundings
from icsa.privacy.people_findings import clopper_pearson, upper_limit
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Reason, Verdict, Word

__all__ = [
    "ExpectedReplicas",
    "KeyLuck",
    "RedrawnRisk",
    "clear_risks",
    "expected_replicas",
    "reasons_over_keys",
    "risk_over_redraws",
]

KeyLuck = Literal["lucky", "typical", "unlucky", "one of too few to tell its luck"]
# With fewer keys than these there is no best or worst tenth of them.
_FEWEST_KEYS = 10

_LEVEL = 0.95
# So few combinations are counted one by one.
_COUNTED = 20_000
_HITS = 50
_DRAWS_AT_ONCE = 4_096
_MOST_DRAWS = 1 << 18
# A Lambda that cannot exceed this needs no draws.
_NEGLIGIBLE = 1e-3
# Fixed, and no secret: it draws where counting would take too long.
_SEED = 20_005


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedReplicas:
    """Lambda of each person, with limits.

    Attributes
    ----------
    value, low, high : ndarray of shape (m,)
        The upper limit is one-sided, at .95. The lower one is a share of releases that is exceeded
        at .95 for all people together. Both are the value itself where combinations were counted.
    how : str
        "fitted map" or "redraws".
    """

    value: Vector
    low: Vector
    high: Vector
    how: str

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<ExpectedReplicas of {self.value.size} people, by {self.how}>"


@dataclass(frozen=True, eq=False, repr=False)
class RedrawnRisk:
    """What fresh releases under other keys say.

    Attributes
    ----------
    expected : ExpectedReplicas
        The mean number of replicas a release.
    risk : ndarray of shape (m,)
        Share of the releases with a replica of the person.
    rho : ndarray of shape (n_redraws, m)
        rho under lens E in every release.
    words : tuple of Word
        What the rules say of each of these releases; empty where they were not asked.
    """

    expected: ExpectedReplicas
    risk: Vector
    rho: Matrix
    words: tuple[Word, ...] = ()

    def luck(self, rho: Vector) -> KeyLuck:
        """Return whether the smallest rho of a release is among the best or worst tenth of keys.

        Of fewer than ten keys nothing is said.

        Examples
        --------
        >>> rho = np.linspace(0.1, 1.0, 10).reshape(10, 1)
        >>> nothing = ExpectedReplicas(*np.zeros((3, 1)), "redraws")
        >>> RedrawnRisk(nothing, np.zeros(1), rho).luck(np.array([0.05]))
        'unlucky'
        """
        if self.rho.shape[0] < _FEWEST_KEYS:
            return "one of too few to tell its luck"
        share = float(np.mean(self.rho.min(axis=1) <= rho.min()))
        if share <= 0.1:
            return "unlucky"
        return "lucky" if share > 0.9 else "typical"

    def share(self, *words: Word) -> float:
        """Return the share of these releases that have one of the words."""
        return sum(word in words for word in self.words) / max(1, len(self.words))

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<RedrawnRisk of {self.rho.shape[1]} people over {self.rho.shape[0]} releases>"


def expected_replicas(
    lenses: Lenses, around: Surroundings, coordinates: InvariantCoordinates
) -> ExpectedReplicas:
    """Return Lambda of each person from the fitted map, its components permuted.

    With scores z = W (x - T), x = A z + T and S the columns' robust scales, a draw of components
    lands near person k when |S^-1 A (z - z_k)| <= r, r = d_org/2. All such z lie in the box
    |z_j - z_kj| <= r sqrt((G^-1)_jj), G = A' S^-2 A. Of the box's combinations of values either all
    are counted, or as many drawn as give 50 hits.

    Parameters
    ----------
    lenses : Lenses
        With numeric columns only, without missing cells.
    around : Surroundings
        The people and how alone they are.
    coordinates : InvariantCoordinates
        The map that the release was made with, for the numeric columns in their order.

    Examples
    --------
    Two columns that are the components themselves: the person (9, 9) of six rows has r = d_org/2,
    a replica needs both nines in one row, and the expected number of such rows is 6 (1/6)^2.

    >>> from icsa.ics import invariant_coordinates
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_surroundings
    >>> from icsa.privacy.standing_out import named_people
    >>> x = np.array([[0, 0], [1, 2], [2, 1], [1, 0], [0, 2], [9, 9.0]])
    >>> lenses = fit_lenses(as_features(x, x, grids=[0, 0]))
    >>> around = measure_surroundings(lenses, named_people(lenses, [5]))
    >>> coordinates = invariant_coordinates(x, scatters=("identity", "variances"))
    >>> expected_replicas(lenses, around, coordinates).value.round(6)
    array([0.166667])
    """
    numbers = lenses.features.original.numbers
    if lenses.features.original.codes.shape[0] or np.isnan(numbers).any():
        raise InputError(
            "Lambda by the fitted map needs numeric columns without missing cells. "
            "Use risk_over_redraws for other tables."
        )
    if coordinates.mixing.shape[0] != numbers.shape[0]:
        raise InputError(
            f"The coordinates have {coordinates.mixing.shape[0]} columns and the table "
            f"{numbers.shape[0]}: give those that the release was made with."
        )
    scores = coordinates.transform(numbers.T)
    to_units = coordinates.mixing / lenses.scales[:, None]
    ordered = np.sort(scores, axis=0)
    half_widths = np.sqrt(np.diagonal(np.linalg.pinv(to_units.T @ to_units)))
    radii = 0.5 * around.d_org["E"]
    values, highs = np.empty(radii.size), np.empty(radii.size)
    for k, row in enumerate(around.people.rows):
        # Rounding must not put the person's own values out of the box.
        reach = radii[k] * half_widths + 1e-9 * np.abs(scores[row])
        values[k], highs[k] = _lambda(ordered, scores[row], reach, to_units, radii[k])
    return ExpectedReplicas(values, values, highs, "fitted map")


def risk_over_redraws(
    lenses: Lenses,
    around: Surroundings,
    redraw: Callable[[int], FeatureTable],
    n_redraws: int = 100,
    *,
    judge: Callable[[Lenses], Verdict] | None = None,
    threads: int = 1,
) -> RedrawnRisk:
    """Return how often fresh releases replicate each person, for any recipe.

    Parameters
    ----------
    lenses, around
        Of the original and the people who stand out.
    redraw : callable
        Returns a release under a fresh key; called with 0, 1, ... n_redraws - 1.
    n_redraws : int
        Number of releases. Without a replica in any, the upper limit is about 3/n_redraws.
    judge : callable, optional
        Returns what the rules say of the release of some lenses.
    threads : int
        As in `icsa.privacy.neighbours.nearest`.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_surroundings
    >>> from icsa.privacy.standing_out import named_people
    >>> x = np.array([[0, 0], [1, 2], [2, 1], [1, 0], [0, 2], [9, 9.0]])
    >>> both = as_features(x, x, grids=[0, 0])
    >>> lenses = fit_lenses(both)
    >>> around = measure_surroundings(lenses, named_people(lenses, [5]))
    >>> risk_over_redraws(lenses, around, lambda number: both.released, 10).risk
    array([1.])
    """
    if n_redraws < 1:
        raise InputError(f"At least one release must be redrawn: n_redraws is {n_redraws}.")
    rows, radii = around.people.rows, 0.5 * around.d_org["E"]
    counts, rho = np.empty((n_redraws, rows.size)), np.empty((n_redraws, rows.size))
    people = lenses.originals("E").rows(rows)
    words: list[Word] = []
    for number in range(n_redraws):
        fresh = lenses.with_released(redraw(number))
        released = fresh.releases("E")
        k = min(8, released.n_rows)  # more replicas than that do not change any word
        found = nearest(people, released, k=k, threads=threads)
        counts[number] = np.sum(found.distances <= radii[:, None], axis=1)
        rho[number] = found.distances[:, 0] / np.where(radii > 0.0, 2.0 * radii, np.inf)
        if judge is not None:
            words.append(judge(fresh).word)
    mean, hits = counts.mean(axis=0), np.sum(counts > 0, axis=0)
    limits = np.array([upper_limit(int(hit), n_redraws, _LEVEL) for hit in hits])
    surely = 1.0 - 2.0 * (1.0 - _LEVEL) / max(1, rows.size)
    low = np.array([clopper_pearson(int(hit), n_redraws, surely)[0] for hit in hits])
    expected = ExpectedReplicas(mean, low, np.maximum(mean, limits), "redraws")
    return RedrawnRisk(expected, hits / n_redraws, rho, tuple(words))


def clear_risks(
    expected: ExpectedReplicas | None, around: Surroundings, sizes: tuple[int, int], policy: Policy
) -> dict[int, float]:
    """Return the upper limit of Lambda by row number; 0 for those whose risk chance explains.

    Few columns put somebody near everybody: fresh people come within d_org/2 of a person with a
    probability that the original tells. A risk counts where its lower limit is above the policy's
    and clearly above that probability.
    """
    rows = around.people.rows.tolist()
    if expected is None:
        return {}
    by_chance = around.chances["E"].of(np.full(len(rows), 0.5), *sizes)
    least = np.maximum(policy.before_look.value, policy.before_factor.value * by_chance)
    clear = np.minimum(expected.low, 1.0) > np.minimum(least, 1.0 - 1e-9)
    return dict(zip(rows, np.where(clear, expected.high, 0.0).tolist(), strict=True))


def reasons_over_keys(redrawn: RedrawnRisk | None, policy: Policy) -> tuple[Reason, ...]:
    """Return what the rules say under other keys, where that is the word of the recipe.

    Whoever draws keys until the word is good has not made the recipe any better: where too many
    keys give a bad word, it is the word for all of them.

    Examples
    --------
    >>> nothing = ExpectedReplicas(*np.zeros((3, 1)), "redraws")
    >>> words = ("release",) * 80 + ("look again",) * 15 + ("do not release",) * 5
    >>> redrawn = RedrawnRisk(nothing, np.zeros(1), np.ones((100, 1)), words)
    >>> for reason in reasons_over_keys(redrawn, Policy()):
    ...     print(f"{reason.word}: {reason.text}")
    look again: under 20 of 100 fresh keys the release would be "look again" or worse, under 5 \
"do not release"; another key does not make the recipe any better
    """
    if redrawn is None or not redrawn.words:
        return ()
    stop, look = redrawn.share("do not release"), redrawn.share("do not release", "look again")
    if look < policy.keys_look.value:
        return ()
    n = len(redrawn.words)
    text = (
        f'under {round(look * n)} of {n} fresh keys the release would be "look again" or worse, '
        f'under {round(stop * n)} "do not release"; another key does not make the recipe any better'
    )
    word: Word = "do not release" if stop >= policy.keys_stop.value else "look again"
    return (Reason(word, "keys", text),)


def _lambda(
    ordered: Matrix, centre: Vector, reach: Vector, to_units: Matrix, radius: float
) -> tuple[float, float]:
    """Return Lambda of one person and its upper limit."""
    n, p = ordered.shape
    low = [int(np.searchsorted(ordered[:, j], centre[j] - reach[j], "left")) for j in range(p)]
    high = [int(np.searchsorted(ordered[:, j], centre[j] + reach[j], "right")) for j in range(p)]
    counts = np.array(high) - np.array(low)
    bound = n * float(np.prod(counts / n))  # as if every combination in the box were a hit
    values = [ordered[low[j] : high[j], j] - centre[j] for j in range(p)]
    n_combinations = float(np.prod(counts.astype(np.float64)))
    square = radius * radius * (1.0 + 1e-12)
    if n_combinations <= _COUNTED:
        steps = np.array(list(product(*values))).reshape(-1, p)
        hits = _near(steps, to_units, square)
        return bound * hits / max(n_combinations, 1.0), bound * hits / max(n_combinations, 1.0)
    if bound <= _NEGLIGIBLE:
        return bound, bound
    rng, hits, draws = np.random.default_rng(_SEED), 0, 0
    while hits < _HITS and draws < _MOST_DRAWS:
        steps = np.column_stack([rng.choice(column, _DRAWS_AT_ONCE) for column in values])
        hits, draws = hits + _near(steps, to_units, square), draws + _DRAWS_AT_ONCE
    return bound * hits / draws, bound * upper_limit(hits, draws, _LEVEL)


def _near(steps: Matrix, to_units: Matrix, square: float) -> int:
    moved = steps @ to_units.T
    return int(np.sum(np.einsum("ij,ij->i", moved, moved) <= square))
