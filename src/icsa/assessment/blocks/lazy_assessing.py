"""Frames that are not in memory, polars' LazyFrame and Dask's, assessed by way of files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from icsa.assessment.asked import Asked
from icsa.assessment.assessing import Assessment
from icsa.assessment.blocks.large_assessing import Wanted, assess_stored
from icsa.errors import InputError
from icsa.limits import LONG
from icsa.release.blocks.ground import Resources, free_memory, memory_of_a_column
from icsa.release.blocks.lazy_frames import stored_frame
from icsa.tables import Table, from_frame
from icsa.tables.frames import is_lazy
from icsa.tables.spooled_text import store_columns
from icsa.tables.stored import StoredTable

__all__ = ["assess_lazily"]

_TABLES = ("original", "released", "against")
# What takes all rows in memory.
_REFUSED = ("also_released", "plan", "redraws", "rehearse")
# What is said of the rows.
_DESIGN = ("unit", "time", "bound", "role", "weight", "strata")


def assess_lazily(
    given: Mapping[str, Any],
    in_memory: Callable[..., Assessment],
    made: Mapping[str, Any] | None,
) -> Assessment:
    """Return the assessment of tables of which at least one is not in memory.

    They are computed once, into files that are private and gone at the end. Where the original has
    up to 200,000 rows, all are collected.

    Parameters
    ----------
    given : mapping
        Parameters of `icsa.assessment.assess`.
    in_memory : function
        That function.
    made : mapping, optional
        How the release was made.
    """
    with tempfile.TemporaryDirectory(prefix="icsa-") as name:  # only its owner may read it
        folder = Path(name)
        tables = {
            role: _stored(given[role], folder / role) for role in _TABLES if given[role] is not None
        }
        if tables["original"].n_rows <= LONG:
            frames = {role: _collected(given[role], table) for role, table in tables.items()}
            return in_memory(**{**given, **frames})
        _require_possible(given)
        most = max(table.n_rows for table in tables.values())
        memory = max(2 * memory_of_a_column(most), int(free_memory()))
        told: Callable[[str, float], None] = given["progress"] or (lambda _stage, _share: None)
        return assess_stored(
            tables["original"],
            tables["released"],
            Resources(memory=memory, scratch=folder),
            _wanted(given, made),
            told,
            against=tables.get("against"),
        )


def _stored(frame: Any, folder: Path) -> StoredTable:
    if is_lazy(frame):
        return stored_frame(frame, folder)
    table = frame if isinstance(frame, Table) else from_frame(frame)
    return store_columns(table, folder, folder)


def _collected(frame: Any, table: StoredTable) -> Any:
    if not is_lazy(frame):
        return frame
    return pl.DataFrame([table.column(name).frame[name] for name in table.names])


def _require_possible(given: Mapping[str, Any]) -> None:
    refused = next((name for name in _REFUSED if given[name]), None)
    if refused is not None:
        raise InputError(
            f"{refused} needs the tables in memory, and a frame that is not in memory was given. "
            "Leave it out, or collect the frames."
        )


def _wanted(given: Mapping[str, Any], made: Mapping[str, Any] | None) -> Wanted:
    holdout = given["holdout"]
    if holdout is not None and not isinstance(holdout, Table):
        holdout = from_frame(holdout)
    files = given["files"] or {}
    return Wanted(
        schema=given["schema"],
        design={name: given[name] for name in _DESIGN},
        outliers=given["outliers"],
        policy=given["policy"],
        asked=Asked(
            models=tuple(given["models"]),
            analyses=dict(given["utility"] or {}),
            classify=tuple(given["classify"]),
            clusters=given["clusters"],
            select=tuple(given["select"]),
        ),
        holdout=holdout,
        files={role: None if path is None else Path(path) for role, path in files.items()},
        prepared_by=given["prepared_by"],
        decided_by=given["decided_by"],
        making=made,
        are_frames=True,
    )
