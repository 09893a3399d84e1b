"""Tables with a lone person, and their releases, for the tests of attacks."""

from __future__ import annotations

import warnings

import numpy as np

from icsa import invariant_coordinates, masked_copy
from icsa.ics import InvariantCoordinates
from icsa.matrices import Matrix


def people(n: int, p: int, seed: int, *, severity: float = 0.0) -> Matrix:
    """Return correlated normal rows around zero; the last one `severity` deviations out."""
    rng = np.random.default_rng(seed)
    mixing = np.linalg.qr(rng.normal(size=(p, p)))[0] * np.linspace(1.0, 2.0, p)
    z = rng.normal(size=(n, p))
    if severity:
        direction = rng.normal(size=p)
        z[-1] = severity * direction / np.linalg.norm(direction)
    return z @ mixing.T


def released(
    x: Matrix,
    mask: str,
    seed: int,
    *,
    decorrelate: bool = False,
    scatters: tuple[str, str] = ("mcd50", "mcd75"),
) -> tuple[Matrix, InvariantCoordinates]:
    """Return a release of `x` and the map that it was made with."""
    coordinates = invariant_coordinates(x, scatters=scatters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flip with few columns keeps some rows, as it says
        table = masked_copy(
            x, coordinates, mask=mask, decorrelate=decorrelate, random_state=seed, threads=1
        )
    return table, coordinates
