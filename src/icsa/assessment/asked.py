"""What was asked for: who is to be looked at, which analyses, and what these gave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.columns.readings import as_numbers
from icsa.comparison.matching import Comparison
from icsa.errors import InputError, UnknownNameError
from icsa.schema import NO_DESIGN, Design
from icsa.tables import Table
from icsa.utility.classification import (
    ClassificationTask,
    category_to_predict,
    classification_task,
)
from icsa.utility.clustering import ClusteringTask, clustering_task
from icsa.utility.models import Analysis
from icsa.utility.variable_selection import SelectionTask, numeric_response, selection_task

__all__ = ["Asked", "Failed", "Tasks", "check_asked", "read_outliers", "run_tasks"]

_Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Failed:
    """An analysis that could not be done on this pair of tables, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What somebody wants to know besides what every assessment tells.

    Attributes
    ----------
    models : tuple of str
        Formulas.
    analyses : mapping of str to callable
        Other analyses, by name.
    classify : tuple of str
        Columns to predict.
    clusters : int, optional
        Number of groups to find.
    select : tuple of str
        Responses to select variables for.
    design : Design
        Whom the rows are about: analyses go by it.
    """

    models: tuple[str, ...] = ()
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    classify: tuple[str, ...] = ()
    clusters: int | None = None
    select: tuple[str, ...] = ()
    design: Design = NO_DESIGN


@dataclass(frozen=True, eq=False, kw_only=True)
class Tasks:
    """What learning from the release instead of the original gave.

    Attributes
    ----------
    classification : tuple of ClassificationTask or Failed
    clustering : ClusteringTask, optional
    selection : tuple of SelectionTask or Failed
    """

    classification: tuple[ClassificationTask | Failed, ...] = ()
    clustering: ClusteringTask | None = None
    selection: tuple[SelectionTask | Failed, ...] = ()


def check_asked(asked: Asked, comparison: Comparison) -> None:
    """Refuse columns that are not there or of another kind, before any work is done."""
    if asked.clusters is not None and asked.clusters < 2:
        raise InputError(f"The number of groups must be at least 2: got {asked.clusters}.")
    columns = {column.name: column for column in comparison.columns}
    for name in (*asked.classify, *asked.select):
        if name in columns or name in comparison.only_original:
            continue
        if name in comparison.original.frame.columns:
            raise InputError(
                f"Column {name!r} is not compared, as identifiers, texts, constant columns and "
                "those to be dropped are not, nor one that marks outliers. Choose another column."
            )
        raise UnknownNameError("column", name, columns or comparison.original.frame.columns)
    for name in asked.classify:
        if name in columns:
            category_to_predict(columns[name])
    for name in asked.select:
        if name in columns:
            numeric_response(columns[name])


def run_tasks(asked: Asked, comparison: Comparison) -> Tasks:
    """Return what was learnt from both tables; a column that was not released has a reason."""
    columns = comparison.columns
    there = {column.name for column in columns}
    return Tasks(
        classification=tuple(
            classification_task(columns, name) if name in there else _not_released(name)
            for name in asked.classify
        ),
        clustering=None
        if asked.clusters is None
        else clustering_task(columns, n_clusters=asked.clusters),
        selection=tuple(
            selection_task(columns, name) if name in there else _not_released(name)
            for name in asked.select
        ),
    )


def _not_released(name: str) -> Failed:
    return Failed(name, f"column {name!r} is in the original but cannot be compared in the release")


def read_outliers(outliers: Any, table: Table) -> tuple[_Rows | None, str | None]:
    """Return the positions of outliers counted from 0, and the name of the column that marks them.

    Parameters
    ----------
    outliers : None, str, Path or array-like
        None: they are to be found. A name of a column of the original whose cells are true and
        false, or 1 and 0. A file with row numbers. Row numbers, counted from 1 as the rows of data
        in a file. A vector of True and False.
    table : Table
        The original.
    """
    if outliers is None:
        return None, None
    if isinstance(outliers, str) and outliers in table.frame.columns:
        return _of_column(outliers, table), outliers
    if isinstance(outliers, str | Path):
        path = Path(outliers)
        if not path.is_file():
            if path.suffix:
                raise InputError(f"{path}: there is no such file, nor a column of that name.")
            raise UnknownNameError("column", str(outliers), table.frame.columns)
        return _checked(_of_file(path), table), None
    given = np.asarray(outliers)
    if given.dtype == np.bool_ and given.shape == (table.frame.height,):
        return np.flatnonzero(given).astype(np.int64), None
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError(
            "Outliers are row numbers counted from 1, True and False for every row, the name of a "
            "column, or a file."
        )
    return _checked(given.astype(np.int64), table), None


def _of_column(name: str, table: Table) -> _Rows:
    numbers = as_numbers(table.frame[name])
    marks = None if numbers is None else numbers.to_numpy()
    if marks is None or not np.isin(marks, (0.0, 1.0)).all():
        raise InputError(
            f"Column {name!r} cannot mark outliers: its cells must be true and false, or 1 and 0, "
            "and none missing."
        )
    return np.flatnonzero(marks == 1.0).astype(np.int64)


def _of_file(path: Path) -> _Rows:
    try:
        words = re.split(r"[\s,;]+", path.read_text(encoding="utf-8-sig").strip())
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8.") from None
    if words and not words[0].isdecimal():  # a heading
        words = words[1:]
    if not words or not all(word.isdecimal() for word in words):
        raise InputError(f"{path}: row numbers are needed, one a line, counted from 1.")
    return np.array([int(word) for word in words], dtype=np.int64)


def _checked(rows: _Rows, table: Table) -> _Rows:
    n = table.frame.height
    if rows.size and not (rows.min() >= 1 and rows.max() <= n):
        raise InputError(f"Row numbers of outliers must be from 1 to {n}, as rows of data count.")
    return rows - 1
