"""Anonymize tables about people in which some stand out.

A release is the table rebuilt after masking its robust coordinates, one by one. Public names are
imported when first used, so that ``import icsa`` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icsa.lazily import imported_when_asked

if TYPE_CHECKING:
    from icsa import errors, masks, randomness, scatters
    from icsa.anonymization import anonymize_matrix, masked_copy
    from icsa.assessment import Assessment, Attacks, assess, attack
    from icsa.choice import Compared, compare
    from icsa.estimators import ICS, ICSAnonymizer, SpectralAnonymizer
    from icsa.ics import InvariantCoordinates, invariant_coordinates
    from icsa.release import Release, anonymize
    from icsa.scatters import LocationScatter

__version__ = "0.1.0"

__all__ = [
    "ICS",
    "Assessment",
    "Attacks",
    "Compared",
    "ICSAnonymizer",
    "InvariantCoordinates",
    "LocationScatter",
    "Release",
    "SpectralAnonymizer",
    "anonymize",
    "anonymize_matrix",
    "assess",
    "attack",
    "compare",
    "errors",
    "invariant_coordinates",
    "masked_copy",
    "masks",
    "randomness",
    "scatters",
]

_HOMES = {
    "Assessment": "assessment",
    "Attacks": "assessment",
    "Compared": "choice",
    "ICS": "estimators",
    "ICSAnonymizer": "estimators",
    "InvariantCoordinates": "ics",
    "LocationScatter": "scatters",
    "Release": "release",
    "SpectralAnonymizer": "estimators",
    "anonymize": "release",
    "anonymize_matrix": "anonymization",
    "assess": "assessment",
    "attack": "assessment",
    "compare": "choice",
    "errors": "",
    "invariant_coordinates": "ics",
    "masked_copy": "anonymization",
    "masks": "",
    "randomness": "",
    "scatters": "",
}

__getattr__ = imported_when_asked(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
