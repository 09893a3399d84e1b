"""Anonymize tables about people in which some stand out.

A release is the table rebuilt after permuting its robust coordinates. Public names are imported
when first used, so that ``import icsa`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icsa import errors, masks, randomness, scatters
    from icsa.anonymization import anonymize_matrix, masked_copy
    from icsa.assessment import Assessment, assess
    from icsa.estimators import ICS, ICSAnonymizer, SpectralAnonymizer
    from icsa.ics import InvariantCoordinates, invariant_coordinates
    from icsa.release import Release, anonymize
    from icsa.scatters import LocationScatter

__version__ = "0.1.0"

__all__ = [
    "ICS",
    "Assessment",
    "ICSAnonymizer",
    "InvariantCoordinates",
    "LocationScatter",
    "Release",
    "SpectralAnonymizer",
    "anonymize",
    "anonymize_matrix",
    "assess",
    "errors",
    "invariant_coordinates",
    "masked_copy",
    "masks",
    "randomness",
    "scatters",
]

_HOMES = {
    "Assessment": "assessment",
    "ICS": "estimators",
    "ICSAnonymizer": "estimators",
    "InvariantCoordinates": "ics",
    "LocationScatter": "scatters",
    "Release": "release",
    "SpectralAnonymizer": "estimators",
    "anonymize": "release",
    "anonymize_matrix": "anonymization",
    "assess": "assessment",
    "invariant_coordinates": "ics",
    "masked_copy": "anonymization",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOMES:
        return importlib.import_module(f"icsa.{name}")
    value = getattr(importlib.import_module(f"icsa.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
