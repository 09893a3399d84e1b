"""What each column of a table is, what will happen to it, and what to look at before a release.

`icsa.inspection.kinds` has the rules by which kinds are guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icsa.inspection.overview import (
    ColumnInspection,
    Inspection,
    guess_schema,
    inspect_table,
    type_in_words,
)
from icsa.lazily import imported_when_asked

if TYPE_CHECKING:
    from icsa.inspection.related import related_columns

__all__ = [
    "ColumnInspection",
    "Inspection",
    "guess_schema",
    "inspect_table",
    "related_columns",
    "type_in_words",
]

# Only who asks for relations waits for the search to be loaded.
__getattr__ = imported_when_asked(__name__, {"related_columns": "related"})
