"""Kinds of columns: each turns its cells into numbers and scores, and masked scores into cells.

`fit_column` fits a column of any kind; the protocol is `Column`. Every kind has a file of its own.
"""

from __future__ import annotations

from icsa.columns.base import Column
from icsa.columns.registry import COLUMN_FITTERS, fit_column, storage_of
from icsa.columns.transforms import SCALES, Scale

__all__ = ["COLUMN_FITTERS", "SCALES", "Column", "Scale", "fit_column", "storage_of"]
