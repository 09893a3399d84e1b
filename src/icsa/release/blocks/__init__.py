"""Releases of tables that do not fit in memory: the same cells, by passes over files.

Every step of a release is a sum over rows, a column by itself, or a row by itself. A task reads one
column, or a block of rows of all columns, calls the function that a release in memory calls, and
writes what comes out; `passes` runs tasks in this process, in others, or on a Dask cluster.
"""

from __future__ import annotations

from icsa.release.blocks.block_releasing import release_in_blocks
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import Scratch

__all__ = ["Ground", "MadeInBlocks", "Passes", "Scratch", "release_in_blocks"]
