"""Assessments of tables that do not fit in memory.

Every column is read once and kept as numbers in scratch files. People who stand out, and the
released rows nearest to them, are looked for in blocks of rows, by the functions that are used in
memory: a `FeatureTable` whose columns are files gives them their blocks. Everything else is taken
from a fixed sample of rows. People with several rows become a row each in scratch first, and go the
same way; the sample is one of whole units then.
"""

from __future__ import annotations

from icsa.assessment.blocks.large_assessing import Wanted, assess_stored

__all__ = ["Wanted", "assess_stored"]
