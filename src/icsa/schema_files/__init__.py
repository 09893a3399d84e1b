"""Schema files: TOML that says of every column what it is and what is to be done with it.

::

    version = 1
    keep = []                 # columns to release as they are
    rules = []                # such as "diagnosed <= died"
    unit = "id"               # where people have several rows; false where every row is a person
    time = "day"              # bound, role, weight and strata likewise: see icsa.schema.Design

    [recipe]                  # choices that differ from the recipe's

    [columns.age]
    kind = "integer"          # one of icsa.schema.KINDS
    action = "mask"           # mask, replace, drop or keep
    lower = 0                 # bounds; dates and times as TOML has them, durations in seconds
    upper = 120
    step = 1                  # in days for dates, in seconds for times
    levels = []               # of categories, or of an ordinal column in their order
    belongs_to = "row"        # or "unit": the same in all rows of one
    missing_codes = [999]     # values, or pairs of the lowest and the highest: [[900, 999]]

Files are taken at their word: an unknown key, kind, column or choice, a column without an entry, a
bound or a rule that cells break, are errors that name the file, the key and the nearest name.
"""

from __future__ import annotations

from icsa.schema_files.checks import check_schema
from icsa.schema_files.reading import read_schema
from icsa.schema_files.writing import schema_text

__all__ = ["check_schema", "read_schema", "schema_text"]
