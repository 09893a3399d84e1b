"""Names of functions stay names of functions, whatever was imported before."""

from __future__ import annotations

import pkgutil

import icsa.masks
import icsa.scatters


def test_no_module_hides_a_function() -> None:
    for package in (icsa.scatters, icsa.masks):
        modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
        assert modules.isdisjoint(package.__all__)
