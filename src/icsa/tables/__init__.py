"""Tables: files and data frames to typed columns and back; nothing statistical."""

from __future__ import annotations

from icsa.tables.frames import from_frame, to_frame
from icsa.tables.missing_letters import unwritten_reasons
from icsa.tables.reading import describe_layout, read_table
from icsa.tables.suffixes import default_output
from icsa.tables.table import Layout, Measurement, Table, Variable
from icsa.tables.writing import output_kind, write_table

__all__ = [
    "Layout",
    "Measurement",
    "Table",
    "Variable",
    "default_output",
    "describe_layout",
    "from_frame",
    "output_kind",
    "read_table",
    "to_frame",
    "unwritten_reasons",
    "write_table",
]
