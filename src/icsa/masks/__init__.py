"""Masks hide every component of the scores on its own: by order, sign or direction, or drawn anew.

A mask is a function ``(z, *, key) -> Matrix`` of the scores (rows are people, columns are
components). Component j draws from the key's stream of the mask's name and number j, so the result
depends on the scores and the key only. `decorrelate` is a second step after any mask. Functions are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icsa.lazily import imported_when_asked
from icsa.masks.registry import MASKS, MaskRecord, resolve

if TYPE_CHECKING:
    from icsa.masks.base import Mask
    from icsa.masks.decorrelation import Moments, decorrelate, moments
    from icsa.masks.members import drawn_permutation, flip, permute, rotate
    from icsa.masks.redrawing import redraw

__all__ = [
    "MASKS",
    "Mask",
    "MaskRecord",
    "Moments",
    "decorrelate",
    "drawn_permutation",
    "flip",
    "moments",
    "permute",
    "redraw",
    "resolve",
    "rotate",
]

_HOMES = {
    "Mask": "base",
    "Moments": "decorrelation",
    "decorrelate": "decorrelation",
    "drawn_permutation": "members",
    "flip": "members",
    "moments": "decorrelation",
    "permute": "members",
    "redraw": "redrawing",
    "rotate": "members",
}

__getattr__ = imported_when_asked(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
