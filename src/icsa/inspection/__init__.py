"""What each column of a table is, what will happen to it, and what to look at before a release.

`icsa.inspection.kinds` has the rules by which kinds are guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icsa.inspection.overview import (
    ColumnInspection,
    Inspection,
    guess_schema,
    inspect_table,
    type_in_words,
)

if TYPE_CHECKING:
    from icsa.inspection.related import relation_notes

__all__ = [
    "ColumnInspection",
    "Inspection",
    "guess_schema",
    "inspect_table",
    "relation_notes",
    "type_in_words",
]


def __getattr__(name: str) -> Any:
    if name != "relation_notes":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Only who asks for relations waits for the search to be loaded.
    from icsa.inspection.related import relation_notes

    return relation_notes
