"""Names of masks, what is known of each, and what else can stand for one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from icsa.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from icsa.masks.base import Mask
    from icsa.matrices import Matrix

__all__ = ["MASKS", "MaskRecord", "record_of", "resolve"]


@dataclass(frozen=True, kw_only=True)
class MaskRecord:
    """A mask by name, called as ``record(z, key=key)``, and what others ask of it.

    Attributes
    ----------
    name : str
    load : function
        Gives the mask, and imports its module at the first call: names alone need no kernels.
    keeps_rows : bool
        Whether every row stays in its place, so that a release shuffles rows besides.
    keeps_scores : bool
        Whether each component has the scores that it had, in another order.
    signs_only : bool
        Whether nothing but signs changes, so that a row of p components stays as it is with
        probability 2^-p.
    draws_anew : bool
        Whether scores are drawn, with moments of their own, which are decorrelated by default.
    """

    name: str
    load: Callable[[], Mask]
    keeps_rows: bool = False
    keeps_scores: bool = False
    signs_only: bool = False
    draws_anew: bool = False

    def __call__(
        self, z: Matrix, *, key: object, out: Matrix | None = None, threads: int = 1, first: int = 0
    ) -> Matrix:
        """Return the masked scores."""
        return self.load()(z, key=key, out=out, threads=threads, first=first)


def _member(module: str, name: str) -> Mask:
    mask: Mask = getattr(importlib.import_module(f"icsa.masks.{module}"), name)
    return mask


MASKS: dict[str, MaskRecord] = {
    mask.name: mask
    for mask in (
        MaskRecord(name="redraw", load=partial(_member, "redrawing", "redraw"), draws_anew=True),
        MaskRecord(name="permute", load=partial(_member, "members", "permute"), keeps_scores=True),
        MaskRecord(
            name="flip", load=partial(_member, "members", "flip"), keeps_rows=True, signs_only=True
        ),
        MaskRecord(name="rotate", load=partial(_member, "members", "rotate"), keeps_rows=True),
    )
}


def resolve(mask: str | Callable[..., Any]) -> Mask:
    """Return the mask of that name, or a function ``(z, *, key)`` made into one.

    Such a function is handed a `Key`, and may return anything that is a table of z's shape.

    Examples
    --------
    >>> import numpy as np
    >>> resolve("permute").__name__
    'permute'
    >>> resolve(lambda z, *, key: z[::-1])(np.array([[1.0], [2.0]]), key=None)
    array([[2.],
           [1.]])
    """
    if isinstance(mask, str):
        if mask not in MASKS:
            raise UnknownNameError("mask", mask, MASKS)
        return MASKS[mask].load()
    if not callable(mask):
        raise InputError(
            f"A mask is a name ({', '.join(sorted(MASKS))}) or a function (z, *, key): "
            f"got an object of type {type(mask).__name__}."
        )
    return mask if mask in [known.load() for known in MASKS.values()] else _completed(mask)


def record_of(mask: Mask) -> MaskRecord:
    """Return what is known of a mask that `resolve` gave: of a function of people's own, nothing.

    Examples
    --------
    >>> record_of(resolve("rotate")).keeps_rows
    True
    """
    own = MaskRecord(name="", load=lambda: mask)
    return next((known for known in MASKS.values() if known.load() is mask), own)


def _completed(function: Callable[..., Any]) -> Mask:
    """Return `function` with the keywords of a mask and its result checked."""
    import numpy as np

    from icsa.masks.base import source_and_target
    from icsa.matrices import as_matrix
    from icsa.randomness import as_key

    @wraps(function)
    def mask(
        z: Matrix,
        *,
        key: object,
        out: Matrix | None = None,
        threads: int = 1,  # noqa: ARG001
        first: int = 0,  # noqa: ARG001
    ) -> Matrix:
        source, target = source_and_target(z, out)
        masked = as_matrix(function(source, key=as_key(key)))
        if masked.shape != source.shape:
            raise InputError(
                f"A mask must keep the shape of the scores, {source.shape}: got {masked.shape}."
            )
        np.copyto(target, masked)
        return target

    return mask
