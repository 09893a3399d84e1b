"""What others would do with a table, to be compared with. None of them is offered for a release.

Every rival reads and writes columns as releases do, so that types, identifiers, codes for missing
and lattices are right, and the comparison is one of methods.
"""

from __future__ import annotations

from icsa.rivals.registry import RIVALS, Rival, rival_release

__all__ = ["RIVALS", "Rival", "rival_release"]
