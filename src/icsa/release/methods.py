"""How scores are masked: in which coordinates, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from icsa.errors import InputError, UnknownNameError
from icsa.masks import MASKS
from icsa.scatters import resolve

__all__ = ["METHODS", "Method", "MethodOptions", "method_of"]

METHODS = ("auto", "icsa", "sa", "forest")

_SPECTRAL = ("identity", "cov")
_ROBUST = ("mcd50", "mcd75")


class MethodOptions(TypedDict, total=False):
    """The keywords of `method_of`, for functions that hand them on."""

    method: str | None
    scatters: Sequence[str] | None
    mask: str | None
    raw_units: bool
    straight: bool


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method with all its choices made.

    Attributes
    ----------
    name : "auto", "icsa", "sa" or "forest"
        "auto" is one of the others, once a table's curves are known.
    scatters : tuple of str
        The pair whose coordinates are masked; none for forests.
    mask : str, optional
        One of `icsa.masks.MASKS`; None is what the recipe says, or nothing for forests.
    raw_units : bool
        Whether columns are left in their own units; by default they are standardised.
    asked_for : bool
        Whether somebody named the method or its scatters: then no other is taken instead.
    straight : bool
        Whether "auto" is never forests: parts of one release are to be made alike.
    """

    name: str
    scatters: tuple[str, ...]
    mask: str | None
    raw_units: bool
    asked_for: bool = True
    straight: bool = False


def method_of(
    method: str | None = None,
    scatters: Sequence[str] | None = None,
    mask: str | None = None,
    raw_units: bool = False,
    straight: bool = False,
) -> Method:
    """Return the method that options name; `icsa.release.anonymize` explains each.

    Examples
    --------
    >>> method_of().name, method_of(mask="permute").name
    ('auto', 'icsa')
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
    name = method or "auto"
    if name == "auto" and (mask is not None or scatters is not None):
        name = "icsa"  # forests have no coordinates, which these are for
    if name == "forest":
        _require_nothing_to_mask(mask, scatters)
    return Method(
        name=name,
        scatters=_scatters(name, scatters),
        mask=mask,
        raw_units=raw_units,
        asked_for=method not in (None, "auto") or scatters is not None,
        straight=straight,
    )


def _require_nothing_to_mask(mask: str | None, scatters: Sequence[str] | None) -> None:
    """Refuse what is chosen for coordinates: forests have none."""
    for option, given in (("mask", mask), ("scatters", scatters)):
        if given is not None:
            raise InputError(
                f"Forests draw every column anew, given those before it: there are no coordinates "
                f"that --{option} ({option}) could be for. Leave it out, or use --method icsa."
            )


def _scatters(method: str, scatters: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the pair that a method uses."""
    if method not in METHODS:
        raise InputError(f"No method {method!r}: there are 'auto', 'icsa', 'sa' and 'forest'.")
    if method == "forest":
        return ()
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
