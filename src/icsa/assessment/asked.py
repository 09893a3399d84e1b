"""Analyses that were asked for: which, whether they can be done at all, and what they gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from icsa.comparison.matching import Comparison
from icsa.errors import InputError, UnknownNameError
from icsa.utility.classification import (
    ClassificationTask,
    category_to_predict,
    classification_task,
)
from icsa.utility.clustering import ClusteringTask, clustering_task
from icsa.utility.models import Analysis
from icsa.utility.variable_selection import SelectionTask, numeric_response, selection_task

__all__ = ["Asked", "Failed", "Tasks", "check_asked", "run_tasks"]


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
    """

    models: tuple[str, ...] = ()
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    classify: tuple[str, ...] = ()
    clusters: int | None = None
    select: tuple[str, ...] = ()


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
    """Refuse columns that are not there or of another kind, before any work is done.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.comparison.matching import match_tables
    >>> from icsa.inspection import guess_schema
    >>> from icsa.tables import Table
    >>> table = Table(pl.DataFrame({"kg": [60.5, 71.5, 66.0], "age": [31.5, 40.25, 55.0]}))
    >>> comparison = match_tables(table, table, guess_schema(table))
    >>> check_asked(Asked(classify=("kgs",)), comparison)
    Traceback (most recent call last):
    icsa.errors.UnknownNameError: No column 'kgs'. Did you mean 'kg'? Known: age, kg.
    """
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
        raise UnknownNameError("column", name, columns)
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
