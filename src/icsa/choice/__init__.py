"""Choice: candidates race for a table, beside what rivals would do; one is advised.

`compare` is public as `icsa.compare`. The folder of a race holds measures only, no cell.
"""

from __future__ import annotations

from icsa.choice.advice import Advice
from icsa.choice.candidates import Candidate
from icsa.choice.comparing import BUDGET, Compared, compare
from icsa.choice.standings import Standing
from icsa.choice.stored_choice import compare_stored

__all__ = ["BUDGET", "Advice", "Candidate", "Compared", "Standing", "compare", "compare_stored"]
