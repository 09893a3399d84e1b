"""Recipes: named sets of choices for the way from a table to its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from icsa.errors import InputError, UnknownNameError
from icsa.masks import MASKS

__all__ = ["CHOICES", "RECIPES", "SCALES", "Recipe", "Scale", "require_choices", "resolve_recipe"]

Scale: TypeAlias = Literal["linear", "power", "quantile"]
SCALES: tuple[Scale, ...] = get_args(Scale)

_SWITCHES = ("keep_quantiles", "find_relations", "split_zeros", "exact_counts")
_MOST_ROUNDS = 100
CHOICES = ("scale", "calibration_rounds", *_SWITCHES, "mask")


def require_choices(chosen: Mapping[str, Any]) -> None:
    """Raise an `InputError` where a choice, or what is chosen, does not exist.

    Examples
    --------
    >>> require_choices({"scale": "linear", "calibration_rounds": 2})
    >>> require_choices({"split_zeros": 1})
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: split_zeros must be true or false (True or False in Python).
    """
    for choice, value in chosen.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if choice not in CHOICES:
            raise UnknownNameError("choice of a recipe", choice, CHOICES)
        if choice == "scale" and value not in SCALES:
            raise UnknownNameError("scale", str(value), SCALES)
        if choice == "calibration_rounds" and not (whole and 0 <= value <= _MOST_ROUNDS):
            raise InputError(f"{choice} must be a whole number from 0 to {_MOST_ROUNDS}.")
        if choice == "mask" and value not in MASKS:
            raise UnknownNameError("mask", str(value), MASKS)
        if choice in _SWITCHES and not isinstance(value, bool):
            raise InputError(f"{choice} must be true or false (True or False in Python).")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The choices of one way through; a schema file can override each.

    Attributes
    ----------
    name : str
    scale : "linear", "power" or "quantile"
        How continuous columns are encoded: as they are; by a power with straight tails; by their
        quantiles with far tails cut.
    calibration_rounds : int
        How often the correlations of the decoded release are compared with the original's and the
        masked scores moved; 0 leaves them as the mask made them.
    keep_quantiles : bool
        Whether the central quantiles of measurements are brought back before they are decoded.
    find_relations : bool
        Whether exact relations between columns are looked for and kept.
    split_zeros : bool
        Whether columns with many equal cells are coded in two parts.
    exact_counts : bool
        Whether levels, zeros and missing cells are as many as in the original, and quantiles its
        own; or all of these are moved by a few people, drawn by the key.
    mask : str
        What hides each coordinate, one of `icsa.masks.MASKS`.
    """

    name: str
    scale: Scale = "power"
    calibration_rounds: int = 6
    keep_quantiles: bool = True
    find_relations: bool = True
    split_zeros: bool = True
    exact_counts: bool = True
    mask: str = "redraw"

    def __post_init__(self) -> None:
        """Refuse choices that do not exist."""
        require_choices({choice: getattr(self, choice) for choice in CHOICES})

    def describe(self) -> str:
        """Return its name, and what is chosen otherwise than in the recipe of this name.

        Examples
        --------
        >>> resolve_recipe("mixed", {"calibration_rounds": 2}).describe()
        'mixed with calibration_rounds 2'
        """
        usual = RECIPES.get(self.name, self)
        chosen = {choice: getattr(self, choice) for choice in CHOICES}
        changed = [f"{c} {str(v).lower()}" for c, v in chosen.items() if v != getattr(usual, c)]
        return f"{self.name} with {', '.join(changed)}" if changed else self.name


RECIPES: dict[str, Recipe] = {
    "mixed": Recipe(name="mixed"),
    "topcode": Recipe(name="topcode", scale="quantile"),
    "paper": Recipe(
        name="paper",
        scale="linear",
        calibration_rounds=0,
        keep_quantiles=False,
        find_relations=False,
        split_zeros=False,
        mask="permute",
    ),
}


def resolve_recipe(name: str, overrides: Mapping[str, Any] | None = None) -> Recipe:
    """Return the recipe of that name with some choices replaced.

    Examples
    --------
    >>> resolve_recipe("mixed", {"calibration_rounds": 2}).calibration_rounds
    2
    """
    if name not in RECIPES:
        raise UnknownNameError("recipe", name, RECIPES)
    require_choices(overrides or {})
    return replace(RECIPES[name], **(overrides or {}))
