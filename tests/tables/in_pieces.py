"""Text files read as those are that do not fit: in pieces, into scratch, and typed by column."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

from icsa.files import require_not_empty, require_readable
from icsa.release.blocks import Passes, Scratch
from icsa.release.blocks.ground import Resources
from icsa.release.blocks.text_tables import TextTable
from icsa.tables import Table, file_kind
from icsa.tables.base import ReadingOptions
from icsa.tables.text_streams import look_through


def read_in_pieces(path: Path, folder: Path, *, n_bytes: int = 1 << 20, **options: Any) -> Table:
    """Return the table of a text file, whatever its size, all columns of which are stored."""
    kind, said = file_kind(path), ReadingOptions(**options)
    require_readable(path)
    require_not_empty(path)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    looked = look_through(path, compressed=kind.compressed, encoding=said.encoding)
    with patch.multiple("icsa.release.blocks.text_tables", _LEAST=n_bytes, _MOST=n_bytes):
        means = Resources(memory=1 << 40, scratch=folder)
        stored = TextTable(looked, kind, said).stored(Passes(Scratch(folder, 0)), means)
    frame = pl.DataFrame([stored.column(name).frame[name] for name in stored.names])
    assert dict(frame.schema) == dict(stored.dtypes)
    assert stored.n_rows == frame.height
    return Table(frame, stored.variables, stored.layout)
