"""How scores are masked: in which coordinates, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from icsa.errors import InputError, UnknownNameError
from icsa.masks import MASKS
from icsa.scatters import resolve

__all__ = ["Method", "MethodOptions", "method_of"]

_SPECTRAL = ("identity", "cov")
_ROBUST = ("mcd50", "mcd75")


class MethodOptions(TypedDict, total=False):
    """The keywords of `method_of`, for functions that hand them on."""

    method: str | None
    scatters: Sequence[str] | None
    mask: str | None
    raw_units: bool


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method with all its choices made.

    Attributes
    ----------
    name : "icsa" or "sa"
    scatters : pair of str
        Whose coordinates are masked.
    mask : str, optional
        One of `icsa.masks.MASKS`; None is what the recipe says.
    raw_units : bool
        Whether columns are left in their own units; by default they are standardised.
    asked_for : bool
        Whether somebody named the method or its scatters: then no other is taken instead.
    """

    name: str
    scatters: tuple[str, str]
    mask: str | None
    raw_units: bool
    asked_for: bool = True


def method_of(
    method: str | None = None,
    scatters: Sequence[str] | None = None,
    mask: str | None = None,
    raw_units: bool = False,
) -> Method:
    """Return the method that options name; `icsa.release.anonymize` explains each.

    Examples
    --------
    >>> method_of().scatters, method_of("sa").scatters
    (('mcd50', 'mcd75'), ('identity', 'cov'))
    """
    if mask is not None and mask not in MASKS:
        raise UnknownNameError("mask", mask, MASKS)
    if raw_units and method != "sa":
        raise InputError(
            "Raw units go with spectral anonymization: other methods do not see units. Leave "
            "--raw-units (raw_units) out, or use --method sa (method='sa')."
        )
    name = method or "icsa"
    return Method(
        name=name,
        scatters=_scatters(name, scatters),
        mask=mask,
        raw_units=raw_units,
        asked_for=method is not None or scatters is not None,
    )


def _scatters(method: str, scatters: Sequence[str] | None) -> tuple[str, str]:
    """Return the names of the pair that a method uses."""
    if method not in ("icsa", "sa"):
        raise InputError(f"No method {method!r}: there are 'icsa' and 'sa'.")
    if method == "sa":
        if scatters is not None and tuple(scatters) != _SPECTRAL:
            raise InputError(
                "Spectral anonymization has no scatters to choose: leave them out, or use the "
                "method 'icsa'."
            )
        return _SPECTRAL
    if scatters is None:
        return _ROBUST
    if isinstance(scatters, str) or len(scatters) != 2:
        raise InputError("Scatters are a pair, such as mcd50,mcd75.")
    first, second = (resolve(name) for name in scatters)
    if first.name == second.name:
        raise InputError(f"--scatters names {first.name!r} twice. Give two that differ.")
    if first.function == second.function:
        raise InputError(
            f"The scatters {first.name!r} and {second.name!r} are one and the same. Give two that "
            "differ."
        )
    return first.name, second.name
