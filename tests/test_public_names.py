"""Public names are sorted, resolve and are documented; icsa and its core load nothing heavy."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import icsa

API_PAGE = Path(__file__).parents[1] / "docs" / "api" / "index.rst"
MODULES = sorted(m.name for m in pkgutil.walk_packages(icsa.__path__, "icsa."))
DOCUMENTED = (
    "icsa",
    "icsa.attacks",
    "icsa.errors",
    "icsa.masks",
    "icsa.measures",
    "icsa.privacy",
    "icsa.randomness",
    "icsa.scatters",
    "icsa.tradeoff",
    "icsa.utility",
)


def rank(name: str) -> tuple[int, str]:
    """Order as ruff's RUF022: SCREAMING_CASE, CamelCase, then the rest."""
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and len(name) > 1:
        return 0, name
    return (1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("module", ["icsa", *MODULES])
def test_all_is_sorted_and_resolves(module: str) -> None:
    found = importlib.import_module(module)
    names = found.__all__
    assert names == sorted(set(names), key=rank)
    for name in names:
        assert getattr(found, name) is not None


def test_dir_lists_the_public_names() -> None:
    assert dir(icsa) == sorted(icsa.__all__)


@pytest.mark.parametrize("module", ["icsa", "icsa.scatters"])
def test_an_unknown_attribute_is_an_attribute_error(module: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        importlib.import_module(module).nothing  # noqa: B018


@pytest.mark.parametrize("module", DOCUMENTED)
def test_every_public_name_is_on_the_api_page(module: str) -> None:
    listed: dict[str, set[str]] = {}
    current = ""
    for line in API_PAGE.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            current = match[1]
        elif match := re.fullmatch(r"(?:   |\.\. data:: )(\w+)", line):
            listed.setdefault(current, set()).add(match[1])
    public = set(importlib.import_module(module).__all__)
    if module == "icsa":
        public -= {"errors", "masks", "randomness", "scatters"}  # have sections of their own
        public -= {"LocationScatter"}  # is on the page as icsa.scatters.LocationScatter
    assert listed[module] == public


def loaded_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running `code`."""
    printing = "import sys; print(*sys.modules, sep='\\n')"
    finished = subprocess.run(
        [sys.executable, "-c", f"{code}\n{printing}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return set(finished.stdout.split())


def test_importing_icsa_is_light() -> None:
    heavy = {"matplotlib", "numba", "pandas", "polars", "scipy", "sklearn"}
    assert not heavy & loaded_after("import icsa")


CORE = """
import numpy as np
from icsa import anonymize_matrix, invariant_coordinates, masked_copy
from icsa.scatters import SCATTERS
x = np.random.default_rng(0).normal(size=(60, 3))
for scatter in SCATTERS.values():
    scatter(x)
coordinates = invariant_coordinates(x)
for mask in ("flip", "permute", "rotate"):
    masked_copy(x, coordinates, mask=mask, decorrelate=True)
anonymize_matrix(x)
"""


def test_the_core_loads_neither_scikit_learn_nor_frames_nor_plots() -> None:
    foreign = {"matplotlib", "pandas", "polars", "scipy.stats", "sklearn"}
    assert not foreign & loaded_after(CORE)


FUNCTIONS_AFTER_SUBMODULES = """
import numpy as np
from icsa import scatters
x = np.random.default_rng(0).normal(size=(60, 3))
for scatter in scatters.SCATTERS.values():
    scatter(x)
    import icsa.scatters.mcd_estimate
modules = [name for name in scatters.__all__ if type(getattr(scatters, name)).__name__ == "module"]
assert not modules, modules
"""


def test_a_function_is_not_replaced_by_the_submodule_of_its_name() -> None:
    loaded_after(FUNCTIONS_AFTER_SUBMODULES)


def test_public_functions_are_no_modules() -> None:
    for name in icsa.scatters.__all__:
        assert not isinstance(getattr(icsa.scatters, name), ModuleType), name
