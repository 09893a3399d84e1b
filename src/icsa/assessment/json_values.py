"""Parts that both halves of the document share: a measure, and numbers that JSON knows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from icsa.measures import Measure

__all__ = ["DIGITS", "measure_dict", "rounded", "tidy"]

# Significant digits of the public edition.
DIGITS = 3


def measure_dict(
    measure: Measure, *, label: str | None = None, definition: str, good: str = ""
) -> dict[str, Any]:
    """Return a measure as plain values."""
    return {
        "label": label or measure.name,
        "value": measure.value,
        "low": measure.low,
        "high": measure.high,
        "n": measure.n,
        "direction": measure.direction,
        "reason": measure.reason or None,
        "definition": definition,
        "also": [],
        "good": good,
        "ends": {"copy": None, "shuffled": None},
    }


def rounded(value: float, digits: int) -> float | None:
    """Return a number with so many significant digits; None for one that is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def tidy(value: Any, digits: int | None) -> Any:
    """Return the same without numbers that JSON does not know, rounded where that is asked for."""
    if isinstance(value, Mapping):
        return {str(key): tidy(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(item, digits) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return rounded(value, digits or 17)
    return value
