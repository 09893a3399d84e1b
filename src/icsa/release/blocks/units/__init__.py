"""Several rows a person beyond memory: both levels by passes over files, the same cells.

One order of all rows, unit by unit, is found once and kept as a column; every column is read in
that order, so that nothing is sorted but cells of one column. What belongs to rows is worked on
column by column, or by leaves of whole units; what belongs to units is a table with a row a unit.
"""

from __future__ import annotations

from icsa.release.blocks.units.unit_releasing import release_units_in_blocks

__all__ = ["release_units_in_blocks"]
