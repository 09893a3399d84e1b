"""Kinds of columns: each turns its cells into numbers and scores, and masked scores into cells.

`fit_column` fits a column of any kind; the protocol is `Column`. What others ask of a kind before
that is in its record, one of `KINDS`.
"""

from __future__ import annotations

from icsa.columns.base import Column, KindRecord
from icsa.columns.declared import ACTIONS, Action, ColumnSpec, Kind
from icsa.columns.registry import KINDS, fit_column, kind_of, storage_of

__all__ = [
    "ACTIONS",
    "KINDS",
    "Action",
    "Column",
    "ColumnSpec",
    "Kind",
    "KindRecord",
    "fit_column",
    "kind_of",
    "storage_of",
]
