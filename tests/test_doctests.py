"""The examples in the docstrings of every module run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import icsa

MODULES = ["icsa", *sorted(m.name for m in pkgutil.walk_packages(icsa.__path__, "icsa."))]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report: list[str] = []
    for example in finder.find(module, name, globs={**vars(module), "np": np}):
        runner.run(example, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
