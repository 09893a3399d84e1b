"""Choices of a recipe that a schema file can make, held against what there is to choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icsa.errors import InputError, UnknownNameError

__all__ = ["CHOICES", "require_choices"]

_SCALES = ("linear", "power", "quantile")
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
        if choice not in CHOICES:
            raise UnknownNameError("choice of a recipe", choice, CHOICES)
        if choice == "scale" and value not in _SCALES:
            raise UnknownNameError("scale", str(value), _SCALES)
        if choice == "calibration_rounds" and not _is_number_of_rounds(value):
            raise InputError(f"{choice} must be a whole number from 0 to {_MOST_ROUNDS}.")
        if choice == "mask":
            _require_mask(value)
        if choice in _SWITCHES and not isinstance(value, bool):
            raise InputError(f"{choice} must be true or false (True or False in Python).")


def _require_mask(value: object) -> None:
    from icsa.masks import MASKS  # kernels, which reading a schema does without

    if value not in MASKS:
        raise UnknownNameError("mask", str(value), MASKS)


def _is_number_of_rounds(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_ROUNDS
