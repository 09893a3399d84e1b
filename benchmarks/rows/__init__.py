"""The rows of the table, one module for each hot path."""

from __future__ import annotations

from benchmarks.results import Case
from benchmarks.rows import (
    fixed_points,
    growth,
    large_files,
    lasso,
    masking,
    mcd,
    starting,
    studies,
    tables,
)
from benchmarks.rows.settings import Settings

__all__ = ["Settings", "all_cases"]


def all_cases(settings: Settings) -> list[Case]:
    """Return every case, in the order of the table."""
    modules = (mcd, fixed_points, masking, lasso, studies, tables, large_files, starting, growth)
    return [case for module in modules for case in module.cases(settings)]
