"""Options and fixtures that every test shares."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from icsa import compilation

settings.register_profile(
    "fast",
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", parent=settings.get_profile("fast"), max_examples=300, derandomize=False
)

REFERENCE = Path(__file__).parent / "reference"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough", action="store_true", help="long simulations and many hypothesis examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Which test is the first to need a kernel is chance; what it expects on standard error is not.
    os.environ[compilation.SILENT] = "1"
    settings.load_profile("thorough" if config.getoption("--thorough") else "fast")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--thorough"):
        return
    for item in items:
        if "thorough" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="long simulation: run with --thorough"))


@cache
def load_reference(name: str) -> tuple[np.ndarray, dict[str, Any]]:
    """Return a reference table and the values that R gave for it."""
    table = np.loadtxt(REFERENCE / f"{name}.csv", delimiter=",", skiprows=1)
    return table, json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))
