"""Which method a table gets where nobody asked for one: robust coordinates, or forests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from icsa.errors import InputError
from icsa.forests.beyond_lines import ROWS_LOOKED_AT
from icsa.forests.limits import LIMITS as LIMITS_OF_FORESTS
from icsa.recipes import Recipe
from icsa.release.limits import LIMITS
from icsa.release.methods import Method, method_of
from icsa.release.seen_curves import explained_by_curves, strong_curves
from icsa.schema import Schema

__all__ = ["Choice", "chosen_method", "n_looked_at", "require_no_mask_chosen"]


class Choice(NamedTuple):
    """A method, and in a sentence why it was taken; empty where somebody asked for it."""

    method: Method
    why: str = ""


def chosen_method(
    method: Method, curved: Mapping[str, float], n_rows: int, *, coordinates: bool
) -> Choice:
    """Return forests where curves are strong and rows suffice, otherwise robust coordinates.

    Parameters
    ----------
    method : Method
        As it was asked for, or what works of coordinates.
    curved : mapping of str to float
        By column, what curves explain beyond lines.
    n_rows : int
    coordinates : bool
        Whether a mask is asked for, or there are too few rows for forests: then no other comes.

    Examples
    --------
    >>> chosen_method(method_of(), {"wage": 0.08}, 2_000, coordinates=False).method.name
    'forest'
    >>> print(chosen_method(method_of(), {"wage": 0.01}, 2_000, coordinates=False).why)
    icsa was taken by itself: no column has strong curves. The other: --method forest
    """
    if method.asked_for or method.mask is not None:
        return Choice(method)
    of_coordinates = method_of("icsa") if method.name == "auto" else method
    name = of_coordinates.name
    taken, strong = f"{name} was taken by itself:", strong_curves(curved)
    if coordinates or method.straight:
        return Choice(of_coordinates)
    if not strong:
        return Choice(
            of_coordinates,
            f"{taken} no column has strong curves. The other: --method forest",
        )
    explained = explained_by_curves(strong)
    if max(strong.values()) < LIMITS.curves_for_forests:
        return Choice(
            of_coordinates,
            f"{taken} {explained} beyond straight lines, and forests are taken from "
            f"{LIMITS.curves_for_forests:.0%} on. The other: --method forest",
        )
    if n_rows < LIMITS.rows_for_forests:
        return Choice(
            of_coordinates,
            f"{taken} {explained} beyond straight lines, but {n_rows} rows are fewer than the "
            f"{LIMITS.rows_for_forests} that forests need. The other: --method forest",
        )
    return Choice(
        method_of("forest"),
        f"forest was taken by itself: {explained} beyond straight lines, which icsa would lose; it "
        "hides people slightly less well. The other: --method icsa",
    )


def require_no_mask_chosen(method: Method, schema: Schema) -> None:
    """Refuse a mask in a schema where nothing is masked."""
    if method.name == "forest" and "mask" in schema.recipe:
        raise InputError(
            "The schema chooses a mask, and forests draw every column anew: nothing is masked. "
            "Take the mask out of the schema's [recipe], or use --method icsa."
        )


def n_looked_at(method: Method, recipe: Recipe) -> int:
    """Return how many rows are looked at for curves; none where a recipe looks for nothing."""
    if method.name == "forest" or (method.name == "auto" and recipe.find_relations):
        return LIMITS_OF_FORESTS.most_rows
    return ROWS_LOOKED_AT if recipe.find_relations else 0
