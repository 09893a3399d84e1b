"""Locations and scatters: functions of a table whose rows are people.

Every scatter takes a float64 matrix and returns a frozen `LocationScatter`. `resolve` finds one by
name; the functions themselves take parameters: ``mcd(x, alpha=0.6)``. They are imported when first
used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from icsa.scatters.base import LocationScatter, Scatter
from icsa.scatters.registry import SCATTERS, ResolvedScatter, resolve

if TYPE_CHECKING:
    from icsa.scatters.hp1 import hp1
    from icsa.scatters.hr import hr
    from icsa.scatters.mcd import mcd
    from icsa.scatters.mm import mm
    from icsa.scatters.moments import cov, cov4, cov_axis, cov_w, identity, variances
    from icsa.scatters.mrcd import mrcd
    from icsa.scatters.ogk import ogk
    from icsa.scatters.pairs import duembgen, symm_huber
    from icsa.scatters.s import s
    from icsa.scatters.tm import tm
    from icsa.scatters.tyler import tyler

__all__ = [
    "SCATTERS",
    "LocationScatter",
    "ResolvedScatter",
    "Scatter",
    "cov",
    "cov4",
    "cov_axis",
    "cov_w",
    "duembgen",
    "hp1",
    "hr",
    "identity",
    "mcd",
    "mm",
    "mrcd",
    "ogk",
    "resolve",
    "s",
    "symm_huber",
    "tm",
    "tyler",
    "variances",
]

_HOMES = {
    "cov": "moments",
    "cov4": "moments",
    "cov_axis": "moments",
    "cov_w": "moments",
    "duembgen": "pairs",
    "identity": "moments",
    "symm_huber": "pairs",
    "variances": "moments",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"icsa.scatters.{_HOMES.get(name, name)}"), name)
    globals()[name] = value  # over the submodule of the same name, and for the next time
    return value


def __dir__() -> list[str]:
    return __all__
