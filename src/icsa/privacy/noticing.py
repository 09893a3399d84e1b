"""Too small to tell: how often one copied person would be noticed, from the original alone.

A person can be told from chance when the cells are rare enough together: the sum over the columns
of log(1/f), f being the share of people with the same value, must reach log(n n* / level). Tables
of few columns or few levels do not reach it, however many rows they have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from icsa.privacy.everybody import Everybody
from icsa.privacy.lenses import Lenses
from icsa.privacy.people import Surroundings
from icsa.privacy.rarity import equal_weights

__all__ = ["Noticing", "how_noticed"]

# People by whom the typical rarity is judged.
_SAMPLED = 1_000
# Below this share it is said that the table is too small to tell.
_ENOUGH = 0.8
_SEED = 20_010


@dataclass(frozen=True)
class Noticing:
    """How often one copied person would be noticed.

    Attributes
    ----------
    ordinary : float
        Share of all people whose exact copy, alone in a release, would be noticed.
    standing_out : float or None
        The same share of those who stand out; None without any.
    typical : float
        Median over people of the sum of log(1/f).
    needed : float
        What a sum must reach: log(n n* / level).
    n_columns : int
        Columns that vary.
    """

    ordinary: float
    standing_out: float | None
    typical: float
    needed: float
    n_columns: int

    @property
    def is_enough(self) -> bool:
        """Whether most copied people would be noticed, standing out or not."""
        return (
            min(self.ordinary, 1.0 if self.standing_out is None else self.standing_out) >= _ENOUGH
        )

    @property
    def more_columns(self) -> int:
        """How many columns more, as telling as the present ones, a typical person would need."""
        each = self.typical / max(1, self.n_columns)
        lacking = max(0.0, self.needed - self.typical)
        return math.ceil(lacking / each) if each > 0.0 else 0

    @property
    def advice(self) -> str:
        """What would raise the shares; empty where they are large."""
        if self.is_enough:
            return ""
        if self.more_columns:
            noun = "column" if self.more_columns == 1 else "columns"
            return (
                f"about {self.more_columns} more {noun} as telling as the present ones would let "
                "most people be told from chance; more rows of the same columns would not"
            )
        return "more rows would: what chance gives is known too roughly from these"


def how_noticed(
    lenses: Lenses, around: Surroundings, everybody: Everybody, *, person: float, equal: float
) -> Noticing:
    """Return how often an exact copy of one person would be noticed.

    Parameters
    ----------
    lenses, around, everybody
        What is known of the original.
    person, equal : float
        The levels of P and of the joint p by equal cells that lead to "look again".

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.everybody import look_at_everybody
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_surroundings
    >>> from icsa.privacy.standing_out import standing_out
    >>> def noticed(x):
    ...     lenses = fit_lenses(as_features(x, x))
    ...     around = measure_surroundings(lenses, standing_out(lenses))
    ...     return how_noticed(lenses, around, look_at_everybody(lenses), person=0.02, equal=0.005)
    >>> rng = np.random.default_rng(1)
    >>> wide, narrow = noticed(rng.normal(size=(100, 8))), noticed(rng.normal(size=(100, 2)))
    >>> wide.ordinary, narrow.ordinary, narrow.more_columns
    (1.0, 0.0, 2)
    """
    original = lenses.features.original
    n, n_released = original.n_rows, lenses.features.released.n_rows
    chosen = np.random.default_rng(_SEED).permutation(n)[:_SAMPLED]
    sums = equal_weights(original, np.sort(chosen)).sum(axis=1)
    seen = everybody.own * everybody.n <= equal
    return Noticing(
        ordinary=float(np.mean(seen)),
        standing_out=_standing_out(lenses, around, everybody, person, equal),
        typical=float(np.median(sums)),
        needed=math.log(n * n_released / equal),
        n_columns=lenses.n_varying,
    )


def _standing_out(
    lenses: Lenses, around: Surroundings, everybody: Everybody, person: float, equal: float
) -> float | None:
    rows = around.people.rows
    if not rows.size:
        return None
    n, n_released = lenses.original.shape[1], lenses.released.shape[1]
    # An exact copy of rounded cells is as far away as two draws within a step.
    steps = np.where(np.isfinite(lenses.scales), lenses.features.grids / lenses.scales, 0.0)
    copy = math.sqrt(float(np.sum(steps**2)) / 6.0)
    alone = around.d_org["E"]
    rho = np.where(alone > 0.0, copy / np.where(alone > 0.0, alone, 1.0), np.inf)
    p = around.chances["E"].of(rho, n, n_released)
    by_distance = around.weights * p <= person
    places = {row: k for k, row in enumerate(everybody.own_people.tolist())}
    by_cells = np.array(
        [
            row in places and everybody.own[places[row]] * everybody.n <= equal
            for row in rows.tolist()
        ]
    )
    return float(np.mean(by_distance | by_cells))
