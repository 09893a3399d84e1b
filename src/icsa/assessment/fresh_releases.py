"""The risk before a key is drawn, for releases whose plan is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from icsa.comparison.features import FeatureTable
from icsa.comparison.matching import Comparison
from icsa.errors import InputError
from icsa.ics import InvariantCoordinates
from icsa.masks import MASKS
from icsa.randomness import as_key
from icsa.release import Plan, release
from icsa.release.design_plans import DesignPlan

__all__ = [
    "FEWEST_REDRAWS",
    "Before",
    "how_before",
    "linear_coordinates",
    "usual_redraws",
    "usual_redraws_by",
]

# With fewer, somebody of whom no release has a replica cannot be told from a risk of .1.
FEWEST_REDRAWS = 30
# Cells up to which releases are made again without being asked to.
_MOST_CELLS = 2_000_000
_FEW_CELLS = 100_000
# Fixed, and no secret: nobody gets these releases, and whoever assesses a recipe twice gets the
# same answer, so that trying again changes nothing.
_SEED = 20_008


@dataclass(frozen=True, eq=False, repr=False)
class Before:
    """How Lambda is to be found: from the fitted map, from fresh releases, or not at all."""

    coordinates: InvariantCoordinates | None = None
    redraw: Callable[[int], FeatureTable] | None = None
    n_redraws: int = 0
    note: str = ""


def how_before(comparison: Comparison, plan: Plan | DesignPlan | None, redraws: int) -> Before:
    """Return how the risk before any key is found for this table.

    The fitted map is enough where the recipe is linear and nothing is missing, calibrated or
    recomputed; otherwise the release is made again under fresh keys.
    """
    if redraws < 0:
        raise InputError(f"redraws must be 0 or larger: got {redraws}.")
    if plan is None:
        if redraws:
            raise InputError(
                "Releases can be made again only by the plan that made this one: give it as plan=."
            )
        return Before()
    coordinates = linear_coordinates(comparison, plan) if isinstance(plan, Plan) else None
    rows, columns = comparison.files.original.frame.shape
    count = redraws
    if not count and (coordinates is None or rows < 10_000):
        count = usual_redraws_by(plan, rows * columns)
    note = ""
    if not count and coordinates is None:
        note = (
            "The risk before any key is drawn was not estimated, as the table is large. Ask for "
            f"it by {FEWEST_REDRAWS} redraws or more; each takes as long as the release did."
        )

    keys = as_key(_SEED).child("fresh releases")

    def redraw(number: int) -> FeatureTable:
        fresh = release(plan, keys.child("key", number))
        return comparison.encode(fresh.table.frame)

    return Before(coordinates, redraw if count else None, count, note)


def usual_redraws(n_cells: int, *, calibrated: bool) -> int:
    """Return how many releases are made when nobody says how many; 0 for large tables.

    Calibration takes most of the time of a release, so that fewer are made with it.

    Examples
    --------
    >>> usual_redraws(5_000, calibrated=False), usual_redraws(5_000, calibrated=True)
    (300, 100)
    >>> usual_redraws(200_000, calibrated=True), usual_redraws(20_000_000, calibrated=True)
    (30, 0)
    """
    if n_cells > _MOST_CELLS:
        return 0
    if not calibrated:
        return 300 if n_cells <= _FEW_CELLS else 100
    return 100 if n_cells <= _FEW_CELLS else FEWEST_REDRAWS


def usual_redraws_by(plan: Plan | DesignPlan, n_cells: int) -> int:
    """Return how many releases a plan makes when nobody says how many.

    A plan made of others takes several times as long as one of as many cells.
    """
    if isinstance(plan, Plan):
        return usual_redraws(n_cells, calibrated=plan.wanted is not None)
    return min(FEWEST_REDRAWS, usual_redraws(n_cells, calibrated=True))


def linear_coordinates(comparison: Comparison, plan: Plan) -> InvariantCoordinates | None:
    """Return the map from the compared numbers to coordinates, where the recipe is linear.

    The plan's coordinates are of standardised scores, s = (x - c) / d with one score a column. In
    the columns' own units the location is c + d T, the mixing matrix diag(d) A and W diag(1/d).
    """
    if plan.coordinates is None:
        return None
    names = tuple(column.name for column in comparison.columns)
    parts = plan.encoding.parts
    plain = (
        MASKS[plan.mask].keeps_scores
        and plan.wanted is None
        and not (plan.derivation.computed or plan.derivation.gaps)
        and not plan.encoding.group_shares
        and plan.coordinates._space is None
        and all(column.levels is None for column in comparison.columns)
        and tuple(part.column.name for part in parts) == names
        and not any(np.isnan(column.original).any() for column in comparison.columns)
    )
    if not plain:
        return None
    scales = [scale for part in parts if (scale := part.column.straight) is not None]
    if len(scales) < len(parts):
        return None
    centres, spreads = (
        np.array([getattr(s, name) for s in scales]) for name in ("centre", "spread")
    )
    centre, spread = centres + plan.centre * spreads, plan.spread * spreads
    found = plan.coordinates
    return replace(
        found,
        location=centre + spread * found.location,
        unmixing=found.unmixing / spread,
        mixing=found.mixing * spread[:, None],
        _factor=found._factor * spread[:, None],
    )
