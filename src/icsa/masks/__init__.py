"""Masks hide every component of the scores on its own: by order, sign or direction, or drawn anew.

A mask is a function ``(z, *, key) -> Matrix`` of the scores (rows are people, columns are
components). Component j draws from the key's stream of the mask's name and number j, so the result
depends on the scores and the key only. `decorrelate` is a second step after any mask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from icsa.errors import InputError, UnknownNameError
from icsa.masks.base import Mask, source_and_target
from icsa.masks.decorrelation import Moments, decorrelate, moments
from icsa.masks.members import MASKS, drawn_permutation, flip, permute, rotate
from icsa.masks.redrawing import redraw
from icsa.matrices import Matrix, as_matrix
from icsa.randomness import as_key

__all__ = [
    "MASKS",
    "Mask",
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


def resolve(mask: str | Callable[..., Any]) -> Mask:
    """Return the mask of that name, or a function ``(z, *, key)`` made into one.

    Such a function is handed a `Key`, and may return anything that is a table of z's shape.

    Examples
    --------
    >>> resolve("permute") is permute
    True
    >>> resolve(lambda z, *, key: z[::-1])(np.array([[1.0], [2.0]]), key=None)
    array([[2.],
           [1.]])
    """
    if isinstance(mask, str):
        if mask not in MASKS:
            raise UnknownNameError("mask", mask, MASKS)
        return MASKS[mask]
    if not callable(mask):
        raise InputError(
            f"A mask is a name ({', '.join(sorted(MASKS))}) or a function (z, *, key): "
            f"got an object of type {type(mask).__name__}."
        )
    return mask if mask in MASKS.values() else _completed(mask)


def _completed(function: Callable[..., Any]) -> Mask:
    """Return `function` with the keywords of a mask and its result checked."""

    @wraps(function)
    def mask(z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1) -> Matrix:  # noqa: ARG001
        source, target = source_and_target(z, out)
        masked = as_matrix(function(source, key=as_key(key)))
        if masked.shape != source.shape:
            raise InputError(
                f"A mask must keep the shape of the scores, {source.shape}: got {masked.shape}."
            )
        np.copyto(target, masked)
        return target

    return mask
