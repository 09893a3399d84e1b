"""What comes out of a release by passes over files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from icsa.columns import Column
from icsa.release.blocks.block_cells import Cells
from icsa.release.releasing import Release

__all__ = ["MadeInBlocks"]


@dataclass(frozen=True, eq=False)
class MadeInBlocks:
    """A release whose cells are made block by block, and the account of it.

    Attributes
    ----------
    cells : Cells
    release : Release
        Its table has columns and no row.
    columns : mapping of str to Column
        Those that were masked, of rows.
    """

    cells: Cells
    release: Release
    columns: Mapping[str, Column]
