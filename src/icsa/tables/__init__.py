"""Tables: files and data frames to typed columns and back; nothing statistical."""

from __future__ import annotations

from icsa.tables.frames import from_frame, to_frame
from icsa.tables.registry import (
    FORMATS,
    default_output,
    describe_layout,
    file_kind,
    output_kind,
    output_options,
    read_table,
    unwritten_reasons,
    write_table,
)
from icsa.tables.table import Layout, Measurement, Origin, Table, Variable

__all__ = [
    "FORMATS",
    "Layout",
    "Measurement",
    "Origin",
    "Table",
    "Variable",
    "default_output",
    "describe_layout",
    "file_kind",
    "from_frame",
    "output_kind",
    "output_options",
    "read_table",
    "to_frame",
    "unwritten_reasons",
    "write_table",
]
