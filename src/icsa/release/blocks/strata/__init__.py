"""Strata of a table that does not fit in memory: each released for itself, as in memory.

Every column is read once and written stratum by stratum. Those that fit are released in memory,
many small ones in a task; others go through blocks, with scratch of their own. Their released cells
are put into one random order, column by column.
"""

from __future__ import annotations

from icsa.release.blocks.strata.strata_releasing import release_strata_in_blocks

__all__ = ["release_strata_in_blocks"]
