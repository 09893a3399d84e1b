"""Locations and scatters: functions of a table whose rows are people.

Every scatter takes a float64 matrix and returns a frozen `LocationScatter`. `resolve` finds one by
name; the functions themselves take parameters: ``mcd(x, alpha=0.6)``. They are imported when first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icsa.lazily import imported_when_asked
from icsa.scatters.base import LocationScatter, Scatter
from icsa.scatters.registry import SCATTERS, ResolvedScatter, resolve

if TYPE_CHECKING:
    from icsa.scatters.anchored_estimate import anchored
    from icsa.scatters.hettmansperger_randles import hr
    from icsa.scatters.mcd_estimate import mcd
    from icsa.scatters.mm_estimate import mm
    from icsa.scatters.moments import cov, cov4, cov_axis, cov_w, identity, variances
    from icsa.scatters.mrcd_estimate import mrcd
    from icsa.scatters.ogk_estimate import ogk
    from icsa.scatters.pairs import duembgen, symm_huber
    from icsa.scatters.rank_shape import hp1
    from icsa.scatters.s_estimate import s
    from icsa.scatters.t_estimate import tm
    from icsa.scatters.tyler_shape import tyler

__all__ = [
    "SCATTERS",
    "LocationScatter",
    "ResolvedScatter",
    "Scatter",
    "anchored",
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
    "anchored": "anchored_estimate",
    "cov": "moments",
    "cov4": "moments",
    "cov_axis": "moments",
    "cov_w": "moments",
    "duembgen": "pairs",
    "hp1": "rank_shape",
    "hr": "hettmansperger_randles",
    "identity": "moments",
    "mcd": "mcd_estimate",
    "mm": "mm_estimate",
    "mrcd": "mrcd_estimate",
    "ogk": "ogk_estimate",
    "s": "s_estimate",
    "symm_huber": "pairs",
    "tm": "t_estimate",
    "tyler": "tyler_shape",
    "variances": "moments",
}

__getattr__ = imported_when_asked(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
